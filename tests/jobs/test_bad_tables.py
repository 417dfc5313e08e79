"""Bad input of tables, through the real command line: one sentence, the exit code, nothing written, no value shown."""

from pathlib import Path

import pytest

from reference.spoiling import Case, both, call, check, drop, edit, files_up_to, put, snapshot

HIDDEN_VALUE = "731.25"
FIRMS = """\
firm,industry,region,turnover,asks
f1,A1,N,731.25,0
f2,A1,N,20,0
f3,A1,S,30,0
f4,A2,S,41,0
f5,A2,N,52,1
f6,B1,S,63,0
f7,B1,S,74,0
f8,B1,N,85,0
"""
SCHEMA = """\
[[variable]]
name = "firm"
role = "entity"
[[variable]]
name = "industry"
hierarchy = { digits = [1, 1] }
[[variable]]
name = "region"
[[variable]]
name = "turnover"
kind = "numeric"
[[variable]]
name = "asks"
"""
PLAN = """\
[data]
path = "firms.csv"
schema = "firms.toml"
[table]
dimensions = ["industry", "region"]
response = "turnover"
rules = [{ rule = "p-percent", p = 15 }, { rule = "threshold", minimum = 2, protection = 20 }]
bounds = { lower = 0, upper = "1.5 max" }
[protect]
method = "primary-only"
accept_exposed = true
[output]
path = "table.csv"
report = "table.html"
summary = "table.json"
"""
TABLE = ("table", "plan.toml")


def case(change: object, code: int, words: str, command: tuple[str, ...] = TABLE) -> Case:
    return Case(change, code, words, command)  # type: ignore[arg-type]


CASES = {
    "exposed cells": case(edit("plan.toml", "accept_exposed = true\n", ""), 5, "nothing was written"),
    "missing data": case(drop("firms.csv"), 3, "firms.csv: there is no such file"),
    "missing plan": case(drop("plan.toml"), 2, "plan.toml: there is no such file"),
    "no table section": case(edit("plan.toml", "[table]", "[tabel]"), 2, "Did you mean 'table'?"),
    "unknown dimension": case(edit("plan.toml", '"region"', '"regoin"'), 3, "Did you mean 'region'?"),
    "dimension twice": case(edit("plan.toml", '"industry", "region"', '"region", "region"'), 2, "'region' twice"),
    "no dimension": case(edit("plan.toml", '["industry", "region"]', "[]"), 2, "at least one"),
    "unknown response": case(edit("plan.toml", '"turnover"', '"turnovr"'), 3, "Did you mean 'turnover'?"),
    "response of text": case(edit("plan.toml", '"turnover"', '"asks"'), 3, "asks"),
    "unknown rule": case(edit("plan.toml", '"p-percent"', '"p-procent"'), 2, "Did you mean 'p-percent'?"),
    "rule parameter out of range": case(edit("plan.toml", "p = 15", "p = -3"), 2, "p must be"),
    "misspelt rule option": case(edit("plan.toml", "minimum", "minimun"), 2, "Did you mean 'minimum'?"),
    "bad bounds": case(edit("plan.toml", '"1.5 max"', '"a lot"'), 2, "upper"),
    "misspelt table option": case(edit("plan.toml", "response", "respons"), 2, "Did you mean 'response'?"),
    "unknown method": case(edit("plan.toml", '"primary-only"', '"primary"'), 2, "Did you mean 'primary-only'?"),
    "unknown method option": case(edit("plan.toml", "accept_exposed", "accept_expose"), 2, "accept_expose"),
    "plan of a file": case(put("plan.toml", PLAN + '[[step]]\nmethod = "recode"\n'), 2, "reticent protect"),
    "hierarchy lacks a code": case(
        both(edit("firms.toml", "{ digits = [1, 1] }", '{ file = "i.hrc" }'), put("i.hrc", "A\n@A1\n@A2\n")), 3, "industry"
    ),
    "negative time limit": case(edit("plan.toml", "accept_exposed", "time_limit = -1\naccept_exposed"), 2, "time_limit"),
    "missing hierarchy file": case(
        edit("plan.toml", '"industry", ', '{ variable = "industry", hierarchy = "i.hrc" }, '), 3, "i.hrc: there is no such file"
    ),
    "missing a-priori file": case(edit("plan.toml", "[protect]", 'a_priori = "a.hst"\n[protect]'), 3, "a.hst: there is no"),
    "output folder missing": case(edit("plan.toml", '"table.json"', '"no/table.json"'), 3, "make it first"),
    "output of an unknown ending": case(edit("plan.toml", '"table.csv"', '"table.doc"'), 2, "must end in one of .sdmx.csv"),
    "output twice": case(edit("plan.toml", '"table.json"', '"table.csv"'), 2, "two results"),
    "no output": case(put("plan.toml", PLAN.split("[output]")[0]), 2, "[output] names no file"),
    "schema for a table": case(edit("plan.toml", "summary =", 'schema = "s.toml"\nsummary ='), 2, "no schema file"),
    "ragged data": case(put("firms.csv", FIRMS + "f9,A1\n"), 3, "must have 5 fields"),
    "text in the response": case(put("firms.csv", FIRMS.replace("63", "6x")), 3, "not numbers"),
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small table that runs; each case spoils it."""
    (tmp_path / "firms.csv").write_text(FIRMS)
    (tmp_path / "firms.toml").write_text(SCHEMA)
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table_runs(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(monkeypatch, *TABLE) == 0
    assert HIDDEN_VALUE not in (project / "table.csv").read_text()


@pytest.mark.parametrize("name", list(CASES))
def test_bad_table(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    check(CASES[name], project, monkeypatch, capfd, hidden=HIDDEN_VALUE)


def test_a_writer_that_fails_leaves_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, *TABLE) == 0
    for name in ("table.csv", "table.html", "table.json"):
        (project / name).unlink()
    before = snapshot(project)
    capfd.readouterr()
    with files_up_to(4000):
        assert call(monkeypatch, *TABLE) == 3
    lines = capfd.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert "cannot be written" in lines[0]
    assert snapshot(project) == before
