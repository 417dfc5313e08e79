# SPDX-License-Identifier: Apache-2.0
"""Clusters of at least k users who ask about the same things.

Up to `block` users the greedy method of the source runs on the whole similarity matrix; more users are sorted by what they
ask about most, cut into blocks, and the same method runs inside each: cost grows linearly with users beyond that.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, silent
from reticent.kernels.querylogs import greedy_clusters, shared_counts
from reticent.querylogs.classify import Counts

BLOCK = 2000


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of every user."""

    of: NDArray[np.int32] = field(repr=False)
    count: int

    def sizes(self) -> NDArray[np.int64]:
        """Users in each cluster."""
        return np.bincount(self.of, minlength=self.count)


def partition(levels: list[Counts], k: int, *, block: int = BLOCK, progress: Progress = silent) -> Clusters:
    """Clusters of k users (the last of a block may have up to 2k − 1) by categories shared over all levels."""
    n = levels[0].shape[0]
    if k > n:
        raise ParameterError(f"query log: k is {k}, but only {n} users have queries to share; lower k.")
    joined = sparse.csr_array(sparse.hstack(levels, format="csr"))
    order = np.arange(n) if n <= block else _by_interest(levels)
    found, number = np.zeros(n, dtype=np.int32), 0
    cuts = _cuts(n, max(block, 2 * k), k)
    for done, (start, end) in enumerate(cuts):
        progress(done / len(cuts), "clustering")
        users = order[start:end]
        own = np.zeros(len(users), dtype=np.int64)
        made = greedy_clusters(similarities(joined[users]), k, own)
        found[users] = number + own
        number += made
    return Clusters(found, number)


def similarities(counts: Counts) -> NDArray[np.int64]:
    """Σ over categories of the smaller count, for every pair of users; 0 on the diagonal."""
    matrix = sparse.csr_array(counts)
    matrix.sort_indices()
    similarity = np.zeros((matrix.shape[0], matrix.shape[0]), dtype=np.int64)
    present, features = np.unique(matrix.indices, return_inverse=True)
    shared_counts(
        matrix.indptr.astype(np.int64), features.astype(np.int64), matrix.data.astype(np.int64), len(present), similarity
    )  # fmt: skip
    return similarity


def _cuts(n: int, block: int, k: int) -> list[tuple[int, int]]:
    """Blocks of about equal size, none with fewer than k users."""
    count = max(1, round(n / block))
    edges = [round(number * n / count) for number in range(count + 1)]
    return [(start, end) for start, end in itertools.pairwise(edges) if end > start]


def _by_interest(levels: list[Counts]) -> NDArray[np.int64]:
    """Users sorted by their main category at the levels, the top first, then by how much they ask."""
    keys = [np.asarray(levels[0].sum(axis=1)).ravel()]
    keys += [_main(level) for level in reversed(levels[:3])]
    return np.lexsort(keys)


def _main(level: Counts) -> NDArray[np.int64]:
    """The category with the largest count of each user (the first of equals; −1 for none)."""
    matrix = sparse.csr_array(level)
    found = np.full(matrix.shape[0], -1, dtype=np.int64)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    first = np.unique(rows[order], return_index=True)
    found[first[0]] = matrix.indices[order[first[1]]]
    return found


def random_clusters(n: int, k: int, rng: np.random.Generator) -> Clusters:
    """Clusters of k users drawn at random: what a method that knows nothing about meaning achieves."""
    count = max(1, n // k)
    of = np.minimum(np.arange(n) // k, count - 1).astype(np.int32)
    shuffled = np.empty(n, dtype=np.int32)
    shuffled[rng.permutation(n)] = of
    return Clusters(shuffled, count)
