# SPDX-License-Identifier: Apache-2.0
"""What a format of published tables is: a name, an ending, what it makes of a table. The registry is `io/table_formats.py`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reticent.data.published_table import PublishedTable
from reticent.frames.marks import Marks

TableContent = str | Callable[[Path], None]
"""A text, or a function that writes a file at the place it is given."""


@dataclass(frozen=True)
class TableFormat:
    """A format in which published tables are written: by the ending of the file, longest first."""

    name: str
    about: str
    ending: str
    make: Callable[[PublishedTable, Marks], TableContent]
