# SPDX-License-Identifier: Apache-2.0
"""Codes that go together in part: of two variables some codes lie within codes of the other, so the part is at most the whole.

A district lies in one region though another lies in two, and people without a district live in some region. Whoever knows which
codes occur together knows that people with some codes of one variable have some codes of the other, and are no more than those.
Of two variables nothing else follows beyond the sums of classes (`codings.py`): numbers that keep all these limits, and the sums,
are those of some people.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.base.arrays import Ints, Mask

MOST_TRIED = 10
"""Of a class with more codes on both sides than this, only some sets are looked at: single codes, with those that lie within the
same, and codes that a single combination ties to the rest (bands of ages beside other bands: all up to one age).
"""


@dataclass(frozen=True)
class Limit:
    """Codes of one variable, by their numbers, whose people all have some codes of the other.

    Those that lie within others are of the first variable, or where it is `turned` of the second.
    """

    within: tuple[int, ...]
    of: tuple[int, ...]
    turned: bool = field(default=False)


def limits_of(pairs: Ints, sizes: tuple[int, int]) -> Iterator[Limit]:
    """The limits that follow from pairs of codes that occur, beyond the sums of classes; none follows from others of them.

    >>> sorted((limit.within, limit.of) for limit in limits_of(np.array([(0, 0), (1, 0), (1, 1), (2, 1)]), (3, 2)))
    [((0,), (0,)), ((2,), (1,))]
    """
    n = sizes[0] + sizes[1]
    ends = (pairs[:, 0], sizes[0] + pairs[:, 1])
    graph = sparse.coo_array((np.ones(len(pairs)), ends), shape=(n, n))
    label = np.asarray(connected_components(graph, directed=False)[1])
    order = np.argsort(label[pairs[:, 0]], kind="stable")
    edges = np.flatnonzero(np.diff(label[pairs[order, 0]])) + 1
    for own in np.split(pairs[order], edges):
        left, right = np.unique(own[:, 0]), np.unique(own[:, 1])
        if min(len(left), len(right)) < 2 or len(own) == len(left) * len(right):
            continue  # a class with one code on a side is its sum, and one in which all goes with all says nothing
        table = np.zeros((len(left), len(right)), dtype=bool)
        table[np.searchsorted(left, own[:, 0]), np.searchsorted(right, own[:, 1])] = True
        yield from _of_class(table, left, right)


def _of_class(table: Mask, left: Ints, right: Ints) -> Iterator[Limit]:
    """The limits of one class; with few codes on a side those of all sets of them, else those of single codes on both."""
    turned = len(right) < len(left)
    sides = [(table.T, right, left, True), (table, left, right, False)]
    if min(len(left), len(right)) <= MOST_TRIED:
        sides = sides[:1] if turned else sides[1:]
    for own, mine, its, way in sides:
        for inside, around in _sets(own):
            if 2 * int(inside.sum() + around.sum()) > len(mine) + len(its):  # what is left says the same in fewer codes
                yield Limit(tuple(its[~around].tolist()), tuple(mine[~inside].tolist()), not way)
            else:
                yield Limit(tuple(mine[inside].tolist()), tuple(its[around].tolist()), way)
    if min(len(left), len(right)) > MOST_TRIED:
        yield from _tied_once(table, left, right)


def _sets(table: Mask) -> Iterator[tuple[Mask, Mask]]:
    """Codes, and all codes of the other variable that occur with them, where that is no sum of two such limits."""
    n = len(table)
    few = range(1, n) if n <= MOST_TRIED else (1,)
    seen: set[bytes] = set()
    for size in few:
        for chosen in combinations(range(n), size):
            around = np.asarray(table[list(chosen)].any(axis=0))
            inside = np.asarray(~table[:, ~around].any(axis=1))  # all codes that occur with nothing else
            if around.all() or inside.tobytes() in seen:
                continue
            seen.add(inside.tobytes())
            if n > MOST_TRIED or (_connected(table[inside][:, around]) and _connected(table[~inside][:, ~around])):
                yield inside, around


def _tied_once(table: Mask, left: Ints, right: Ints) -> Iterator[Limit]:
    """The limits that leave a single combination of codes, without which a class would fall in two."""
    codes = np.concatenate((left, right))
    for side, above in _halves(table):
        turned = bool(above >= len(left))  # the code that is tied to the other half lies around those of its own
        inside = np.zeros(len(codes), dtype=bool)
        inside[side] = True
        if 2 * len(side) > len(codes):
            inside, turned = ~inside, not turned
        own = codes[: len(left)][inside[: len(left)]], codes[len(left) :][inside[len(left) :]]
        if len(own[turned]):
            yield Limit(tuple(own[turned].tolist()), tuple(own[not turned].tolist()), turned)


def _halves(table: Mask) -> Iterator[tuple[Ints, int]]:
    """The codes of each part that hangs on the rest by one combination alone, and the code of the rest that it hangs on.

    Codes are numbered in the order in which they are reached, each with the first that it or those behind it lead back to.
    """
    n = len(table)
    near = [n + np.flatnonzero(row) for row in table] + [np.flatnonzero(row) for row in table.T]
    order, place, first = [0], np.full(sum(table.shape), -1), np.zeros(sum(table.shape), dtype=np.int64)
    place[0] = 0
    path = [(0, -1, iter(near[0].tolist()))]
    while path:
        code, above, further = path[-1]
        following = next(further, None)
        if following is None:
            path.pop()
            if above >= 0:
                first[above] = min(first[above], first[code])
                if first[code] == place[code]:
                    yield np.array(order[place[code] :]), above
        elif place[following] < 0:
            place[following] = first[following] = len(order)
            order.append(following)
            path.append((following, code, iter(near[following].tolist())))
        elif following != above:
            first[code] = min(first[code], place[following])


def _connected(table: Mask) -> bool:
    """Whether codes hang together by what occurs."""
    rows, columns = table.shape
    here, there = np.nonzero(table)
    graph = sparse.coo_array((np.ones(len(here)), (here, rows + there)), shape=(rows + columns, rows + columns))
    return int(connected_components(graph, directed=False)[0]) == 1
