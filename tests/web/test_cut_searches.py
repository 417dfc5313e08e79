"""A search that a time limit cut: the plan gets its recorded steps, and any machine that runs the plan gives the same bytes.

The pages' work is done in this process, where the clock is the test's own; the command line then has another clock.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from reticent.base import clock
from reticent.jobs.protect_file import judge_plan, read_file_plan
from reticent.jobs.protect_table import run_table_plans
from reticent.web.toml_text import parse
from web.asking import Bench

HASTE = 1e-7
"""Seconds that a very fast machine takes for each step: no time limit is ever reached."""


def _said(path: Path) -> dict[str, Any]:
    return parse(path.read_text(encoding="utf-8"), owner=path.name)


TABLE = """version = 1

[data]
path = "firms.csv"
schema = "firms.schema.toml"

[table]
dimensions = ["region", "size"]
response = "turnover"
rules = [{ rule = "threshold", minimum = 3 }]

[protect]
time_limit = 5

[output]
path = "firms.table.csv"
"""


def test_a_cut_search_for_a_table(tmp_path: Path) -> None:
    plan = tmp_path / "firms.table.toml"
    plan.write_text(TABLE, encoding="utf-8")
    bench = Bench(tmp_path, "firms")
    assert "Held" in bench.send("/audit", {"run": "1"})
    steps = _said(plan)["protect"]["search_steps"]
    assert steps >= 100
    assert "each run ends alike" in bench.get("/table")
    bench.send("/table", {"write": "1", "path": "firms.table.csv"})
    clicked = (tmp_path / "firms.table.csv").read_bytes()
    with clock.using(clock.StepClock(tick=HASTE)) as fast:
        run_table_plans(plan)
        assert fast.now() < HASTE * 100, "the search looked at a clock that is not its own"
    assert (tmp_path / "firms.table.csv").read_bytes() == clicked
    bench.send("/table", {"rules": "1", "rule.0.minimum": "4"})
    assert "search_steps" not in _said(plan)["protect"], "steps belong to the question that was run"
    assert "search_steps" in bench.send("/table", {"to": "undo"})


FILE = """version = 1

[data]
path = "people.csv"
schema = "people.schema.toml"
secret = "people.secret.key"

[[step]]
method = "reorder"
active = false

[[step]]
method = "generalize"
keys = ["sex", "age", "marital", "education"]
k = 3
time_limit = 0.035
%s

[risk]
attacks = ["recount"]
keys = ["sex", "education"]

[output]
path = "people.safe.csv"
"""


@pytest.mark.parametrize("local", ["", "local = true"])
def test_a_cut_search_for_a_file(survey: Path, local: str) -> None:
    data, plan = survey / "people.csv", survey / "people.plan.toml"
    data.write_text("".join(data.read_text(encoding="utf-8").splitlines(keepends=True)[:150]), encoding="utf-8")
    plan.write_text(FILE % local, encoding="utf-8")
    page = Bench(survey, "people").send("/protect", {"run": "1"})
    assert "each run ends alike" in page
    held = _said(plan)["step"][1]
    assert held["steps"] >= 1
    assert "time_limit" not in held
    with clock.using(clock.StepClock(tick=HASTE)):
        ours = judge_plan(read_file_plan(plan))
        plan.write_text(FILE % local, encoding="utf-8")
        uncut = judge_plan(read_file_plan(plan))
    assert _loss(page) == f"{ours.loss.score:.3g}" != f"{uncut.loss.score:.3g}", (
        "what was cut is repeated, not finished"
    )


def _loss(page: str) -> str:
    found = re.search(r"combined score ([\d.]+)", page)
    assert found
    return found[1]
