# SPDX-License-Identifier: Apache-2.0
"""Similarity of users by shared categories, and greedy clusters of the most similar ones."""

import numpy as np
from numba import njit

from reticent.base.arrays import Ints, Mask


@njit(cache=True, nogil=True)
def shared_counts(starts: Ints, features: Ints, counts: Ints, n_features: int, similarity: Ints) -> None:
    """Fill `similarity` (n × n) with Σ over features of the smaller count; the diagonal stays 0.

    `starts` (n + 1) delimits each user's `features` and `counts`. One user's counts are scattered, then every other user's
    few features are looked up. O(n² · features per user).
    """
    n = starts.size - 1
    mine = np.zeros(n_features, dtype=np.int64)
    for i in range(n):
        for at in range(starts[i], starts[i + 1]):
            mine[features[at]] = counts[at]
        for j in range(i):
            total = np.int64(0)
            for at in range(starts[j], starts[j + 1]):
                other = mine[features[at]]
                total += other if other < counts[at] else counts[at]
            similarity[i, j] = total
            similarity[j, i] = total
        for at in range(starts[i], starts[i + 1]):
            mine[features[at]] = 0


@njit(cache=True, nogil=True)
def _nearest(similarity: Ints, alive: Mask, i: int) -> int:
    """The living user most similar to i (the first of equals), or −1."""
    best, value = -1, np.int64(-1)
    for j in range(alive.size):
        if alive[j] and j != i and similarity[i, j] > value:
            best, value = j, similarity[i, j]
    return best


@njit(cache=True, nogil=True)
def greedy_clusters(similarity: Ints, k: int, cluster: Ints) -> int:
    """Number the clusters in `cluster` (n): the most similar pair, then the closest to what the cluster adds up to.

    Rows of a cluster's users are added up; whoever is left when fewer than k remain joins the last cluster. Nearest
    neighbours are kept and looked up again only when they are taken. Returns the number of clusters. O(n²) typically.
    """
    n = similarity.shape[0]
    alive = np.ones(n, dtype=np.bool_)
    nearest = np.empty(n, dtype=np.int64)
    for i in range(n):
        nearest[i] = _nearest(similarity, alive, i)
    together = np.empty(n, dtype=np.int64)
    left, number = n, 0
    while left >= k and left > 0:
        first = -1
        for i in range(n):
            if alive[i] and (
                first < 0 or (nearest[i] >= 0 and similarity[i, nearest[i]] > similarity[first, nearest[first]])
            ):
                first = i
        for j in range(n):
            together[j] = similarity[first, j]
        cluster[first] = number
        alive[first] = False
        size, member = 1, nearest[first]
        while size < k:
            alive[member] = False
            cluster[member] = number
            size += 1
            if size == k:
                break
            for j in range(n):
                together[j] += similarity[member, j]
            member = -1
            for j in range(n):
                if alive[j] and (member < 0 or together[j] > together[member]):
                    member = j
        left -= size
        number += 1
        for i in range(n):
            if alive[i] and (nearest[i] < 0 or not alive[nearest[i]]):
                nearest[i] = _nearest(similarity, alive, i)
    for i in range(n):
        if alive[i]:
            cluster[i] = max(0, number - 1)
    return max(1, number)
