"""Sums, largest contributions and places of cells, against the same done with lists."""

import numpy as np
import pytest

from reticent.kernels.rollup import add_rows, spread
from reticent.kernels.topn import accumulate, merge

NONE = np.zeros(0, np.float64)
NO_UNITS = np.zeros(0, np.int64)


def empty(cells: int, k: int, *, weighted: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    sums = np.zeros((cells, 4))
    sums[:, 2], sums[:, 3] = np.inf, -np.inf
    weights = np.zeros((cells, k)) if weighted else np.zeros((0, 0))
    return sums, np.zeros((cells, k)), np.full((cells, k), -1, np.int64), weights


def records(seed: int, n: int = 60, cells: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    group = rng.integers(-1, cells, n)
    values = np.round(rng.normal(0, 50, n))
    values[rng.random(n) < 0.1] = np.nan
    return group, values, rng.integers(1, 5, n).astype(float)


def largest(group: np.ndarray, values: np.ndarray, cell: int, k: int) -> list[tuple[float, int]]:
    """The k largest |contributions| of a cell, first comers first; padded by (0, −1)."""
    inside = [(abs(x), i) for i, x in enumerate(np.nan_to_num(values)) if group[i] == cell]
    found = sorted(inside, key=lambda one: (-one[0], one[1]))[:k]
    return found + [(0.0, -1)] * (k - len(found))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_cells_have_their_sums_and_their_largest_contributions(seed: int, k: int, weighted: bool) -> None:
    group, values, weights = records(seed)
    sums, top, units, top_weights = empty(5, k, weighted=weighted)
    accumulate(group, values, weights if weighted else NONE, NO_UNITS, sums, top, units, top_weights)
    known = np.nan_to_num(values)
    for cell in range(5):
        inside = group == cell
        factor = weights[inside] if weighted else 1.0
        assert sums[cell, 0] == pytest.approx((factor * known[inside]).sum())
        assert sums[cell, 1] == pytest.approx((factor * np.abs(known[inside])).sum())
        assert sums[cell, 2] == known[inside].min()
        assert sums[cell, 3] == known[inside].max()
        expected = largest(group, values, cell, k)
        assert list(zip(top[cell], units[cell])) == expected
        if weighted:
            assert top_weights[cell].tolist() == [weights[i] if i >= 0 else 0.0 for _, i in expected]


def test_units_have_their_own_numbers_where_they_are_given() -> None:
    sums, top, units, top_weights = empty(1, 2, weighted=False)
    accumulate(
        np.zeros(3, np.int64), np.array([5.0, 7.0, 6.0]), NONE, np.array([30, 10, 20]), sums, top, units, top_weights
    )
    assert units.tolist() == [[10, 20]]
    assert top.tolist() == [[7.0, 6.0]]


def test_a_cell_with_fewer_respondents_than_places_keeps_free_ones() -> None:
    sums, top, units, top_weights = empty(2, 3, weighted=False)
    accumulate(np.array([1, 1]), np.array([0.0, -4.0]), NONE, NO_UNITS, sums, top, units, top_weights)
    assert units.tolist() == [[-1, -1, -1], [1, 0, -1]]
    assert top.tolist() == [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_merged_cells_are_those_of_all_their_records(seed: int, weighted: bool) -> None:
    group, values, weights = records(seed, cells=6)
    given = weights if weighted else NONE
    fine = empty(6, 3, weighted=weighted)
    accumulate(group, values, given, NO_UNITS, *fine)
    parents = np.array([0, 0, 1, 1, 1, 0])
    coarse, direct = empty(2, 3, weighted=weighted), empty(2, 3, weighted=weighted)
    merge(np.arange(6), parents, *fine, *coarse)
    accumulate(np.where(group < 0, -1, parents[group]), values, given, NO_UNITS, *direct)
    np.testing.assert_allclose(coarse[0], direct[0])
    np.testing.assert_array_equal(coarse[1], direct[1])
    if weighted:  # of equal contributions any may be listed; what they weigh belongs to who is listed
        listed = coarse[2] >= 0
        np.testing.assert_array_equal(coarse[3][listed], weights[coarse[2][listed]])


def test_each_row_stands_at_its_node_and_at_all_above() -> None:
    # total 0 with children 1 and 2; 3 below 1
    indptr = np.array([0, 1, 3, 5, 8], np.int64)
    ancestors = np.array([0, 1, 0, 2, 0, 3, 1, 0], np.int32)
    source, target = spread(np.array([3, 0, 2], np.int32), indptr, ancestors)
    assert source.tolist() == [0, 0, 0, 1, 2, 2]
    assert target.tolist() == [3, 1, 0, 0, 2, 0]


def test_no_rows_stand_nowhere() -> None:
    source, target = spread(np.zeros(0, np.int32), np.array([0, 1], np.int64), np.zeros(1, np.int32))
    assert len(source) == len(target) == 0


def test_rows_are_added_to_their_groups() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 9, (10, 3)).astype(float)
    source, group = rng.integers(0, 10, 25), rng.integers(0, 4, 25)
    expected = np.zeros((4, 3))
    np.add.at(expected, group, values[source])
    np.testing.assert_array_equal(add_rows(source, group, values, 4), expected)
