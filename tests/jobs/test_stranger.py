"""A stranger's first hour: from `reticent --help` to a protected file, a workbook and an answer, by printed commands only."""

import csv
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from command_line import CommandLine

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[[list[str]], str]


def commands(printed: str) -> list[list[str]]:
    """The commands that a text tells its reader to give, in their order."""
    joined = re.sub(r"\s*\n\s*", " ", printed) if "Usage" in printed else printed
    found = re.findall(r"(?:Next|workbook|about it|of your own): reticent ([^\n,]*(?:'[^']*')?[^\n,]*)", joined)
    return [shlex.split(line) for line in found]


def walk(run: Run, data: Path) -> None:
    """Follow what the tool says; each command but `--help` was printed by the one before."""
    (first,) = commands(run(["--help"]))
    assert first == ["plan", "DATA"]
    protect, table, database = commands(run(["plan", str(data)]))
    run(protect)
    folder = data.parent
    assert (folder / f"{data.stem}.safe.csv").stat().st_size > 0
    assert (folder / f"{data.stem}.public.html").stat().st_size > 0
    (make,) = commands(run(table))
    run(make)
    check_workbook(folder / f"{data.stem}.table.xlsx")
    (ask,) = commands(run(database))
    assert re.search(r"\d", run(ask))


def check_workbook(path: Path) -> None:
    """A table with codes of two levels below the total in its first dimension, and cells that are shown."""
    openpyxl = pytest.importorskip("openpyxl")
    rows = list(openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True))
    assert len(rows) > 3
    assert {"N", "N1"} <= {str(row[0]).strip() for row in rows} or {"20-39", "20-24"} <= {
        str(cell).strip() for row in rows for cell in row
    }
    assert any(isinstance(cell, int | float) for row in rows for cell in row)


def test_printed_commands_lead_to_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On generated people with a hierarchy of regions beside them, in this process."""
    shutil.copy(str(files("reticent") / "starter_data" / "people.csv"), tmp_path)
    tree = "N1;N;*\nN2;N;*\nS1;S;*\nS2;S;*\nS3;S;*\n"
    (tmp_path / "people_hierarchy_region.csv").write_text(tree, encoding="utf-8")
    line = CommandLine(capsys, monkeypatch)

    def run(words: list[str]) -> str:
        done = line(*words)
        assert done.code == 0, done.err
        return str(done.out)

    walk(run, tmp_path / "people.csv")
    plan = tomllib.loads((tmp_path / "people.plan.toml").read_text(encoding="utf-8"))
    assert plan["step"][0]["method"] == "remove-identifiers"
    assert plan["step"][-1]["method"] == "local-suppression"
    assert (tmp_path / "people.secret.key").stat().st_mode & 0o077 == 0


@pytest.mark.deep
def test_a_stranger_protects_adult_from_the_wheel(tmp_path: Path, shared: Path) -> None:
    """The built wheel in a new environment; Adult lies there with the hierarchies of ARX."""
    house, work = tmp_path / "house", tmp_path / "work"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(house), str(ROOT)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    (wheel,) = house.glob("reticent-*.whl")
    constraint = ["--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([python, *pip[1:], "install", *constraint, f"{wheel}[excel]"], check=True)
    work.mkdir()
    for source in (shared / "data" / "microdata" / "adult").glob("adult*"):
        (work / source.name).write_bytes(source.read_bytes())

    def run(words: list[str]) -> str:
        done = subprocess.run(
            [str(Path(python).with_name("reticent")), *words], cwd=work, text=True, capture_output=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home"), "COLUMNS": "200"}, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    walk(run, work / "adult.csv")
    with (work / "adult.safe.csv").open(encoding="utf-8", newline="") as file:
        assert sum(1 for _ in csv.reader(file, delimiter=";")) == 30_163
