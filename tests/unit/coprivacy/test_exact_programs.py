"""Linear programs and systems in fractions: against scipy, against numpy, and where there is no answer."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from reticent.base.errors import SolverError
from reticent.coprivacy.exact_program import Tableau, maximise_exactly
from reticent.coprivacy.fractions_solve import solve_exactly

F = Fraction


def exact(rows: list[list[int]]) -> np.ndarray:
    out = np.empty((len(rows), len(rows[0])), dtype=object)
    for at, row in enumerate(rows):
        out[at] = [F(value) for value in row]
    return out


@pytest.mark.parametrize("seed", range(12))
def test_a_system_is_solved_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-5, 6, (4, 4))
    right = rng.integers(-5, 6, 4)
    found = solve_exactly([[F(int(v)) for v in row] for row in rows], [F(int(v)) for v in right])
    if round(np.linalg.det(rows)) == 0:
        assert found is None
        return
    assert found is not None
    for row, value in zip(rows, right, strict=True):
        assert sum(int(a) * x for a, x in zip(row, found, strict=True)) == int(value)


@pytest.mark.parametrize("rows", [[[0, 0], [0, 1]], [[1, 2], [2, 4]]])
def test_a_system_without_a_single_solution_has_none(rows: list[list[int]]) -> None:
    assert solve_exactly([[F(v) for v in row] for row in rows], [F(1), F(2)]) is None


def test_rows_are_exchanged_where_the_pivot_is_zero() -> None:
    assert solve_exactly([[F(0), F(2)], [F(1), F(0)]], [F(4), F(3)]) == [F(3), F(2)]


def solved(cost: list[int], rows: list[list[int]], right: list[int]) -> tuple[float, np.ndarray, np.ndarray]:
    answer = linprog(-np.array(cost), A_ub=np.array(rows), b_ub=np.array(right), method="highs")
    return -answer.fun, answer.x, -answer.ineqlin.marginals


@pytest.mark.parametrize("seed", range(12))
def test_the_exact_optimum_is_the_solvers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 9, (3, 4)).tolist()
    right, cost = rng.integers(5, 30, 3).tolist(), rng.integers(1, 9, 4).tolist()
    best, near, prices = solved(cost, rows, right)
    found = maximise_exactly([F(c) for c in cost], exact(rows), [F(r) for r in right], near, prices)
    assert found is not None
    assert all(value >= 0 for value in found)
    for row, limit in zip(rows, right, strict=True):
        assert sum(a * x for a, x in zip(row, found, strict=True)) <= limit
    assert float(sum(c * x for c, x in zip(cost, found, strict=True))) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_a_wrong_start_is_found_out(seed: int) -> None:
    """Values that the solver never gave: the search starts again at 0 and ends at the optimum."""
    rng = np.random.default_rng(seed)
    rows, right, cost = rng.integers(1, 9, (3, 3)).tolist(), [10, 12, 14], [3, 2, 4]
    best, _, _ = solved(cost, rows, right)
    found = maximise_exactly([F(c) for c in cost], exact(rows), [F(r) for r in right], rng.random(3), rng.random(3))
    assert found is not None
    assert float(sum(c * x for c, x in zip(cost, found, strict=True))) == pytest.approx(best)


def test_an_optimum_in_thirds_is_in_thirds() -> None:
    found = maximise_exactly([F(1), F(1)], exact([[2, 1], [1, 2]]), [F(1), F(1)], np.array([0.33, 0.33]), np.ones(2))
    assert found == [F(1, 3), F(1, 3)]


def test_a_program_without_a_bound_is_an_error() -> None:
    with pytest.raises(SolverError, match="not bounded"):
        maximise_exactly([F(1)], exact([[-1]]), [F(1)], np.zeros(1), np.zeros(1))


def test_tableaus_stay_whole_and_go_back() -> None:
    start = Tableau.of(exact([[2, 1], [1, 3]]), [F(4), F(6)])
    there = start.moved(0, 0)
    assert all(isinstance(value, int) for value in there.table.ravel())
    assert there.values() == [F(2), F(0)]
    again = there.moved(0, 0)
    assert again.values() == start.values() == [F(0), F(0)]
    assert start.leaving(0) == [0]
    assert start.leaving(1) == [1]


def test_fractions_in_a_row_are_cleared() -> None:
    rows = np.empty((1, 2), dtype=object)
    rows[0] = [F(1, 2), F(1, 3)]
    found = Tableau.of(rows, [F(1)])
    assert found.table.tolist() == [[3, 2, 6]]
    assert found.moved(0, 1).values() == [F(0), F(3)]
