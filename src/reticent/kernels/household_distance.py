# SPDX-License-Identifier: Apache-2.0
"""Which households are nearer to a household than its own: members are paired one to one at least total distance.

Distances of two members are those of `nearest`: squared differences of numbers, 0 or the weight in `nominal` for codes; a
missing coordinate of the asker adds nothing, one of the other adds `absent`. The search asks only whether anybody is as near
as its own household, so that the sum of row minima settles most pairs.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Mask
from reticent.kernels.nearest import TIE

LARGEST = 8
"""Members up to which pairing is exact (subsets, 2^size · size); larger households are compared by row minima."""


@njit(cache=True, nogil=True)
def _member_distance(query: Floats, point: Floats, nominal: Floats, absent: Floats) -> float:
    total = 0.0
    for column in range(query.size):
        value, other = query[column], point[column]
        if value != value:
            continue
        if other != other:
            total += absent[column]
        elif nominal[column]:
            total += 0.0 if value == other else 1.0 * nominal[column]
        else:
            total += (value - other) ** 2
    return total


@njit(cache=True, nogil=True)
def _paired(costs: Floats, size: int) -> float:
    """The least total cost of a one-to-one pairing; O(2^size · size)."""
    best = np.full(1 << size, np.inf)
    best[0] = 0.0
    for taken in range(1 << size):
        row = 0
        for bit in range(size):
            row += (taken >> bit) & 1
        if row == size:
            break
        for column in range(size):
            if not (taken >> column) & 1:
                more = taken | (1 << column)
                best[more] = min(best[more], best[taken] + costs[row, column])
    least: float = best[(1 << size) - 1]
    return least


@njit(cache=True, nogil=True)
def _distance(
    h: int, g: int, starts: Ints, queries: Floats, points: Floats, nominal: Floats, absent: Floats, limit: float
) -> float:
    """Distance of households h (asker) and g, of the same size; above the limit a lower bound is enough."""
    a, b = starts[h], starts[g]
    size = starts[h + 1] - a
    costs = np.empty((size, size))
    lower = 0.0
    for i in range(size):
        least = np.inf
        for j in range(size):
            costs[i, j] = _member_distance(queries[a + i], points[b + j], nominal, absent)
            least = min(least, costs[i, j])
        lower += least
        if lower > limit:
            return lower
    if size == 1 or size > LARGEST:
        return lower
    exact: float = _paired(costs, size)
    return exact


@njit(cache=True, nogil=True)
def nearest_to_own(
    asking: Ints,
    first: Ints,
    last: Ints,
    peers: Ints,
    starts: Ints,
    queries: Floats,
    points: Floats,
    nominal: Floats,
    absent: Floats,
) -> Mask:
    """Whether its own household of each asker is nearest and no other of its size (peers first to last) is as near."""
    linked = np.ones(asking.size, dtype=np.bool_)
    for at in range(asking.size):
        h = asking[at]
        limit = _distance(h, h, starts, queries, points, nominal, absent, np.inf) * (1.0 + TIE)
        for place in range(first[at], last[at]):
            g = peers[place]
            if g != h and _distance(h, g, starts, queries, points, nominal, absent, limit) <= limit:
                linked[at] = False
                break
    return linked
