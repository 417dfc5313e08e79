# SPDX-License-Identifier: Apache-2.0
"""Granularity: how many cells of a hyper-row hold a single respondent, and in which of four patterns.

Index = unit cells / non-empty cells; from 50 % on a row is unsafe. Labels may overlap: *proportional* (index reached),
*odd* (single respondents where the expected distribution has clearly more), *dispersed* (a single respondent between
two well filled neighbours); *normal* where none applies. Source: EUSTAT handbook, chapter on tabular data.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import ParameterError
from reticent.data.table import Table

LIMIT = 0.5
RARE = 0.05
FILLED = 5


@dataclass(frozen=True)
class Granularity:
    """Index and patterns of one hyper-row."""

    index: float
    labels: tuple[str, ...]
    unsafe: bool
    row: tuple[str, ...] = ()


def granularity(
    counts: Sequence[int], *, expected: Sequence[float] | None = None, limit: float = LIMIT, row: tuple[str, ...] = ()
) -> Granularity:
    """Index and patterns of a row of counts; `expected` is the distribution that such a row should have.

    >>> granularity([1, 30, 18, 9, 2]).labels
    ('normal',)
    >>> granularity([1, 30, 1, 9, 1]).labels
    ('proportional', 'dispersed')
    """
    row_counts = np.asarray(counts, dtype=np.int64)
    if (row_counts < 0).any():
        raise ParameterError("granularity: counts must not be negative.")
    filled = int((row_counts > 0).sum())
    index = int((row_counts == 1).sum()) / filled if filled else 0.0
    labels = []
    if index >= limit:
        labels.append("proportional")
    if expected is not None and _is_odd(row_counts, np.asarray(expected, dtype=np.float64)):
        labels.append("odd")
    if _is_dispersed(row_counts):
        labels.append("dispersed")
    return Granularity(index, tuple(labels) or ("normal",), index >= limit, row)


def _is_odd(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> bool:
    """Some cell of at most one respondent would have clearly more if the row followed the expected distribution."""
    if len(expected) != len(counts):
        raise ParameterError("granularity: expected must have one share for each cell of the row.")
    if expected.sum() <= 0:
        return False
    mean = counts.sum() * expected / expected.sum()
    return any(math.exp(-m) * (1 + m) < RARE for m, count in zip(mean, counts, strict=True) if count == 1)


def _is_dispersed(counts: NDArray[np.int64]) -> bool:
    """Some single respondent stands between two well filled cells."""
    return any(
        counts[at] == 1 and counts[at - 1] >= FILLED and counts[at + 1] >= FILLED for at in range(1, len(counts) - 1)
    )


def table_granularity(table: Table, *, limit: float = LIMIT) -> tuple[Granularity, ...]:
    """Every hyper-row of a table: all dimensions but one fixed, the leaves of that one in their order.

    What is expected of a row is the distribution of the other rows that fix the same dimensions.
    """
    found: list[Granularity] = []
    for free, dimension in enumerate(table.dimensions):
        leaves = np.flatnonzero(dimension.is_leaf & (np.arange(len(dimension)) != dimension.missing))
        place = np.full(len(dimension), -1, dtype=np.int64)
        place[leaves] = np.arange(len(leaves))
        inner = place[table.codes[:, free]] >= 0
        others = [at for at in range(len(table.dimensions)) if at != free]
        rows, number = np.unique(table.codes[inner][:, others], axis=0, return_inverse=True)
        counts = np.zeros((len(rows), len(leaves)), dtype=np.int64)
        counts[number.ravel(), place[table.codes[inner, free]]] = table.respondents.counts[inner]
        bottom = np.ones(len(rows), dtype=bool)
        for column, at in enumerate(others):
            bottom &= table.dimensions[at].is_leaf[rows[:, column]]
        whole = counts[bottom].sum(axis=0)
        for row, line in enumerate(counts):
            rest = whole - line if bottom[row] else whole
            names = tuple(table.dimensions[at].codes[int(rows[row, c])] for c, at in enumerate(others))
            found.append(granularity(line.tolist(), expected=rest.tolist(), limit=limit, row=names))
    return tuple(found)
