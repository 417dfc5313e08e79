"""A search that a time limit cut: the plan gets its recorded steps, and any machine that runs the plan gives the same bytes.

The pages' work is done in this process, where the clock is the test's own; the command line then has another clock.
"""

import hashlib
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
SLOW = 0.05
"""Seconds that a slow one takes: limits are reached soon."""


def _said(path: Path) -> dict[str, Any]:
    return parse(path.read_text(encoding="utf-8"), owner=path.name)


TABLE = """version = 1

[data]
path = "firms.csv"
schema = "firms.schema.toml"
secret = "firms.secret.key"

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
    assert "each run gives the same result" in bench.get("/table")
    bench.send("/table", {"write": "1", "path": "firms.table.csv"})
    clicked = (tmp_path / "firms.table.csv").read_bytes()
    with clock.using(clock.StepClock(tick=HASTE)) as fast:
        run_table_plans(plan)
        assert fast.now() < HASTE * 100, "the search looked at a clock that is not its own"
    assert (tmp_path / "firms.table.csv").read_bytes() == clicked
    bench.send("/table", {"rules": "1", "rule.0.minimum": "4"})
    assert "search_steps" not in _said(plan)["protect"], "steps belong to the question that was run"
    assert "search_steps" in bench.send("/table", {"to": "undo"})


def test_a_table_that_was_never_run_is_written_by_recorded_steps(tmp_path: Path) -> None:
    """Writing and releasing say where the search ended first, however short it was."""
    plan = tmp_path / "firms.table.toml"
    plan.write_text(TABLE, encoding="utf-8")
    (tmp_path / "firms.secret.key").write_text(
        hashlib.sha256(b"a secret of tests").hexdigest() + "\n", encoding="utf-8"
    )
    bench = Bench(tmp_path, "firms")
    bench.send("/table", {"write": "1", "path": "firms.table.csv"})
    page = bench.get("/table")
    assert "publishable" in page, re.sub(r"(?s)^.*<main|<[^>]*>", "", page)
    assert _said(plan)["protect"]["search_steps"] >= 100
    clicked = (tmp_path / "firms.table.csv").read_bytes()
    with clock.using(clock.StepClock(tick=HASTE)):
        run_table_plans(plan)
    assert (tmp_path / "firms.table.csv").read_bytes() == clicked
    bench.send("/table", {"rules": "1", "rule.0.minimum": "4"})
    bench.send(
        "/release?plan=table",
        {"plan": "table", "ledger.path": "firms.ledger", "ledger.name": "a", "ledger.create": "on", "judge": "1"},
    )
    bench.get("/release?plan=table")
    held = _said(plan)["protect"]["search_steps"]
    bench.send("/release?plan=table", {"plan": "table", "release": "1"})
    page = bench.get("/release?plan=table")
    assert "Released: entry" in page, re.sub(r"(?s)^.*<main|<[^>]*>", "", page)
    assert _said(plan)["protect"]["search_steps"] == held


FILE = """version = 1

[data]
path = "people.csv"
schema = "people.schema.toml"
secret = "people.secret.key"

[[step]]
method = "reorder"
active = false

[[step]]
%s

[risk]
attacks = ["recount"]
keys = ["sex", "education"]

[output]
path = "people.safe.csv"
"""
GENERALIZE = """method = "generalize"
keys = ["sex", "age", "marital", "education"]
k = 3
time_limit = 0.1
"""
MICROAGGREGATE = """method = "microaggregate"
variables = ["age", "income"]
partition = "best"
proposals = 400000
strata = ["sex"]
time_limit = 0.3
"""


@pytest.mark.parametrize(
    "step", [GENERALIZE, GENERALIZE + "local = true\n", MICROAGGREGATE], ids=["global", "local", "groups"]
)
def test_a_cut_search_for_a_file(survey: Path, step: str) -> None:
    data, plan = survey / "people.csv", survey / "people.plan.toml"
    data.write_text("".join(data.read_text(encoding="utf-8").splitlines(keepends=True)[:150]), encoding="utf-8")
    plan.write_text(FILE % step, encoding="utf-8")
    bench = Bench(survey, "people")
    with clock.using(clock.StepClock(tick=SLOW)):
        page = bench.send("/protect", {"run": "1"})
    assert "each run gives the same result" in page
    held = _said(plan)["step"][1]
    assert held["steps"] >= 1
    assert "time_limit" not in held
    with clock.using(clock.StepClock(tick=HASTE)):
        ours = judge_plan(read_file_plan(plan))
        plan.write_text(FILE % step, encoding="utf-8")
        uncut = judge_plan(read_file_plan(plan))
    assert _loss(page) == f"{ours.loss.score:.3g}" != f"{uncut.loss.score:.3g}", (
        "what was cut is repeated, not finished"
    )


def _loss(page: str) -> str:
    found = re.search(r"combined score ([\d.]+)", page)
    assert found
    return found[1]
