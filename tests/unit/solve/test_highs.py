"""The solver seam: warm objectives, duals, added rows, MIP bound and incumbent, statuses."""

import numpy as np
import pytest
from scipy import sparse

from reticent.base import clock
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


class StandingClock:
    """A clock on which no time passes; the solver watches the time itself."""

    def now(self) -> float:
        """Always the same."""
        return 0.0

    peek = now

    def nodes(self, seconds: float) -> int | None:
        """The solver has its own clock."""
        return None

    def wall(self, seconds: float) -> float:
        """Its seconds are ours."""
        return seconds


@pytest.mark.parametrize(("left", "status"), [(2.0, Status.STOPPED), (600.0, Status.OPTIMAL)])
def test_an_integer_program_that_cannot_be_stopped_in_time_is_not_begun(left: float, status: Status) -> None:
    """Elimination over 3,000 equations in whole numbers takes seconds, in which HiGHS does not look at its limit."""
    n = 3_000
    pairs = sparse.csr_array(sparse.hstack((sparse.eye(n), -sparse.eye(n)), format="csr"))
    whole = np.ones(2 * n, dtype=bool)
    model = LinearModel(np.ones(2 * n), np.zeros(2 * n), np.ones(2 * n), pairs, np.zeros(n), np.zeros(n), whole)
    with clock.using(StandingClock()), clock.until(clock.Deadline(left)):
        assert solve(model, strict=True).status is status
        assert solve(model).status is Status.OPTIMAL
