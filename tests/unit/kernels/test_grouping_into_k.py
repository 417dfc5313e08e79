"""The grouping kernels against slow versions of themselves, and against all partitions of small files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import microaggregation as reference
from reticent.kernels.improve import anneal, group_state, within_squares
from reticent.kernels.mdav import cbfs, mdav, vmdav
from reticent.kernels.repartition import best_partition
from reticent.kernels.univariate import genetic_path, shortest_path
from reticent.microdata.grouping.search import near_records


def points(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


cases = st.tuples(st.integers(2, 40), st.integers(1, 4), st.integers(2, 5), st.integers(0, 10**6))


@given(cases)
def test_mdav_is_what_its_text_says(case: tuple[int, int, int, int]) -> None:
    n, d, k, seed = case
    x = points(max(n, k), d, seed)
    labels = mdav(x, k)
    groups = {frozenset(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels)}
    assert groups == set(reference.mdav(x, k))


@pytest.mark.parametrize("method", [lambda x, k: vmdav(x, k, 0.2), lambda x, k: vmdav(x, k, 1.1), cbfs])
def test_v_mdav_and_cbfs_give_everybody_a_group_of_at_least_k(method) -> None:  # type: ignore[no-untyped-def]
    for seed in range(20):
        labels = method(points(3 + 7 * seed, 3, seed), 3)
        assert labels.min() == 0
        assert np.bincount(labels).min() >= 3


def test_v_mdav_keeps_a_cloud_of_five_together_where_fixed_sizes_cut_it() -> None:
    left = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0.5, 0.5]])
    x = np.concatenate((left, left[:4] + 20.0))
    labels = vmdav(x, 3, 2.0)
    assert len(set(labels[:5])) == 1
    assert len(set(labels[5:])) == 1


@pytest.mark.slow
@given(st.lists(st.integers(-50, 50), min_size=4, max_size=10), st.integers(2, 4))
def test_shortest_path_is_the_best_of_all_partitions(values: list[int], k: int) -> None:
    x = np.sort(np.asarray(values, dtype=float))
    starts, cost = shortest_path(x, k)
    sizes = np.diff(np.append(starts, x.size))
    assert sizes.min() >= k
    assert sizes.max() < 2 * k or x.size < 2 * k
    assert cost == pytest.approx(reference.cheapest_partition(x[:, None], k), abs=1e-9)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(4, 60))
def test_genetic_search_is_feasible_and_near_the_optimum(seed: int, k: int, n: int) -> None:
    x = np.sort(points(n, 1, seed)[:, 0])
    starts, cost = genetic_path(x, k, 30, 2000, np.array([seed + 1, 7], np.uint64))
    sizes = np.diff(np.append(starts, n))
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    best = shortest_path(x, k)[1]
    assert best - 1e-9 <= cost <= 1.1 * best + 1e-9
    assert cost == pytest.approx(
        reference.squares_within(x[:, None], np.repeat(np.arange(starts.size), sizes)), abs=1e-9
    )


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(4, 9), st.integers(1, 3))
def test_best_partition_of_a_pool_equals_brute_force(seed: int, k: int, n: int, d: int) -> None:
    x = points(n, d, seed)
    squares = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    labels, cost = best_partition(squares, k)
    assert cost == pytest.approx(reference.cheapest_partition(x, k), rel=1e-9)
    assert reference.squares_within(x, labels) == pytest.approx(cost, rel=1e-9)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(0, 3))
def test_annealing_keeps_sizes_and_its_running_cost_is_the_true_one(seed: int, k: int, spare: int) -> None:
    x = points(8 * k + spare, 3, seed)
    labels = mdav(x, k)
    near = near_records(x, 10)
    groups = group_state(x, labels, k)
    sizes, members, free = groups.sizes, groups.members, groups.free
    before = within_squares(x, labels, sizes.size)
    words = np.array([seed + 1, seed + 2], np.uint64)
    change = anneal(x, near, k, groups, words, 5000, before / len(x), 0.999)
    counts = np.bincount(labels)
    counts = counts[counts > 0]
    assert counts.min() >= k
    assert counts.max() < 2 * k
    assert reference.squares_within(x, labels) == pytest.approx(before + change, rel=1e-9)
    for g in range(sizes.size):
        assert set(members[g, : sizes[g]].tolist()) == set(np.flatnonzero(labels == g).tolist())
    assert free[0] == int((sizes == 0).sum())
