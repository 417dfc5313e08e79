"""The solver seam: warm objectives, duals, added rows, MIP bound and incumbent, statuses."""

import numpy as np
import pytest
from scipy import sparse

from reticent.base.errors import ParameterError
from reticent.solve.highs import HighsSession, solve
from reticent.solve.model import LinearModel, Status


def knapsack(integer: bool) -> LinearModel:
    matrix = sparse.csr_array(np.array([[3.0, 5.0, 7.0]]))
    kinds = np.ones(3, dtype=bool) if integer else None
    return LinearModel(
        np.array([4.0, 6.0, 9.0]),
        np.zeros(3),
        np.ones(3),
        matrix,
        np.array([-np.inf]),
        np.array([9.0]),
        kinds,
        maximise=True,
    )


def test_linear_optimum_and_duals() -> None:
    found = HighsSession(knapsack(False)).solve()
    assert found.status is Status.OPTIMAL
    # 4/3 > 9/7 > 6/5 a unit of room: the first wholly, then 6/7 of the third
    assert found.objective == pytest.approx(4 + 6 * 9 / 7)
    assert found.row_duals[0] == pytest.approx(9 / 7)


def test_models_are_loaded_one_after_another() -> None:
    session = HighsSession(knapsack(False))
    session.solve()
    smaller = LinearModel(
        np.array([1.0, 1.0]),
        np.zeros(2),
        np.full(2, 5.0),
        sparse.csr_array(np.array([[1.0, 1.0], [1.0, 0.0]])),
        np.array([3.0, -np.inf]),
        np.array([np.inf, 2.0]),
    )
    session.load(smaller)
    found = session.solve()
    assert (found.objective, len(found.values), len(found.row_duals)) == (pytest.approx(3.0), 2, 2)
    session.load(knapsack(False))
    assert session.solve().objective == pytest.approx(4 + 6 * 9 / 7)
    with pytest.raises(ParameterError, match="integer"):
        session.load(knapsack(True))


def test_new_objectives_and_rows_on_the_same_model() -> None:
    session = HighsSession(knapsack(False))
    session.set_cost(np.array([0, 1, 2], dtype=np.int32), np.array([0.0, 1.0, 0.0]))
    assert session.solve().objective == pytest.approx(1.0)
    session.add_rows(sparse.csr_array(np.array([[0.0, 2.0, 0.0]])), np.array([-np.inf]), np.array([1.0]))
    assert session.solve().objective == pytest.approx(0.5)


def test_whole_numbers_with_start_and_bound() -> None:
    found = solve(knapsack(True), start=np.array([1.0, 1.0, 0.0]))
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(10.0)
    assert found.bound == pytest.approx(10.0)


def test_infeasible_and_unbounded_are_told() -> None:
    matrix = sparse.csr_array(np.array([[1.0]]))
    impossible = LinearModel(np.zeros(1), np.zeros(1), np.ones(1), matrix, np.array([2.0]), np.array([3.0]))
    assert solve(impossible).status is Status.INFEASIBLE
    assert not solve(impossible).feasible
    endless = LinearModel(
        np.ones(1), np.zeros(1), np.array([np.inf]), matrix, np.zeros(1), np.array([np.inf]), maximise=True
    )
    assert HighsSession(endless).solve().status is Status.UNBOUNDED


def test_wrong_shapes_and_options_are_refused() -> None:
    with pytest.raises(ParameterError, match="must fit a matrix"):
        LinearModel(np.zeros(2), np.zeros(1), np.ones(1), sparse.csr_array(np.ones((1, 1))), np.zeros(1), np.ones(1))
    with pytest.raises(ParameterError, match="algorithm must be one of"):
        HighsSession(knapsack(False), algorithm="magic")
    with pytest.raises(ParameterError, match="threads"):
        HighsSession(knapsack(False)).set_option("threads", 2)
