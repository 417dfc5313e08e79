# SPDX-License-Identifier: Apache-2.0
"""What a cell is to its table."""

from enum import IntEnum


class CellStatus(IntEnum):
    """Status of a cell: the rules make PRIMARY, a method makes SECONDARY, FROZEN may never be hidden."""

    SAFE = 0
    PRIMARY = 1
    SECONDARY = 2
    FROZEN = 3
    EMPTY = 4
