"""Sole respondents of a cell: version 0.1.0 kept exact values from them, and let them come as close as they could.

`fixtures/v010/tables/insiders/out.csv` is what version 0.1.0 wrote for the plan beside it, without a word about firms inside.
f1 is alone in two cells and subtracts both; what is left is the cell B and a small one.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest

from attacks.insider_reader import placed
from attacks.response_reader import Published
from command_line import CommandLine
from reticent.base.errors import ParameterError, PlanError
from reticent.data.table_plan import read_table_plan
from reticent.jobs.protect_table import audit_plan, run_table_plans
from reticent.report.table_report import confidential_table_report
from reticent.tables.result import ProtectedTable

FIXTURE = Path(__file__).parent / "fixtures" / "v010" / "tables" / "insiders"
# no sum of hidden cells is unsafe here, yet f1 leaves B only the cell C: 115 above it, where 140 are needed
CLOSE = "a,firm,v\nA,f1,500\nB,f2,1000\nB,f3,30\nB,f4,10\nC,f5,40\nC,f6,40\nC,f7,35\nD,f8,300\nD,f9,310\nD,f10,290\n"
# f1 and f14 are alone in a cell each: one leaves the other, both leave nobody but B
PAIR = CLOSE + "E,f14,500\n"
REST = "F,f11,20000\nF,f12,21000\nF,f13,19500\n"
METHODS = ("heuristic", "optimal", "modular", "hypercube", "elimination", "network")


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


def written(folder: Path, **options: Any) -> Path:
    """The plan of the fixture with further options under [protect]."""
    for name in ("records.csv", "schema.toml"):
        shutil.copy(FIXTURE / name, folder / name)
    text = (FIXTURE / "plan.toml").read_text()
    for name, value in options.items():
        line = f"{name} = {value!r}".replace("'", '"')
        text = (
            text.replace('method = "optimal"', line)
            if name == "method"
            else text.replace("[output]", f"{line}\n[output]")
        )
    (folder / "plan.toml").write_text(text)
    return folder / "plan.toml"


def run(folder: Path, **options: Any) -> ProtectedTable:
    return run_table_plans(read_table_plan(written(folder, **options)))[0]


def found(path: Path, *, coalition: int = 1) -> list[tuple[tuple[str, ...], str, float, bool]]:
    published = Published([("v", path)])
    attack = placed(published, FIXTURE / "records.csv", "v", ("a",), coalition=coalition)
    return [(members, cell[1][0][1], share, exact) for members, cell, share, exact in attack]


@pytest.mark.parametrize("method", METHODS)
def test_a_holding_came_within_a_third_of_a_per_cent_and_is_kept_out(method: str, tmp_path: Path) -> None:
    ((members, cell, share, exact),) = found(FIXTURE / "out.csv")
    assert (members, cell, exact) == (("f1",), "B", False)
    assert share < 0.003  # the rule asks for 15 %
    result = run(tmp_path, method=method, insiders="protect")
    assert found(tmp_path / "out.csv") == []
    assert result.inside.state == "held"
    assert result.summary()["inside"] | {"attacked": 0} == {
        "asked": "protect", "state": "held", "cells": 0, "coalition": 1, "attacked": 0, "left_out": 0, "found": [],
            "differences": 0,
    }  # fmt: skip


def test_by_default_the_headline_says_how_many_cells_are_not_held(tmp_path: Path, reticent: CommandLine) -> None:
    plan = written(tmp_path)
    (tmp_path / "records.csv").write_text(CLOSE + REST)
    (result,) = run_table_plans(read_table_plan(plan))
    attack = placed(Published([("v", tmp_path / "out.csv")]), tmp_path / "records.csv", "v", ("a",))
    assert [(members, cell[1], exact) for members, cell, _, exact in attack] == [(("f1",), (("a", "B"),), False)]
    assert (result.inside.state, result.exposed) == ("not held", ())
    assert result.summary()["inside"]["state"] == "not held"
    assert result.summary()["inside"]["cells"] == 1
    words = "Sole respondents of a cell: not held; they find 1 other unsafe cell more closely than its level allows"
    assert words in confidential_table_report(result)
    assert words in " ".join(reticent("table", plan).out.split())


def test_two_who_join_are_kept_out_too(tmp_path: Path) -> None:
    for name, options in (("exact", {}), ("pair", {"coalition": 2}), ("both", {"coalition": 2, "insiders": "protect"})):
        folder = tmp_path / name
        folder.mkdir()
        plan = written(folder, **options)
        (folder / "records.csv").write_text(PAIR + REST)
        run_table_plans(read_table_plan(plan))
        published = Published([("v", folder / "out.csv")])
        attack = list(placed(published, folder / "records.csv", "v", ("a",), coalition=2))
        exactly = [members for members, _, _, exact in attack if exact]
        if name == "exact":
            assert exactly == [("f1", "f14")]
        elif name == "pair":
            assert attack
            assert not exactly
        else:
            assert not attack


def test_a_plan_without_protection_is_exposed_to_insiders_where_they_are_to_be_kept_out(tmp_path: Path) -> None:
    plan = written(tmp_path, method="primary-only", insiders="protect", accept_exposed=True)
    plan.write_text(plan.read_text().replace("True", "true"))
    result = audit_plan(plan)
    assert "B" in {result.table.name_of(cell) for cell in result.exposed}


def test_finished_tables_without_contributions_are_not_judged(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("a,v,n\nTotal,100,12\nA,40,1\nB,30,3\nC,30,8\n")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[data]\npath = "cells.csv"\n[table]\ndimensions = ["a"]\nfinished = { value = "v", count = "n" }\n'
        'rules = [{ rule = "threshold", minimum = 3 }]\n[protect]\nmethod = "optimal"\n[output]\npath = "o.csv"\n'
    )
    (result,) = run_table_plans(read_table_plan(plan))
    assert result.inside.state == "not judged"
    assert "not judged; who they are is not known here" in confidential_table_report(result)
    assert result.summary()["inside"]["state"] == "not judged"


@pytest.mark.parametrize("value", ["levels", "none", "Protect"])
def test_other_values_are_refused(value: str, tmp_path: Path, reticent: CommandLine) -> None:
    plan = written(tmp_path, insiders=value)
    with pytest.raises((PlanError, ParameterError), match="insiders must be one of"):
        run_table_plans(read_table_plan(plan))
    good = written(tmp_path)
    assert "insiders must be one of" in reticent("audit", good, "--insiders", value).sentence


def test_levels_need_singletons(tmp_path: Path) -> None:
    plan = written(tmp_path, insiders="protect")
    plan.write_text(plan.read_text().replace("[output]", "singletons = false\n[output]"))
    with pytest.raises(ParameterError, match="say singletons = true"):
        run_table_plans(read_table_plan(plan))
