"""Suppression methods: bad input, infeasible demands, costs, forced and preferred cells."""

import numpy as np
import pytest

from reference.tables import crossed, flat
from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.data.cells import CellStatus
from reticent.tables.costs import costs_of
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import SUPPRESSION_METHODS, Heuristic, Optimal

INNER = np.array([[20.0, 50, 10], [8, 19, 22], [17, 32, 12]])


def small(**options: object) -> SuppressionProblem:
    values, relations = crossed([flat(3), flat(3)], INNER)
    primary = np.zeros(16, dtype=bool)
    primary[11] = True
    given = {"primary": primary, "lower_protection": 0.2 * values, "upper_protection": 0.2 * values, **options}
    return SuppressionProblem.from_values(values, relations, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", SUPPRESSION_METHODS)
def test_time_limit_of_zero_is_refused(method: type) -> None:
    with pytest.raises(ParameterError, match="time_limit must be more than 0"):
        method().protect(small(), time_limit=0)


@pytest.mark.parametrize("method", SUPPRESSION_METHODS)
def test_all_candidates_frozen(method: type) -> None:
    problem = small()
    frozen = problem.with_status(problem.candidates, CellStatus.FROZEN)
    with pytest.raises(InfeasibleError, match=r"1 primary cells cannot be protected \(cells 11\)") as caught:
        method().protect(frozen, time_limit=5)
    assert caught.value.cells == (11,)
    assert "may not be hidden: " in str(caught.value)
    assert "none" not in str(caught.value)


def test_levels_beyond_the_bounds_are_named() -> None:
    with pytest.raises(InfeasibleError, match=r"reach beyond the attacker's bounds \(cells 11\)"):
        Optimal().protect(small(lower_protection=30.0), time_limit=5)


@pytest.mark.parametrize("method", SUPPRESSION_METHODS)
def test_no_primaries_no_secondaries(method: type) -> None:
    found = method().protect(small(primary=np.zeros(16, dtype=bool)), time_limit=5)
    assert (found.cost, int(found.pattern.sum()), found.bound) == (0.0, 0, 0.0)


def test_forced_secondary_stays_hidden_and_is_paid() -> None:
    forced = np.zeros(16, dtype=bool)
    forced[5] = True
    problem = small().with_status(forced, CellStatus.SECONDARY)
    found = Optimal().protect(problem, time_limit=10)
    assert found.pattern[5]
    assert found.cost == pytest.approx(problem.cost[found.pattern & ~problem.primary].sum())


def test_earlier_pattern_is_preferred() -> None:
    problem = small()
    usual = Optimal().protect(problem, time_limit=10)
    earlier = np.zeros(16, dtype=bool)
    earlier[[6, 7, 10, 11]] = True  # a costlier rectangle
    again = Optimal().protect(problem, time_limit=10, earlier=earlier)
    assert again.pattern[[6, 7, 10]].all()
    assert again.cost > usual.cost
    assert again.bound is None


def test_costs() -> None:
    problem = small()
    assert costs_of(problem, "unity").sum() == 16
    assert costs_of(problem, "power", power=2.0)[11] == 22**2
    assert costs_of(problem, "log")[11] == pytest.approx(np.log(23))
    near = costs_of(problem, "distance")
    assert (near[[8, 9, 10, 3, 7, 15]] == 1).all()
    assert near[0] == 2
    with pytest.raises(ParameterError, match="needs the counts"):
        Heuristic(cost="frequency").protect(problem, time_limit=5)


def test_broken_problems_are_refused() -> None:
    with pytest.raises(DataError, match="outside the attacker's bounds"):
        small(lower_bound=5.0 + INNER[0, 0])
    with pytest.raises(DataError, match="must not be negative"):
        small(lower_protection=-1.0)
