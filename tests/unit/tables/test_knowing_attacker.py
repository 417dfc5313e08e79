"""Hypercubes against an attacker who knows every cell within some per cent."""

import numpy as np
import pytest

from reference.tables import crossed, flat, full_intervals
from reticent.base.errors import ParameterError
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Hypercube
from reticent.tables.suppression.knowing import attainable, knowing, widened


def problem(inner: list[list[float]], primary: list[int], level: float) -> SuppressionProblem:
    values, relations = crossed([flat(len(inner)), flat(len(inner[0]))], np.array(inner, dtype=float))
    chosen = np.zeros(len(values), dtype=bool)
    chosen[primary] = True
    return SuppressionProblem.from_values(
        values, relations, primary=chosen, lower_protection=0.0, upper_protection=level, upper_bound=1000.0
    )


def test_what_is_known_beforehand() -> None:
    """Value ± per cent, but for zeros, and room for the levels of unsafe cells; never more than was open before."""
    given = problem([[0, 8], [4, 10]], [5], 6.0)  # cells: total, columns; row, 0, 8; row, 4, 10
    near = knowing(given, 50)
    assert given.values.tolist() == [22, 4, 18, 8, 0, 8, 14, 4, 10]
    assert near.lower_bound.tolist() == [11, 2, 9, 4, 0, 4, 7, 2, 5]
    assert near.upper_bound.tolist() == [33, 6, 27, 12, 1000, 14, 21, 6, 15]
    assert widened(given, 50) == 1
    assert widened(given, 75) == 0
    assert knowing(given, 20000).upper_bound.max() == 1000


@pytest.mark.parametrize("level, share", [(7.5, 1), (8, 1 / 2), (15, 1 / 2), (15.1, 1 / 3), (75, 1 / 10), (76, 0)])
def test_levels_that_cannot_be_kept_are_lowered_in_steps(level: float, share: float) -> None:
    """The unsafe zero can rise as far as the total of its row, 5 by 75 per cent, and its neighbour give way: 7.5."""
    near, lowered = attainable(knowing(problem([[0, 5], [40, 40]], [4], level), 75))
    assert lowered.tolist() == ([] if share == 1 else [4])
    assert near.upper_protection[4] == pytest.approx(share * level)


@pytest.mark.parametrize("singletons", [True, False])
def test_both_attackers_are_kept_out(singletons: bool) -> None:
    """Whoever knows little is kept as far as the level says, who knows all roughly as far as he can be."""
    given = problem([[0, 5, 1, 2], [40, 40, 60, 3], [20, 30, 7, 8]], [6], 20.0)
    found = Hypercube(known_within=75, singletons=singletons).protect(given, time_limit=5)
    near, lowered = attainable(knowing(given, 75))
    assert found.facts["lowered"] == (6,)
    assert lowered.tolist() == [6]
    assert full_intervals(given, found.hidden)[6][1] >= 20 - 1e-6
    level = near.upper_protection[6]
    assert level == 10
    assert full_intervals(near, found.hidden)[6][1] >= level - 1e-6
    assert found.bound is not None
    assert found.bound <= found.cost


def test_knowledge_costs_cells() -> None:
    """The levels of two cells in a row: ± 10 per cent of one partner is not enough for a level of 6."""
    given = problem([[30, 8, 9, 30], [40, 40, 60, 33], [20, 30, 47, 28]], [6], 6.0)
    plain = Hypercube().protect(given, time_limit=5)
    knows = Hypercube(known_within=10).protect(given, time_limit=5)
    assert knows.facts["lowered"] == ()
    assert full_intervals(knowing(given, 10), knows.hidden)[6][1] >= 36 - 1e-6
    assert full_intervals(knowing(given, 10), plain.hidden)[6][1] < 36
    assert knows.cost > plain.cost


def test_nobody_knows_within_nothing() -> None:
    with pytest.raises(ParameterError, match="known_within must be above 0, got 0"):
        Hypercube(known_within=0)
