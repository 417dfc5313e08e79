# SPDX-License-Identifier: Apache-2.0
"""Groups that many tables divide, each in its own way: few people can be divided in few ways only.

The same records are published alike, so that divisions of a group that are published differently are different ones. Two people
can be divided in one way, three in four, and as many as three in three ways into two and one: whoever sees more ways knows
that the group is larger.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.data.relations import Relations
from reticent.tables.attack.noise_intervals import Narrowed, narrowed
from reticent.tables.perturb.origins import Origins

LARGEST = 8
"""Larger groups can be divided in more ways than tables show."""
MOST_PARTS = 12
MOST_GROUPS = 5_000
"""This many groups are looked at, the smallest first."""


def narrowed_by_splits(relations: Relations, origins: Origins, found: Narrowed) -> Narrowed:
    """The intervals where each group is large enough for all the ways in which it is divided."""
    if origins.alike is None:
        return found
    divisions = _divisions(relations, origins, origins.alike, found)
    while True:
        low = found.low.copy()
        for group, ways in divisions.items():
            if found.low[group] < min(found.high[group], LARGEST + 1):
                low[group] = _least(group, ways, origins, found)
        if np.array_equal(low, found.low):
            return found
        found = narrowed(relations, origins, low, found.high)


def _divisions(relations: Relations, origins: Origins, alike: Ints, found: Narrowed) -> dict[int, list[Ints]]:
    """The parts of each group by every way of dividing it that is published differently, itself as a whole left out."""
    labels = np.where(origins.allows(np.zeros(relations.n_cells)), 0, 1 + alike)
    different = {}
    for group, divisions in divided_groups(relations, alike, found).items():
        ways = {tuple(sorted(label for label in labels[parts].tolist() if label)): parts for parts in divisions}
        ways.pop((labels[group],) if labels[group] else (), None)
        different[group] = list(ways.values())
    return different


def divided_groups(relations: Relations, alike: Ints, found: Narrowed) -> dict[int, list[Ints]]:
    """The parts of each small group by every relation that divides it; all of them have noise."""
    by_group: dict[int, list[Ints]] = defaultdict(list)
    for row, group in zip(*(each.tolist() for each in _rows(relations, alike, found)), strict=True):
        cells, coefs = relations.row(row)
        by_group[group].append(cells[coefs == 1].astype(np.int64))
    return by_group


def _rows(relations: Relations, alike: Ints, found: Narrowed) -> tuple[Ints, Ints]:
    """Relations that divide a small group of which all parts have noise, and the group of each."""
    lengths = np.diff(relations.indptr)
    row_of = np.repeat(np.arange(relations.n_rows), lengths)

    def times(mark: Mask) -> Ints:
        return np.bincount(row_of[mark], minlength=relations.n_rows)

    group = np.zeros(relations.n_rows, dtype=np.int64)
    totals = relations.coefs == -1
    group[row_of[totals]] = relations.cells[totals]
    known = (times(totals) == 1) & (times(relations.coefs == 1) == lengths - 1) & (relations.rhs == 0)
    known &= (lengths >= 3) & (lengths <= MOST_PARTS + 1) & (times(alike[relations.cells] < 0) == 0)
    known &= (found.low[group] <= LARGEST) & (found.low[group] < found.high[group])
    often = np.bincount(group[known], minlength=relations.n_cells)
    rows = np.flatnonzero(known & ((often[group] > 1) | (found.low[group] <= 1)))  # one way says that there are two
    smallest = np.unique(group[rows])
    smallest = smallest[np.argsort(found.low[smallest], kind="stable")][:MOST_GROUPS]
    rows = rows[np.isin(group[rows], smallest)]
    return rows, group[rows]


def _least(group: int, ways: Sequence[Ints], origins: Origins, found: Narrowed) -> float:
    """The least number of people that can be divided in all these ways."""
    first = max(int(found.low[group]), 0)
    for size in range(first, min(int(min(found.high[group], LARGEST)), LARGEST) + 1):
        shapes = [shape for shape in _shapes(size, size) if len(shape) > 1]
        places = [_how_often(shape) for shape in shapes]
        choices = [[at for at, shape in enumerate(shapes) if _fits(shape, parts, origins, found)] for parts in ways]
        if _all_placed(choices, places):
            return float(size)
    return float(min(found.high[group], LARGEST + 1))


def _shapes(size: int, most: int) -> Iterator[tuple[int, ...]]:
    """The ways to write a number as a sum of falling numbers, none above `most`."""
    if size == 0:
        yield ()
    for first in range(min(size, most), 0, -1):
        for rest in _shapes(size - first, first):
            yield (first, *rest)


def _how_often(shape: tuple[int, ...]) -> int:
    """In how many ways people are divided into parts of these sizes.

    >>> _how_often((2, 1)), _how_often((2, 2)), _how_often((1, 1))
    (3, 3, 1)
    """
    ways = math.factorial(sum(shape))
    for size in shape:
        ways //= math.factorial(size)
    for size in set(shape):
        ways //= math.factorial(shape.count(size))
    return ways


def _fits(shape: tuple[int, ...], parts: Ints, origins: Origins, found: Narrowed) -> bool:
    """Whether the parts may have these sizes, in some order, the others being empty."""
    if len(shape) > len(parts):
        return False
    sizes = (*shape, *(0 for _ in range(len(parts) - len(shape))))
    own = origins.of(parts)
    may_be = {
        size: own.allows(np.full(len(parts), float(size))) & (found.low[parts] <= size) & (size <= found.high[parts])
        for size in set(sizes)
    }
    return _all_placed([np.flatnonzero(may_be[size]).tolist() for size in sizes], [1] * len(parts))


def _all_placed(choices: Sequence[Sequence[int]], places: Sequence[int]) -> bool:
    """Whether everyone gets one of their choices, where each has so many places (by augmenting paths)."""
    taken: list[list[int]] = [[] for _ in places]

    def placed(one: int, seen: set[int]) -> bool:
        for at in choices[one]:
            if at in seen:
                continue
            seen.add(at)
            if len(taken[at]) < places[at]:
                taken[at].append(one)
                return True
            for number, other in enumerate(taken[at]):
                if placed(other, seen):
                    taken[at][number] = one
                    return True
        return False

    return all(placed(one, set()) for one in range(len(choices)))
