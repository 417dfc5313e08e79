# SPDX-License-Identifier: Apache-2.0
"""Rows with weights, and what is left of them without multiples of other rows."""

from collections.abc import Iterator, Sequence

import numpy as np

from reticent.base.arrays import Ints
from reticent.releases.rows import LinearRow


def has_weights(row: Ints) -> bool:
    """Whether a row is more than a plain sum or a difference of two."""
    return int(np.abs(row).max(initial=0)) > 1


def differences(row: Ints, near: Sequence[Ints]) -> Iterator[Ints]:
    """A row less each of some others, and those with weights less a plain one; the first is about the row."""
    yield from (_apart(row, own) for own in near)
    plain = next((own for own in near if not has_weights(own)), None)
    if plain is not None and has_weights(row):
        yield from (_apart(own, plain) for own in near if has_weights(own))


def _apart(row: Ints, other: Ints) -> Ints:
    """The difference of two rows: of one with weights and as many of the other as most weights there are."""
    heavy, light = (row, other) if has_weights(row) or not has_weights(other) else (other, row)
    times = 1 if has_weights(light) else max(int(np.median(heavy[light != 0])), 1)
    return np.asarray(heavy - times * light)


def row_of(coefficients: Ints) -> LinearRow:
    """The row that has some coefficients."""
    levels = np.unique(coefficients[coefficients != 0]).tolist()
    return LinearRow(tuple((int(level), np.asarray(coefficients == level, dtype=bool)) for level in levels))
