# SPDX-License-Identifier: Apache-2.0
"""A proven lower bound of the cost of any k-partition, by Lagrangian relaxation of "who is with me, I am with".

With y(i, j) = 1/s for members of a group of s, the cost is ½ Σ y(i, j) d²(i, j). If every record may choose its own s and
its own s − 1 companions, the cost can only fall; prices a(i, j) = −a(j, i) on the pairs make choices that are not mutual
expensive, and every choice of prices gives a valid bound.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints


@njit(cache=True, nogil=True)
def _smallest(values: Floats, edges: Ints, count: int, value: float, edge: int, most: int) -> int:
    """Insert into the ascending list of at most `most` values; returns its new length."""
    if count == most and value >= values[most - 1]:
        return count
    at = count if count < most else most - 1
    while at > 0 and values[at - 1] > value:
        values[at], edges[at] = values[at - 1], edges[at - 1]
        at -= 1
    values[at], edges[at] = value, edge
    return count + 1 if count < most else count


@njit(cache=True, nogil=True)
def relaxed_cost(
    starts: Ints, squares: Floats, prices: Floats, reach: Floats, k: int, chosen: Floats
) -> float:  # fmt: skip
    """Cost when every record chooses alone, at given prices; `chosen` gets 1/(2s) for every chosen directed pair.

    Pairs of record i are starts[i] … starts[i + 1] − 1; all others are at least `reach[i]` away and carry no price.
    """
    most = 2 * k - 2
    values = np.empty(most)
    edges = np.empty(most, np.int64)
    total = 0.0
    chosen[:] = 0.0
    for i in range(starts.size - 1):
        count = 0
        for e in range(starts[i], starts[i + 1]):
            count = _smallest(values, edges, count, squares[e] + prices[e], e, most)
        while count < most or values[most - 1] > reach[i]:
            before = count
            count = _smallest(values, edges, count, reach[i], -1, most)
            if count == before and values[most - 1] <= reach[i]:
                break
        running = 0.0
        best, size = np.inf, k
        for s in range(2, 2 * k):
            running += values[s - 2]
            if s >= k and running / (2 * s) < best:
                best, size = running / (2 * s), s
        total += best
        for at in range(size - 1):
            if edges[at] >= 0:
                chosen[edges[at]] = 1.0 / (2 * size)
    return total


@njit(cache=True, nogil=True)
def raise_bound(starts: Ints, squares: Floats, back: Ints, reach: Floats, k: int, upper: float, rounds: int) -> float:
    """Best bound over `rounds` steps of subgradient ascent on the prices (Polyak's step, towards the cost `upper`).

    `back[e]` is the position of the pair the other way round. O(rounds · pairs · k).
    """
    prices = np.zeros(squares.size)
    chosen = np.zeros(squares.size)
    best = -1.0
    share, still = 1.0, 0
    for _ in range(rounds):
        value = relaxed_cost(starts, squares, prices, reach, k, chosen)
        if best < 0.0 or value > best * (1.0 + 1e-7):
            best, still = value, 0
        else:
            still += 1
            if still >= 25:
                share, still = share / 2, 0
        length = 0.0
        for e in range(squares.size):
            if e < back[e]:
                length += (chosen[e] - chosen[back[e]]) ** 2
        if length <= 0.0 or share < 1e-4:
            break
        step = share * (upper - value) / length
        for e in range(squares.size):
            if e < back[e]:
                prices[e] += step * (chosen[e] - chosen[back[e]])
                prices[back[e]] = -prices[e]
    return best
