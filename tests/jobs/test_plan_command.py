"""`reticent plan`: a draft from a data file alone that runs, and one sentence where none can be made."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from command_line import CommandLine


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("people.csv", "firms.csv"):
        shutil.copy(str(files("reticent") / "starter_data" / name), tmp_path / name)
    return tmp_path


def test_a_table_is_planned_and_protected(reticent: CommandLine, folder: Path) -> None:
    drafted = reticent("plan", folder / "firms.csv", "--table")
    assert drafted.code == 0, drafted.err
    done = reticent(*drafted.out.rpartition("Next: reticent ")[2].split())
    assert done.code == 0, done.err
    assert (folder / "firms.table.csv").exists()


def test_nothing_is_replaced_unless_forced(reticent: CommandLine, folder: Path) -> None:
    (folder / "firms.table.toml").write_text("mine", encoding="utf-8")
    refused = reticent("plan", folder / "firms.csv", "--table")
    assert refused.code != 0
    assert "this plan exists; give another with -o, or say --force" in refused.err
    assert (folder / "firms.table.toml").read_text(encoding="utf-8") == "mine"
    assert reticent("plan", folder / "firms.csv", "--table", "--force", "--json", folder / "drafted.json").code == 0
    assert set(json.loads((folder / "drafted.json").read_text(encoding="utf-8"))) == {
        "plan",
        "schema",
        "secret",
        "next",
    }


@pytest.mark.parametrize("options", [(), ("--table",)])
def test_a_file_without_anything_to_know_is_one_sentence(
    reticent: CommandLine, tmp_path: Path, options: tuple[str, ...]
) -> None:
    rows = "\n".join(f"text number {at} of many" for at in range(90))
    (tmp_path / "notes.csv").write_text(f"remark\n{rows}\n", encoding="utf-8")
    refused = reticent("plan", tmp_path / "notes.csv", *options)
    assert refused.code != 0
    assert refused.err.count("\n") <= 1
    assert "plan again" in refused.err
    assert not (tmp_path / "notes.plan.toml").exists()


def test_a_plan_stands_beside_its_data(reticent: CommandLine, folder: Path) -> None:
    (folder / "other").mkdir()
    refused = reticent("plan", folder / "people.csv", "-o", folder / "other" / "people.plan.toml")
    assert "give a place in the folder of people.csv" in refused.err
