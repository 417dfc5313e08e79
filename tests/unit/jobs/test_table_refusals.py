"""Options and values that a table run refuses in one sentence, because it could not keep to them."""

import warnings
from pathlib import Path

import pytest

from attacks.noise_inputs import write_plan
from reticent.base.errors import DataError, PlanError
from reticent.jobs.protect_table import run_table_plan


@pytest.mark.parametrize("asked", ['insiders = "protect"', "coalition = 2"])
@pytest.mark.parametrize(
    "method", ['"adjust"', '"cell-key"', '"round"\nbase = 5', '"random-rounding"', '"small-counts"']
)
def test_methods_that_hide_nothing_promise_nothing_to_insiders(method: str, asked: str, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, f"method = {method}\n{asked}", secret="one")
    with pytest.raises(PlanError, match=f"{asked}: the method .* hides no cells") as caught:
        run_table_plan(plan)
    assert str(caught.value).count(". ") == 0
    assert not (tmp_path / "table.csv").exists()


@pytest.mark.parametrize(
    "value, said", [("", "blank entries"), (" ", "blank entries"), ("inf", "not finite"), ("1e400", "not finite")]
)
def test_finished_tables_need_a_finite_value_in_each_row(value: str, said: str, tmp_path: Path) -> None:
    """A blank was read as 0, and infinity gave warnings before the error."""
    (tmp_path / "cells.csv").write_text(f"area,value\nTotal,30\na,10\nb,20\nc,{value}\n")
    (tmp_path / "plan.toml").write_text(
        '[data]\npath = "cells.csv"\n[table]\ndimensions = ["area"]\nfinished = { value = "value" }\n'
        '[protect]\nmethod = "heuristic"\n[output]\npath = "table.csv"\n'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match=f"cells.csv, line 5: column 'value' has 1 .*{said}"):
            run_table_plan(tmp_path / "plan.toml")
