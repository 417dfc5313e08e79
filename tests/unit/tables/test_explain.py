"""Why a cell is hidden and what could be hidden instead."""

import numpy as np
import pytest

from reference.tables import crossed, flat
from reticent.base.errors import ParameterError
from reticent.data.cells import CellStatus
from reticent.tables.attack import audit
from reticent.tables.attack.reveal import reveal
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Optimal
from reticent.tables.suppression.explain import what_if, why

INNER = np.array([[20.0, 50, 10], [8, 19, 22], [17, 32, 12]])


@pytest.fixture
def solved() -> tuple[SuppressionProblem, np.ndarray]:
    values, relations = crossed([flat(3), flat(3)], INNER)
    primary = np.zeros(16, dtype=bool)
    primary[11] = True
    level = np.where(primary, 4.0, 0.0)
    problem = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=level, upper_protection=level
    )
    return problem, Optimal().protect(problem).pattern


def test_why_names_the_primary_and_the_relations(solved: tuple) -> None:
    problem, pattern = solved
    assert np.flatnonzero(pattern).tolist() == [9, 11, 13, 15]
    found = why(problem, pattern, 9)
    assert found.guards == (11,)
    assert (found.revelations[0].low, found.revelations[0].high) == (22, 22)
    # row II (cells 8 to 11) alone gives it away
    assert found.revelations[0].relations == (reveal(problem, pattern & (np.arange(16) != 9), 11).relations)
    row = problem.relations.row(found.revelations[0].relations[0])[0].tolist()
    assert row == [8, 9, 10, 11]
    assert "guards 11" in found.sentence()
    assert why(problem, pattern, 11).primary


def test_what_if_hides_something_else_and_stays_safe(solved: tuple) -> None:
    problem, pattern = solved
    found = what_if(problem, pattern, 9)
    assert found.possible
    assert 9 in found.show
    after = pattern.copy()
    after[list(found.hide)] = True
    after[list(found.show)] = False
    assert audit(problem, after).n_exposed == 0
    assert found.cost_after == problem.cost[after & ~problem.primary].sum() >= found.cost_before
    assert "To publish cell 9, hide" in found.sentence()


def test_what_if_impossible(solved: tuple) -> None:
    problem, pattern = solved
    others = ~pattern
    closed = problem.with_status(others, CellStatus.FROZEN)
    found = what_if(closed, pattern, 9)
    assert not found.possible
    assert "cannot be protected" in found.sentence()


def test_only_hidden_cells(solved: tuple) -> None:
    with pytest.raises(ParameterError, match="is not hidden"):
        why(*solved, 0)
