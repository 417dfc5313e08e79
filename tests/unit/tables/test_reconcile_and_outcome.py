"""Tables whose totals are off by rounding, and what methods that change values say of the change."""

import numpy as np
import pytest

from reticent.data.relations import Relations
from reticent.tables.outcome import change_facts, changed_values
from reticent.tables.problem import SuppressionProblem
from reticent.tables.reconcile import reconciled


def problem(values: list[float]) -> SuppressionProblem:
    relations = Relations.from_rows(4, [([0, 1, 2, 3], [1, 1, 1, -1])])
    return SuppressionProblem.from_values(np.array(values), relations, primary=np.array([True, False, False, False]))


def test_a_table_that_adds_up_is_left_alone() -> None:
    own = problem([1.0, 2.0, 3.0, 6.0])
    assert reconciled(own, np.array([True, True, False, False])) is own


def test_a_table_without_hidden_cells_is_left_alone() -> None:
    own = problem([1.0, 2.0, 3.0, 7.0])
    assert reconciled(own, np.zeros(4, bool)) is own


def test_hidden_values_are_moved_least_so_that_they_fit() -> None:
    """The parts are 1 short of the printed total: the hidden ones take it, published ones never move."""
    own = problem([1.0, 2.0, 3.0, 7.0])
    hidden = np.array([True, True, False, False])
    found = reconciled(own, hidden)
    assert found.values[2:].tolist() == [3.0, 7.0]
    assert float(np.abs(found.relations.residuals(found.values)).max()) < 1e-9
    assert float(np.abs(found.values - own.values).sum()) == pytest.approx(1.0)


def test_changes_are_counted_and_measured() -> None:
    true, values = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 4.0, 3.0, 3.0])
    assert change_facts(true, values) == {"changed": 2, "largest change": 2.0, "mean change": 0.75}
    assert change_facts(np.zeros(0), np.zeros(0)) == {"changed": 0, "largest change": 0.0, "mean change": 0.0}


def test_changed_values_hide_nothing_and_need_not_add_up() -> None:
    true, values = np.array([1.0, 2.0]), np.array([0.0, 4.0])
    found = changed_values(true, values, status="rounded", facts={"base": 2.0}, noise=True, levels=False)
    assert not found.hidden.any()
    assert found.cost == 3.0
    assert not found.additive
    assert (found.noise, found.levels, found.status) == (True, False, "rounded")
    assert found.facts["base"] == 2.0
    assert found.facts["changed"] == 2
