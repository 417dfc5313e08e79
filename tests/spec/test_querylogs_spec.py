"""Semantic microaggregation as the source has it, with its errata: similarity, clusters, quotas, and what they are worth."""

import numpy as np
import pytest
from scipy import sparse

from reticent.kernels.querylogs import greedy_clusters
from reticent.querylogs.aggregate import aggregate
from reticent.querylogs.classify import classify
from reticent.querylogs.log import Labels, QueryLog, make_log
from reticent.querylogs.measures import remaining_shares
from reticent.querylogs.partition import Clusters, partition, similarities
from reticent.querylogs.taxonomy import make_taxonomy

COUNTS = sparse.csr_array(np.array([[3, 1, 0], [2, 0, 0], [0, 2, 1], [0, 0, 2], [1, 0, 0]]))


def groups(of: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(of == number).tolist()) for number in np.unique(of)}


def test_similarity_is_the_shared_count_without_the_diagonal() -> None:
    assert similarities(COUNTS).tolist() == [
        [0, 2, 1, 0, 1], [2, 0, 0, 0, 1], [1, 0, 0, 1, 0], [0, 0, 1, 0, 0], [1, 1, 0, 0, 0],
    ]  # fmt: skip


def test_users_left_over_join_the_last_cluster() -> None:
    assert groups(partition([COUNTS], 2).of) == {frozenset({0, 1}), frozenset({2, 3, 4})}


def test_the_next_user_is_closest_to_what_the_cluster_adds_up_to() -> None:
    """User 2 shares 3 with user 0 alone, user 3 shares 2 with each of the first two, so user 3 joins them."""
    matrix = np.zeros((6, 6), dtype=np.int64)
    for i, j, shared in ((0, 1, 5), (0, 2, 3), (0, 3, 2), (1, 3, 2), (4, 5, 1)):
        matrix[i, j] = matrix[j, i] = shared
    of = np.zeros(6, dtype=np.int64)
    assert greedy_clusters(matrix, 3, of) == 2
    assert groups(of) == {frozenset({0, 1, 3}), frozenset({2, 4, 5})}


def log_of(queries: dict[str, list[str]]) -> QueryLog:
    rows = [(user, query) for user, own in queries.items() for query in own]
    return make_log(Labels.of([user for user, _ in rows]), Labels.of([query for _, query in rows]))


def test_a_quota_that_contributions_do_not_reach_is_filled() -> None:
    """Four different queries each: contributions of 1/2 are expected to give 2 of the quota of 2, and are filled up to it."""
    log = log_of({"a": ["a1", "a2", "a3", "a4"], "b": ["b1", "b2", "b3", "b4"]})
    for seed in range(30):
        found = aggregate(log, Clusters(np.zeros(2, dtype=np.int32), 1), np.random.default_rng(seed))
        assert np.bincount(found.givers, weights=found.times).tolist() == [2, 2]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_one_kth_is_what_remains_of_disjoint_interests(k: int) -> None:
    """The worst case 1/k: users of one cluster who share nothing each keep the k-th part of their 10·k queries."""
    tree = make_taxonomy([(str(n), "", f"topic{n}", [f"topic{n}"]) for n in range(k)], owner="t")
    log = log_of({f"u{n}": [f"topic{n} q{m}" for m in range(10 * k)] for n in range(k)})
    clusters = Clusters(np.zeros(k, dtype=np.int32), 1)
    centroids = aggregate(log, clusters, np.random.default_rng(1))
    assert remaining_shares(log, classify(log, tree), clusters, centroids) == [pytest.approx(1 / k)]
