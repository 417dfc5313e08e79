# SPDX-License-Identifier: Apache-2.0
"""Exact re-partition of a few neighbouring groups: all their records are freed and put together again at least cost.

The within sum of squares of a set is (sum of its squared pair distances) / size, so a table over all subsets of a pool
of m records prices every possible group; a shortest path over subsets then gives the best partition of the pool.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints
from reticent.kernels.improve import Groups, _enter, _leave

MOST_IN_POOL = 12
"""Largest pool that is cut into any number of groups: 3^12 steps."""
MOST_IN_PAIR = 18
"""Largest pool that can only be one or two groups: 2^18 steps."""
NEIGHBOURS = 6
"""How many neighbouring groups are tried around each group."""


@njit(cache=True, nogil=True)
def _subset_costs(squares: Floats, k: int) -> Floats:
    """Cost of every subset of a pool as one group; infinite where its size is not k … 2k − 1. O(2^m·m)."""
    m = squares.shape[0]
    pairs = np.zeros(1 << m)
    cost = np.full(1 << m, np.inf)
    for mask in range(1, 1 << m):
        low = 0
        while not mask >> low & 1:
            low += 1
        rest = mask ^ (1 << low)
        total = pairs[rest]
        size = 1
        for j in range(low + 1, m):
            if mask >> j & 1:
                total += squares[low, j]
                size += 1
        pairs[mask] = total
        if k <= size < 2 * k:
            cost[mask] = total / size
    return cost


@njit(cache=True, nogil=True)
def best_partition(squares: Floats, k: int) -> tuple[Ints, float]:
    """Group numbers and cost of the cheapest partition of a pool, given its squared distances (m, m).

    Every group has k to 2k − 1 records. O(3^m) in general, O(2^m·m) when m < 3k (then at most two groups).
    """
    m = squares.shape[0]
    cost = _subset_costs(squares, k)
    full = (1 << m) - 1
    best = np.full(1 << m, np.inf)
    first = np.zeros(1 << m, np.int64)
    best[0] = 0.0
    for mask in range(1, full + 1):
        if m < 3 * k:
            best[mask], first[mask] = cost[mask], mask
            if mask != full:
                continue
        low = mask & -mask
        rest = mask ^ low
        part = rest
        while True:
            group = part | low
            if cost[group] < np.inf and cost[group] + best[mask ^ group] < best[mask]:
                best[mask], first[mask] = cost[group] + best[mask ^ group], group
            if part == 0:
                break
            part = (part - 1) & rest
    labels = np.zeros(m, np.int64)
    number, mask = 0, full
    while mask:
        for j in range(m):
            if first[mask] >> j & 1:
                labels[j] = number
        mask ^= first[mask]
        number += 1
    return labels, best[full]


@njit(cache=True, nogil=True)
def _neighbours(near: Ints, labels: Ints, members: Ints, sizes: Ints, sums: Floats, a: int) -> Ints:
    """Up to NEIGHBOURS groups that hold near records of a's members, nearest mean first."""
    found = np.full(NEIGHBOURS, -1, np.int64)
    distance = np.full(NEIGHBOURS, np.inf)
    for at in range(sizes[a]):
        i = members[a, at]
        for c in range(near.shape[1]):
            b = labels[near[i, c]]
            if b == a or np.any(found == b):
                continue
            total = 0.0
            for v in range(sums.shape[1]):
                diff = sums[a, v] / sizes[a] - sums[b, v] / sizes[b]
                total += diff * diff
            if total >= distance[NEIGHBOURS - 1]:
                continue
            place = NEIGHBOURS - 1
            while place > 0 and distance[place - 1] > total:
                distance[place], found[place] = distance[place - 1], found[place - 1]
                place -= 1
            distance[place], found[place] = total, b
    return found


@njit(cache=True, nogil=True)
def _pool_squares(x: Floats, pool: Ints) -> Floats:
    """Squared distances among the records of a pool."""
    m = pool.size
    squares = np.zeros((m, m))
    for p in range(m):
        for q in range(p + 1, m):
            total = 0.0
            for c in range(x.shape[1]):
                diff = x[pool[p], c] - x[pool[q], c]
                total += diff * diff
            squares[p, q] = squares[q, p] = total
    return squares


@njit(cache=True, nogil=True)
def _reform(x: Floats, pool: Ints, chosen: Ints, k: int, groups: Groups) -> float:
    """Free the chosen groups' records and group them again if that is cheaper; returns the change."""
    labels, place, members, sizes, sums, free = groups
    squares = _pool_squares(x, pool)
    now = 0.0
    for p in range(pool.size):
        for q in range(p + 1, pool.size):
            if labels[pool[p]] == labels[pool[q]]:
                now += squares[p, q] / sizes[labels[pool[p]]]
    parts, cost = best_partition(squares, k)
    if not cost < now * (1.0 - 1e-12) - 1e-300:
        return 0.0
    for p in range(pool.size):
        _leave(x, pool[p], labels, place, members, sizes, sums)
    for c in range(chosen.size - 1, -1, -1):
        sums[chosen[c], :] = 0.0
        free[0] += 1
        free[free[0]] = chosen[c]
    numbers = np.empty(np.max(parts) + 1, np.int64)
    for c in range(numbers.size):
        numbers[c] = free[free[0]]
        free[0] -= 1
    for p in range(pool.size):
        _enter(x, pool[p], numbers[parts[p]], labels, place, members, sizes, sums)
    return float(cost - now)


@njit(cache=True, nogil=True)
def repartition_sweep(x: Floats, near: Ints, k: int, groups: Groups, first: int, stop: int) -> float:
    """For groups first … stop − 1: solve the pools made of each and its neighbours; returns the change of the cost."""
    labels, _, members, sizes, sums, _ = groups
    total = 0.0
    pool = np.empty(MOST_IN_PAIR, np.int64)
    chosen = np.empty(NEIGHBOURS + 1, np.int64)
    for a in range(first, min(stop, sizes.size)):
        for start in range(NEIGHBOURS):
            if sizes[a] == 0:
                break
            found = _neighbours(near, labels, members, sizes, sums, a)
            chosen[0] = a
            taken, count = 1, sizes[a]
            for c in range(start, NEIGHBOURS):
                b = found[c]
                if b < 0:
                    break
                limit = MOST_IN_PAIR if count + sizes[b] < 3 * k else MOST_IN_POOL
                if count + sizes[b] > limit:
                    break
                chosen[taken] = b
                taken, count = taken + 1, count + sizes[b]
            if taken == 1:
                continue
            at = 0
            for c in range(taken):
                for p in range(sizes[chosen[c]]):
                    pool[at] = members[chosen[c], p]
                    at += 1
            total += _reform(x, pool[:count].copy(), chosen[:taken].copy(), k, groups)
    return total
