"""A plan that names no streams is held to what its last run recorded, and says so where nothing is recorded."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reticent.base.errors import PlanError
from reticent.base.randomness import STREAM_VERSION
from reticent.jobs.protect_file import run_file_plan
from reticent.jobs.protect_querylog import read_log_plan, run_log_plan
from reticent.jobs.protect_table import run_table_plan

SECRET = "secret = 5\ntest_secret = true\n"
TABLE = '[table]\ndimensions = ["a", "b"]\n'
RISK = '[risk]\nmost = 1.0\naccept_risk = "a test of records"\n'
RANDOM = '[protect]\nmethod = "random-rounding"\naccept_exposed = true\n'
HIDDEN = '[[table.rules]]\nrule = "threshold"\nminimum = 2\n[protect]\nmethod = "primary-only"\naccept_exposed = true\n'
RECORDS = "a,b\n" + "x,p\n" * 4 + "x,q\n" * 3 + "y,p\n" * 5 + "y,q\n" * 3
LOG = "user,query\n" + "".join(f"u{n},{word} shoes\n" for n in range(6) for word in ("red", "blue"))
TREE = "1\t0\tclothes\n2\t1\tshoes\n"

Run = Callable[[Path], object]
PLANS: dict[str, tuple[str, Run]] = {
    "file": (RISK + '[[step]]\nmethod = "recode"\nvariable = "a"\nmap = {x = "z", y = "z"}\n', run_file_plan),
    "table": (TABLE + RANDOM, run_table_plan),
    "hidden": (TABLE + HIDDEN, run_table_plan),
}
DRAWS = ("file", "table")


def written(folder: Path, kind: str, *, streams: str = "", summary: str = 'summary = "s.json"\n') -> Path:
    (folder / "d.csv").write_text(RECORDS, encoding="utf-8")
    plan = folder / "plan.toml"
    body, _ = PLANS[kind]
    plan.write_text(
        f'[data]\npath = "d.csv"\n{SECRET}{streams}{body}[output]\npath = "safe.csv"\n{summary}', encoding="utf-8"
    )
    return plan


def recorded_as(folder: Path, version: int | None) -> None:
    """As if a run of another version of the program had written the summary."""
    path = folder / "s.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    assert plain.pop("streams") == STREAM_VERSION
    path.write_text(json.dumps(plain if version is None else {**plain, "streams": version}), encoding="utf-8")


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("version", [None, STREAM_VERSION + 1], ids=["0.1.0", "later"])
def test_another_version_does_not_draw_again(tmp_path: Path, kind: str, version: int | None) -> None:
    plan, run = written(tmp_path, kind), PLANS[kind][1]
    run(plan)
    first = (tmp_path / "safe.csv").read_bytes()
    run(plan)  # the same version repeats its draws
    assert (tmp_path / "safe.csv").read_bytes() == first
    recorded_as(tmp_path, version)
    with pytest.raises(PlanError) as caught:
        run(plan)
    assert f"s.json is of a run that drew random streams of version {version or 1}" in str(caught.value)
    assert f"write streams = {STREAM_VERSION} under [data]" in str(caught.value)
    assert caught.value.option == "streams"
    run(written(tmp_path, kind, streams=f"streams = {STREAM_VERSION}\n"))
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))["streams"] == STREAM_VERSION


def test_a_pattern_that_nothing_draws_is_not_held_to_streams(tmp_path: Path) -> None:
    plan = written(tmp_path, "hidden")
    run_table_plan(plan)
    recorded_as(tmp_path, STREAM_VERSION + 1)
    run_table_plan(plan)


@pytest.mark.parametrize("kind", PLANS)
def test_a_run_without_a_record_says_what_to_write(tmp_path: Path, kind: str) -> None:
    run = PLANS[kind][1]
    found = run(written(tmp_path, kind, summary=""))
    notes = found.result.notes if kind == "file" else found.notes  # type: ignore[attr-defined]
    assert any(f"write streams = {STREAM_VERSION} under [data]" in note for note in notes) == (kind in DRAWS)
    named = run(written(tmp_path, kind, summary="", streams=f"streams = {STREAM_VERSION}\n"))
    notes = named.result.notes if kind == "file" else named.notes  # type: ignore[attr-defined]
    assert not any("streams" in note for note in notes)


def test_a_file_that_is_no_summary_is_no_record(tmp_path: Path) -> None:
    plan = written(tmp_path, "table")
    for text in ("no JSON", "[]", '{"streams": "two"}'):
        (tmp_path / "s.json").write_text(text, encoding="utf-8")
        run_table_plan(plan)


def test_a_query_log_is_held_to_its_record(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(LOG, encoding="utf-8")
    (tmp_path / "tree.tsv").write_text(TREE, encoding="utf-8")
    (tmp_path / "s.json").write_text('{"streams": 1}', encoding="utf-8")
    (tmp_path / "plan.toml").write_text(
        f'[data]\npath = "log.csv"\n{SECRET}[taxonomy]\npath = "tree.tsv"\n[output]\npath = "o.csv"\nsummary = "s.json"\n',
        encoding="utf-8",
    )
    with pytest.raises(PlanError, match="drew random streams of version 1"):
        run_log_plan(read_log_plan(tmp_path / "plan.toml"))
