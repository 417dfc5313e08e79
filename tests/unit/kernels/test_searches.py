"""Searches in the tree of boxes against all pairs: radii, ties, missing coordinates, nominal ones, caps."""

import numpy as np
import pytest

from reticent.kernels.nearest import TIE, alone_within, build_tree, count_nearer, nearest, pair_distances, sums_within

NOMINAL = np.array([False, False, True])
ABSENT = np.array([0.5, 0.25, 0.75])


def files(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    records = rng.integers(0, 5, size=(n, 3)).astype(float)
    queries = rng.integers(0, 5, size=(20, 3)).astype(float)
    for part in (records, queries):
        part[rng.random(part.shape) < 0.15] = np.nan
    return records, queries


def distances(records: np.ndarray, queries: np.ndarray) -> np.ndarray:
    out = np.zeros((len(queries), len(records)))
    for i, query in enumerate(queries):
        for j, record in enumerate(records):
            for v in range(3):
                if np.isnan(query[v]):
                    continue
                if np.isnan(record[v]):
                    out[i, j] += ABSENT[v]
                elif NOMINAL[v]:
                    out[i, j] += float(query[v] != record[v])
                else:
                    out[i, j] += (query[v] - record[v]) ** 2
    return out


@pytest.mark.parametrize("n", [1, 5, 60, 200])
def test_the_nearest_record_is_at_the_least_distance(n: int) -> None:
    records, queries = files(n)
    found, least = nearest(build_tree(records, NOMINAL, ABSENT), queries)
    expected = distances(records, queries)
    np.testing.assert_allclose(least, expected.min(axis=1))
    np.testing.assert_allclose(expected[np.arange(20), found], least)


@pytest.mark.parametrize("n", [1, 5, 60, 200])
@pytest.mark.parametrize("radius", [0.0, 0.5, 4.0, 100.0])
def test_counts_within_a_radius(n: int, radius: float) -> None:
    records, queries = files(n)
    tree, expected = build_tree(records, NOMINAL, ABSENT), distances(records, queries)
    nearer, ties = count_nearer(tree, queries, np.full(20, radius), cap=10**6)
    assert nearer.tolist() == (expected < radius * (1 - TIE)).sum(axis=1).tolist()
    assert ties.tolist() == (np.abs(expected - radius) <= radius * TIE).sum(axis=1).tolist()
    values = np.arange(n, dtype=float)
    counts, sums = sums_within(tree, values, queries, np.full(20, radius), cap=10**6)
    within = expected <= radius * (1 + TIE)
    assert counts.tolist() == within.sum(axis=1).tolist()
    np.testing.assert_allclose(sums, (within * values).sum(axis=1))


def test_a_cap_ends_the_search_early_with_lower_bounds() -> None:
    records, queries = files(200)
    tree = build_tree(records, NOMINAL, ABSENT)
    whole, _ = count_nearer(tree, queries, np.full(20, 9.0), cap=10**6)
    some, _ = count_nearer(tree, queries, np.full(20, 9.0), cap=3)
    assert some.tolist() == np.minimum(whole, 3).tolist()
    counts, _ = sums_within(tree, np.ones(200), queries, np.full(20, 9.0), cap=3)
    assert bool((counts >= np.minimum(whole, 3)).all())


def test_alone_means_nobody_else_however_many_records_one_has() -> None:
    records, queries = files(60)
    units, mine = np.arange(60) // 3, np.arange(20)
    expected = distances(records, queries)
    for radius in (0.0, 1.0, 6.0):
        found = alone_within(build_tree(records, NOMINAL, ABSENT), units, queries, mine, np.full(20, radius))
        others = (units[None, :] != mine[:, None]) & (expected <= radius * (1 + TIE))
        assert found.tolist() == (~others.any(axis=1)).tolist()


def test_equal_records_make_one_leaf_and_are_all_ties() -> None:
    records = np.tile(np.array([1.0, 2.0, 3.0]), (500, 1))
    tree = build_tree(records, NOMINAL, ABSENT)
    assert tree.children.tolist() == [-1]
    nearer, ties = count_nearer(tree, records[:2], np.zeros(2), cap=5)
    assert (nearer.tolist(), ties.tolist()) == ([0, 0], [500, 500])
    assert nearest(tree, records[:1])[1].tolist() == [0.0]


def test_pairs_row_by_row() -> None:
    records, queries = files(20)
    np.testing.assert_allclose(pair_distances(queries, records, NOMINAL, ABSENT), np.diag(distances(records, queries)))
