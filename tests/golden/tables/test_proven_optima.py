"""Suppression problems whose optimum is proven: cost of the secondaries by value, and fewest cells."""

from pathlib import Path

import pytest

from reticent.io.jj import read_jj
from reticent.tables.attack import audit
from reticent.tables.suppression import Heuristic, Optimal

OPTIMA = {
    "targus": (2_033_155, 7),
    "table8": (103, 3),
    "tau_simple2d": (521_926, 4),
    "rtau_turnover_act_size": (49_223_640.14, 60),
}


@pytest.mark.parametrize("name", sorted(OPTIMA))
def test_optimal_is_proved(shared_data: Path, name: str) -> None:
    problem = read_jj(shared_data / "csp" / f"{name}.jj")
    by_value, fewest = OPTIMA[name]
    found = Optimal().protect(problem, time_limit=60)
    assert (found.status, found.cost) == ("optimal", pytest.approx(by_value, abs=0.01))
    assert audit(problem, found.pattern).n_exposed == 0
    few = Optimal(cost="unity").protect(problem, time_limit=60)
    assert (few.status, few.cost) == ("optimal", fewest)


@pytest.mark.parametrize("name", sorted(OPTIMA))
def test_heuristic_is_near(shared_data: Path, name: str) -> None:
    problem = read_jj(shared_data / "csp" / f"{name}.jj")
    found = Heuristic().protect(problem, time_limit=3)
    assert audit(problem, found.pattern).n_exposed == 0
    assert found.bound is not None
    assert found.bound <= OPTIMA[name][0] + 0.01
    assert OPTIMA[name][0] - 0.01 <= found.cost <= 1.02 * OPTIMA[name][0]


def test_an_open_problem_is_closed(shared_data: Path) -> None:
    """table1 had no known optimum: bound and pattern meet, and the exact intervals confirm the pattern."""
    problem = read_jj(shared_data / "csp" / "table1.jj")
    found = Optimal().protect(problem, time_limit=60)
    assert (found.status, found.cost) == ("optimal", pytest.approx(116_974_452))
    assert audit(problem, found.pattern).n_exposed == 0
