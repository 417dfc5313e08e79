"""Worked examples of the attacker's intervals."""

import numpy as np
import pytest

from reference.tables import crossed, flat
from reticent.tables.attack import audit
from reticent.tables.problem import SuppressionProblem

INVESTMENTS = np.array([[20.0, 50, 10], [8, 19, 22], [17, 32, 12]])


def investments(low: float, high: float) -> tuple[SuppressionProblem, np.ndarray]:
    values, relations = crossed([flat(3), flat(3)], INVESTMENTS)
    grid = np.arange(16).reshape(4, 4)
    hidden = np.zeros(16, dtype=bool)
    hidden[[grid[2, 1], grid[2, 3], grid[3, 1], grid[3, 3]]] = True
    primary = np.zeros(16, dtype=bool)
    primary[grid[2, 3]] = True
    problem = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_bound=low * values, upper_bound=high * values
    )
    return problem, hidden


@pytest.mark.parametrize("low, high, interval", [(0.0, np.inf, (5, 30)), (0.5, 1.5, (18, 26))])
def test_investments_table(low: float, high: float, interval: tuple[float, float]) -> None:
    """Erratum 1: the interval of (II, C) is [5, 30]; with ±50 % known of every hidden cell it is [18, 26]."""
    problem, hidden = investments(low, high)
    assert problem.values[[0, 4, 8, 12]].tolist() == [190, 80, 49, 61]
    found = audit(problem, hidden)
    place = found.cells.tolist().index(2 * 4 + 3)
    assert (found.low[place], found.high[place]) == pytest.approx(interval)
    assert found.n_exposed == 0


def test_the_same_hidden_cells_are_exposed_when_they_need_more() -> None:
    problem, hidden = investments(0.5, 1.5)
    needs = np.where(problem.primary, 5.0, 0.0)
    strict = SuppressionProblem.from_values(
        problem.values,
        problem.relations,
        primary=problem.primary,
        upper_protection=needs,
        lower_bound=problem.lower_bound,
        upper_bound=problem.upper_bound,
    )
    assert audit(strict, hidden).exposed_cells.tolist() == [11]


def test_primary_alone_is_exposed() -> None:
    problem, _ = investments(0.0, np.inf)
    found = audit(problem, problem.primary)
    assert (found.low[0], found.high[0]) == (22, 22)
    assert found.n_exposed == 1


def test_suppressed_table_of_delinquent_children() -> None:
    """SESRIC table 2.8: Gamma/Low (3) audits to [0, 9], Delta/Low (12) to [6, 15]."""
    inner = np.array([[15.0, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
    values, relations = crossed([flat(4), flat(4)], inner)
    grid = np.arange(25).reshape(5, 5)
    hidden = np.zeros(25, dtype=bool)
    hidden[
        [grid[1, 2], grid[1, 3], grid[1, 4], grid[3, 1], grid[3, 2], grid[3, 4], grid[4, 1], grid[4, 3], grid[4, 4]]
    ] = True
    primary = hidden & (values <= 3)
    problem = SuppressionProblem.from_values(values, relations, primary=primary, integral=True)
    found = audit(problem, hidden)
    ends = {int(c): (low, high) for c, low, high in zip(found.cells, found.low, found.high, strict=True)}
    assert ends[int(grid[3, 1])] == (0, 9)
    assert ends[int(grid[4, 1])] == (6, 15)
    assert found.n_exposed == 0
