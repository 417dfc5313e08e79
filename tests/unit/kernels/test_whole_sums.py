"""Whole numbers that come near to given sums: single and double steps, and proportional fitting."""

import numpy as np
import pytest
from scipy import sparse

from reticent.kernels.additivity import Sums, double_steps, proportional_fitting, single_steps, sums_of


def two_way(rows: int, columns: int) -> tuple[Sums, int]:
    """Inner cells, row totals and column totals of a table; cells first."""
    n = rows * columns
    member = sparse.lil_array((n, n + rows + columns), dtype=np.int32)
    for i in range(rows):
        for j in range(columns):
            for cell in (i * columns + j, n + i, n + rows + j):
                member[i * columns + j, cell] = 1
    found = member.tocsr()
    sums = Sums(found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data.astype(np.int32))
    return sums, n + rows + columns


def test_sums_of_cells_and_totals() -> None:
    sums, n = two_way(2, 3)
    assert sums_of(np.arange(6), sums, n).tolist() == [0, 1, 2, 3, 4, 5, 3, 12, 3, 5, 7]


@pytest.mark.parametrize("skip", [0, 2])
def test_single_steps_never_make_it_worse_and_keep_what_they_know(skip: int) -> None:
    sums, n = two_way(3, 4)
    rng = np.random.default_rng(4)
    values = rng.integers(skip + 1, 9, 12)
    targets = sums_of(rng.integers(skip + 1, 9, 12), sums, n)
    weights = rng.uniform(0.5, 2.0, n)
    off = sums_of(values, sums, n) - targets
    free = np.ones(12, dtype=bool)
    free[3] = False
    before, start = float((weights * off**2).sum()), values.copy()
    for _ in range(20):
        single_steps(values, np.arange(12), free, sums, off, weights, skip)
        now = float((weights * off**2).sum())
        assert now <= before + 1e-9
        before = now
    assert values[3] == start[3]
    assert off.tolist() == (sums_of(values, sums, n) - targets).tolist(), "the running sums are the true ones"
    assert bool(((values == 0) | (values > skip)).all()), "no count between 1 and skip"


def test_a_double_step_leaves_a_sum_that_both_share() -> None:
    """+1 and −1 in one row repair two columns at once, which no single step can without harm to the row."""
    sums, n = two_way(1, 2)
    values = np.array([4, 4])
    targets = sums_of(np.array([5, 3]), sums, n)
    weights = np.ones(n)
    weights[2] = 1e6  # the row total must stay
    off = sums_of(values, sums, n) - targets
    free, order = np.ones(2, dtype=bool), np.array([0])
    assert single_steps(values, order, free, sums, off, weights, 0) == 0
    moved = double_steps(values, order, np.array([1]), np.array([-1], dtype=np.int32), free, sums, off, weights, 0)
    assert moved == 1
    assert values.tolist() == [5, 3]
    assert not off.any()


@pytest.mark.parametrize(("partner", "free"), [(-1, (True, True)), (0, (True, True)), (1, (True, False))])
def test_a_double_step_needs_a_free_partner(partner: int, free: tuple[bool, bool]) -> None:
    sums, n = two_way(1, 2)
    values = np.array([4, 4])
    off = sums_of(values, sums, n) - sums_of(np.array([5, 3]), sums, n)
    signs = np.array([-1], dtype=np.int32)
    given = (np.array([0]), np.array([partner]), signs, np.array(free), sums, off, np.ones(n), 0)
    assert double_steps(values, *given) == 0
    assert values.tolist() == [4, 4]


def test_proportional_fitting_meets_margins_and_leaves_zeros() -> None:
    values = np.array([1.0, 2.0, 0.0, 4.0])
    indptr, members = np.array([0, 2, 4, 6, 8]), np.array([0, 1, 2, 3, 0, 2, 1, 3], dtype=np.int32)
    targets = np.array([6.0, 4.0, 2.0, 8.0])
    proportional_fitting(values, indptr, members, targets, np.arange(4), 200)
    assert values[2] == 0.0
    np.testing.assert_allclose([values[:2].sum(), values[2:].sum(), values[[0, 2]].sum()], [6.0, 4.0, 2.0])
