"""Jobs on tables with Python objects: no file is read or written, and every summary is plain data."""

import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import ParameterError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import table_plan_from
from reticent.jobs.jj import AdjustNumbers, Attacker, RoundNumbers, audit_jj, audit_jj_inside, change_jj, suppress_jj
from reticent.jobs.protect_table import protect_table, run_table_plans
from reticent.tables.problem import SuppressionProblem
from reticent.tables.request import table_request
from reticent.tables.rules import Threshold
from reticent.tabulation.tabulate import tabulate
from table_makers import with_totals

SPEC = TableSpec((DimensionSpec("a"), DimensionSpec("b")), response="v")
RULES = (Threshold(minimum=3, protection=20),)


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, which a job on objects must leave empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def records() -> Microdata:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {"a": rng.choice(list("xyz"), 40).tolist(), "b": rng.choice(list("klm"), 40).tolist(),
         "v": rng.integers(1, 90, 40).astype(float)}
    )  # fmt: skip
    return Microdata.of(frame, Schema((Variable("a"), Variable("b"), Variable("v", kind=Kind.NUMERIC))))


def problem() -> SuppressionProblem:
    values, relations, ids = with_totals(np.array([[20, 50, 10], [8, 19, 22], [17, 32, 12]]))
    primary = np.zeros(len(values), dtype=bool)
    primary[ids[1, 2]] = True
    return SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=4.0, upper_protection=4.0, upper_bound=400.0
    )


def test_tables_of_records_finished_ones_and_requests(nowhere: Path) -> None:
    made = protect_table(records(), SPEC, rules=RULES)
    asked = protect_table(table_request(records(), SPEC, rules=RULES))
    finished = protect_table(tabulate(records(), SPEC), rules=RULES)
    assert made.counts() == asked.counts() == finished.counts()
    for result in (made, asked, finished):
        assert json.loads(json.dumps(result.summary()))["exposed"] == []
        assert result.published[0].counts()["hidden"] > 0
    with pytest.raises(ParameterError, match="says everything"):
        protect_table(table_request(records(), SPEC, rules=RULES), rules=RULES)
    assert os.listdir(nowhere) == []


def test_problems_without_a_file(nowhere: Path) -> None:
    found = suppress_jj(problem(), method="optimal")
    hidden = found.summary()["suppressed"]
    assert not any(row["exposed"] for row in audit_jj(problem(), hidden).values())
    alone = [cell for cell in hidden if not problem().primary[cell]][:1]
    inside = audit_jj_inside(problem(), hidden, alone, Attacker(insiders="protect"))
    assert {finding.cell for finding in inside.findings} <= set(np.flatnonzero(problem().primary).tolist())
    for how in (RoundNumbers(5), AdjustNumbers()):
        changed = change_jj(problem(), how, secret=bytes(range(9, 41)), test_secret=True)
        assert json.dumps(changed.summary())
    assert json.dumps(found.summary())
    assert os.listdir(nowhere) == []


def test_a_plan_that_is_no_file(nowhere: Path) -> None:
    """A plan made in Python names its data, and writes what it asks for and nothing else."""
    lines = ["a,v", *(f"{code},{value}" for code, value in zip("xxxyyyz", (5, 6, 7, 8, 9, 10, 70), strict=True))]
    (nowhere / "d.csv").write_text("\n".join(lines) + "\n")
    (nowhere / "s.toml").write_text('[[variable]]\nname = "a"\n[[variable]]\nname = "v"\nkind = "numeric"\n')
    described = {
        "data": {"path": "d.csv", "schema": "s.toml"},
        "table": {"dimensions": ["a"], "response": "v", "rules": [{"rule": "threshold", "minimum": 2}]},
        "output": {"path": "out.csv", "summary": "out.json"},
    }
    (result,) = run_table_plans(table_plan_from(described, owner="plan", folder=nowhere))
    assert sorted(os.listdir(nowhere)) == ["d.csv", "out.csv", "out.json", "s.toml"]
    assert json.loads((nowhere / "out.json").read_text()) == json.loads(json.dumps(result.summary()))
