# SPDX-License-Identifier: Apache-2.0
"""Responses tied by an equation: a total and its parts, an amount in two currencies, pay as a public base and a bonus.

Ties are linear, with a constant; public numbers (numeric filters) may take part. They may hold exactly or up to the rounding
of their variables, over all records or for each code of a filter apart (a rate of exchange for each country). Each set
of variables is tried on the records that have all of it. Finding one that is chance only makes an audit stricter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats

Groups = Sequence[NDArray[np.int32]]
EXACTLY, NEARLY, LOOSE = 1e-9, 1e-3, 1e-4
MOST_GROUPS = 2_000
MOST_DECIMALS, MOST_ZEROS = 6, 9
MOST_PATTERNS = 6
WHOLE = 2.0**53
MANY_RESPONSES = 8
MORE = 3
"""By how many different points an equation must be confirmed beyond those that always satisfy it."""


@dataclass(frozen=True)
class _Table:
    """Columns scaled to sizes of at most 1, the units they are rounded to, and the number of those that are responses."""

    values: Floats
    units: Floats
    n_responses: int

    @classmethod
    def of(cls, responses: Floats, public: Floats) -> "_Table":
        values = np.hstack((responses, public))
        with np.errstate(over="ignore"):
            units = np.array([unit_of(column[~np.isnan(column)]) for column in values.T])
        size = np.nanmax(np.abs(values), axis=0, initial=0.0)
        size[size == 0] = 1.0
        return cls(values / size, units / size, responses.shape[1])  # so that squares neither overflow nor vanish

    def complete(self, chosen: tuple[int, ...]) -> NDArray[np.int64]:
        """The records that have all of some columns."""
        return np.flatnonzero(~np.isnan(self.values[:, chosen]).any(axis=1))

    def tied(self, chosen: tuple[int, ...], rows: NDArray[np.int64], *, fewest: int) -> Iterator[tuple[int, ...]]:
        """Two or more responses among the columns that are tied over some records."""
        columns = np.array(chosen)
        for found in _dependent(self.values[np.ix_(rows, columns)], self.units[columns], fewest=fewest):
            responses = tuple(chosen[i] for i in found if chosen[i] < self.n_responses)
            if len(responses) > 1:
                yield responses


def ties_of(responses: Floats, groups: Groups, public: Floats | None = None) -> list[tuple[int, ...]]:
    """Sets of responses tied by a linear equation over the records that have them, or those of a group."""
    table = _Table.of(responses, np.empty((len(responses), 0)) if public is None else public)
    found: dict[tuple[int, ...], None] = {}
    wide = _wide_sets(table)
    for chosen in dict.fromkeys((*wide, *_narrow_sets(table))):
        rows = table.complete(chosen)
        found.update(dict.fromkeys(table.tied(chosen, rows, fewest=len(chosen) + 2)))
        for group in groups if chosen in wide else ():
            fewest = 3 * len(chosen)
            for part in _parts(group, rows, fewest):
                found.update(dict.fromkeys(table.tied(chosen, part, fewest=fewest)))
    for pair in combinations(range(table.n_responses), 2):
        rows = table.complete(pair)
        for group in groups:
            if pair not in found and _tied_by_code(table, pair, rows, group):
                found[pair] = None
    return list(found)


def _wide_sets(table: _Table) -> list[tuple[int, ...]]:
    """All columns, without those that most records lack one by one, and what the records of each kind have."""
    n, width = table.n_responses, table.values.shape[1]
    public = tuple(range(n, width))
    there = ~np.isnan(table.values[:, :n])
    _, first, counts = np.unique(_numbered(there), return_index=True, return_counts=True)
    own = [np.flatnonzero(there[row]) for row in first[np.argsort(-counts, kind="stable")][:MOST_PATTERNS]]
    often = np.argsort(-there.sum(axis=0), kind="stable")
    own += [np.sort(often[:k]) for k in range(n, 1, -1)]
    sets = [tuple(int(i) for i in one) for one in own if len(one) > 1]
    return list(dict.fromkeys((*sets, *((*one, *public) for one in sets))))


def _numbered(there: NDArray[np.bool_]) -> NDArray[np.int64]:
    """A number for each record that is the same for records with values in the same columns."""
    number = np.zeros(len(there), dtype=np.int64)
    for column in there.T:
        number = np.unique(2 * number + column, return_inverse=True)[1].reshape(-1)
    return number


def _narrow_sets(table: _Table) -> Iterator[tuple[int, ...]]:
    """Two responses, alone and with public numbers, and three if the responses are not many."""
    n, width = table.n_responses, table.values.shape[1]
    for pair in combinations(range(n), 2):
        yield pair
        yield from ((*pair, number) for number in range(n, width))
        yield (*pair, *range(n, width))
    if n <= MANY_RESPONSES:
        yield from combinations(range(n), 3)


def _parts(group: NDArray[np.int32], rows: NDArray[np.int64], fewest: int) -> list[NDArray[np.int64]]:
    """The records of each code that has enough of them."""
    order = rows[np.argsort(group[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(group[order])) + 1
    return [part for part in np.split(order, starts) if len(part) >= fewest][:MOST_GROUPS]


def _tied_by_code(table: _Table, pair: tuple[int, int], rows: NDArray[np.int64], group: NDArray[np.int32]) -> bool:
    """Whether each code of a filter has its own straight line, or one with enough different records has."""
    _, code, counts = np.unique(group[rows], return_inverse=True, return_counts=True)
    if not len(rows):
        return False
    x, y = (table.values[rows, i] for i in pair)
    x, y = (v - (np.bincount(code, v) / counts)[code] for v in (x, y))
    xx, yy, xy = (np.bincount(code, product) for product in (x * x, y * y, x * y))
    moving = (xx > 0) & (yy > 0)
    slope = np.divide(xy, xx, out=np.zeros(len(counts)), where=moving)
    left = np.abs(y - slope[code] * x)
    unit_x, unit_y = table.units[list(pair)]
    allowed = unit_y + np.abs(slope) * unit_x + EXACTLY * np.sqrt(yy / counts)
    worst = np.zeros(len(counts))
    np.maximum.at(worst, code, left)
    line = moving & (worst <= allowed) & (xx * yy - xy**2 <= NEARLY * xx * yy)
    if not bool(line.any()):
        return False
    kept = rows[line[code]]
    points = np.unique(np.column_stack((group[kept], table.values[np.ix_(kept, list(pair))])), axis=0)
    _, different = np.unique(points[:, 0], return_counts=True)
    if bool((different >= 2 + MORE).any()):
        return True
    return bool(line[moving & (counts > 2)].all()) and int((different - 2).clip(min=0).sum()) >= MORE


def unit_of(column: Floats) -> float:
    """The power of ten that the values are rounded to."""
    for decimals in range(-MOST_ZEROS, MOST_DECIMALS + 1):
        if decimals == 1:
            column = column[np.abs(column) < WHOLE]  # larger ones have no decimals
        if bool((np.round(column, decimals) == column).all()):
            return float(10.0**-decimals)
    return 0.0


def _dependent(values: Floats, units: Floats, *, fewest: int) -> Iterator[tuple[int, ...]]:
    if len(values) < fewest:
        return
    centred = values - values.mean(axis=0)
    spread = np.sqrt((centred**2).mean(axis=0))
    moving = np.flatnonzero(spread > 0)
    if len(moving) < 2:
        return
    unit = centred[:, moving] / spread[moving]
    sizes, vectors = np.linalg.eigh(unit.T @ unit / len(unit))
    for k in np.flatnonzero(sizes < NEARLY):
        chosen = np.abs(vectors[:, k]) > LOOSE
        tied = moving[chosen]
        if len(tied) < 2 or not _many_points(values[:, tied]):
            continue
        factors = vectors[chosen, k] / spread[tied]
        left = centred[:, tied] @ factors
        rounding = float((np.abs(factors) * units[tied]).sum())
        if sizes[k] < EXACTLY or float(np.ptp(left)) <= rounding * (1 + EXACTLY):
            yield tuple(int(i) for i in tied)


def _many_points(values: Floats) -> bool:
    """Whether an equation is more than what a few points always satisfy."""
    return bool(len(np.unique(values, axis=0)) >= values.shape[1] + MORE)
