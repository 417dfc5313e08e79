"""A step that is switched off is checked like the others and left out of the run."""

from pathlib import Path

import pytest

from reticent.base.errors import PlanError
from reticent.data.plan import plan_from_table
from reticent.microdata.mask import METHODS


def _plan(**step: object) -> object:
    table = {
        "data": {"path": "a.csv"},
        "step": [{"method": "recode", "variable": "age", **step}, {"method": "reorder"}],
    }
    return plan_from_table(table, METHODS, owner="plan.toml", folder=Path("."))


def test_a_step_switched_off_is_left_out() -> None:
    assert [step.name for step in _plan(level=1).steps] == ["recode", "reorder"]
    assert [step.name for step in _plan(level=1, active=True).steps] == ["recode", "reorder"]
    assert [step.name for step in _plan(level=1, active=False).steps] == ["reorder"]


@pytest.mark.parametrize("active", [1, "no", []])
def test_only_true_and_false_switch(active: object) -> None:
    with pytest.raises(PlanError, match="step 1 .recode.: active must be true or false"):
        _plan(level=1, active=active)


def test_a_wrong_step_is_refused_even_if_switched_off() -> None:
    with pytest.raises(PlanError, match="level must be at least 0"):
        _plan(level=-1, active=False)


def test_a_step_that_is_no_table_is_refused() -> None:
    with pytest.raises(PlanError, match="step 1 must be a table of options"):
        plan_from_table({"data": {"path": "a"}, "step": ["recode"]}, METHODS, owner="plan.toml", folder=Path("."))
