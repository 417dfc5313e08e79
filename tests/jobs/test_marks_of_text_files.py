"""A protected file has the separator and the decimal mark that its plan asks for; a drafted plan has those of the data."""

import csv
import tomllib
from pathlib import Path

import pytest

from command_line import CommandLine

SCHEMA = """
[[variable]]
name = "region"
role = "key"
[[variable]]
name = "pay"
role = "other"
kind = "numeric"
decimals = 1
"""
PLAN = """
[data]
path = "a.csv"
schema = "a.schema.toml"
secret = 7
test_secret = true
[risk]
most = 1.0
attacks = ["recount"]
[output]
path = "{path}"
summary = "s.json"
{marks}
"""


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "".join(f"{'north' if at % 2 else 'south'};{at},5\n" for at in range(40))
    (tmp_path / "a.csv").write_text("region;pay\n" + rows, encoding="utf-8")
    (tmp_path / "a.schema.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


def test_marks_are_as_asked(reticent: CommandLine, folder: Path) -> None:
    text = PLAN.format(path="safe.csv", marks="separator = ';'\ndecimal = ','")
    (folder / "p.toml").write_text(text, encoding="utf-8")
    done = reticent("protect", folder / "p.toml")
    assert done.code == 0, done.err
    with (folder / "safe.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert {row["pay"] for row in rows} == {f"{at},5" for at in range(40)}


@pytest.mark.parametrize(
    ("path", "marks", "words"),
    [
        ("safe.csv", "decimal = ','", "a decimal comma needs another separator"),
        ("safe.csv", "separator = ','\ndecimal = ','", "a decimal comma needs another separator"),
        ("safe.parquet", "separator = ';'", "are for .csv files"),
        ("safe.csv", "separator = 'x'", "separator"),
    ],
)
def test_marks_that_cannot_be_are_one_sentence(
    reticent: CommandLine, folder: Path, path: str, marks: str, words: str
) -> None:
    (folder / "p.toml").write_text(PLAN.format(path=path, marks=marks), encoding="utf-8")
    refused = reticent("protect", folder / "p.toml")
    assert refused.code != 0
    assert words in refused.err
    assert refused.err.count("\n") == 1
    assert not (folder / path).exists()


def test_a_drafted_plan_writes_as_the_data_are(folder: Path) -> None:
    from reticent.jobs.draft import draft_file_plan

    drafted = draft_file_plan(folder / "a.csv")
    plan = tomllib.loads(drafted.plan.read_text(encoding="utf-8"))
    assert plan["output"]["separator"] == ";"
