# SPDX-License-Identifier: Apache-2.0
"""Modified Ward grouping: joins at least cost that never unite two groups which are both large enough.

Time grows like n²·d (n³ in bad cases), memory like n·d: distances are computed when needed, no matrix is kept.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints


@njit(cache=True, nogil=True, inline="always")
def _increase(means: Floats, sizes: Ints, a: int, b: int) -> float:
    """Growth of the within sum of squares when groups a and b join (Ward 1963)."""
    total = 0.0
    for c in range(means.shape[1]):
        diff = means[a, c] - means[b, c]
        total += diff * diff
    return float(total * sizes[a] * sizes[b] / (sizes[a] + sizes[b]))


@njit(cache=True, nogil=True)
def _partner(means: Floats, sizes: Ints, a: int, k: int) -> tuple[int, float]:
    """The group with the least increase that a may join, or −1."""
    best, at = np.inf, -1
    for b in range(sizes.size):
        if b == a or sizes[b] == 0 or (sizes[a] >= k and sizes[b] >= k):
            continue
        cost = _increase(means, sizes, a, b)
        if cost < best:
            best, at = cost, b
    return at, best


@njit(cache=True, nogil=True)
def farthest_pair(x: Floats) -> tuple[int, int]:
    """The two records with the largest distance; O(n²·d) time, no matrix."""
    best, first, last = -1.0, 0, 0
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            total = 0.0
            for c in range(x.shape[1]):
                diff = x[i, c] - x[j, c]
                total += diff * diff
            if total > best:
                best, first, last = total, i, j
    return first, last


@njit(cache=True, nogil=True)
def _seed(x: Floats, start: int, k: int, number: int, labels: Ints) -> None:
    """Give k records a group number: `start`, then each time the free record nearest to the group's mean."""
    total = x[start].copy()
    labels[start] = number
    for size in range(1, k):
        best, at = np.inf, -1
        for i in range(x.shape[0]):
            if labels[i] < 0:
                cost = 0.0
                for c in range(x.shape[1]):
                    diff = x[i, c] - total[c] / size
                    cost += diff * diff
                if cost < best:
                    best, at = cost, i
        labels[at] = number
        total += x[at]


@njit(cache=True, nogil=True)
def seed_groups(x: Floats, first: int, last: int, k: int) -> Ints:
    """Step 1 of modified Ward: label 0 for the k records around `first`, 1 for those around `last`, −1 else."""
    labels = np.full(x.shape[0], -1, np.int64)
    labels[last] = 1
    _seed(x, first, k, 0, labels)
    labels[last] = -1
    _seed(x, last, k, 1, labels)
    return labels


@njit(cache=True, nogil=True)
def join_groups(x: Floats, seeds: Ints, k: int) -> Ints:
    """Step 2 of modified Ward: join at least increase until every group has at least k records.

    Records with seed 0 or 1 start as these two groups, all others alone. Two groups of k or more are never joined.
    Domingo-Ferrer and Mateo-Sanz (1997, 2002). Returns group numbers, not consecutive.
    """
    n = x.shape[0]
    labels = np.arange(n)
    means = x.copy()
    sizes = np.ones(n, np.int64)
    for number in range(2):
        root = -1
        for i in range(n):
            if seeds[i] != number:
                continue
            if root < 0:
                root = i
                continue
            means[root] = (means[root] * sizes[root] + x[i]) / (sizes[root] + 1)
            sizes[root], sizes[i], labels[i] = sizes[root] + 1, 0, root
    partner = np.full(n, -1, np.int64)
    cost = np.full(n, np.inf)
    for a in range(n):
        if sizes[a] > 0:
            partner[a], cost[a] = _partner(means, sizes, a, k)
    while True:
        a = int(np.argmin(cost))
        if cost[a] == np.inf:
            break
        b = partner[a]
        means[a] = (means[a] * sizes[a] + means[b] * sizes[b]) / (sizes[a] + sizes[b])
        sizes[a], sizes[b] = sizes[a] + sizes[b], 0
        labels[b] = a
        cost[b] = np.inf
        for g in range(n):
            if sizes[g] == 0:
                continue
            if g == a or partner[g] == a or partner[g] == b:
                partner[g], cost[g] = _partner(means, sizes, g, k)
            elif sizes[g] < k or sizes[a] < k:
                joined = _increase(means, sizes, g, a)
                if joined < cost[g]:
                    partner[g], cost[g] = a, joined
    for i in range(n):
        root = i
        while labels[root] != root:
            root = labels[root]
        labels[i] = root
    return labels
