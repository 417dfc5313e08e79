"""`reticent table --why` and `--what-if`: what a hidden cell guards and what could be hidden instead."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from reticent.base.errors import DataError, ParameterError
from reticent.cli.main import app
from reticent.jobs.protect_table import run_table_plan
from reticent.tables.result import ProtectedTable

FIRMS = Path(__file__).resolve().parents[3] / "src" / "reticent" / "demo_data"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("firms")
    for name in ("firms.csv", "firms.schema.toml", "firms.plan.toml"):
        (folder / name).write_text((FIRMS / name).read_text().replace("primary-only", "heuristic"))
    return folder / "firms.plan.toml"


@pytest.fixture(scope="module")
def result(plan: Path) -> ProtectedTable:
    return run_table_plan(plan)


@pytest.mark.slow
def test_cells_are_explained_by_their_codes(result: ProtectedTable) -> None:
    rows = result.intervals()
    secondary = next(row["cell"] for row in rows if row["status"] == "secondary")
    primary = next(row["cell"] for row in rows if row["status"] == "primary")
    words = result.why(*secondary)
    assert words.startswith(f"Cell {secondary[0]} × {secondary[1]} guards ")
    guarded = {" × ".join(row["cell"]) for row in rows if row["status"] == "primary"}
    assert words.split(" guards ")[1].split(";")[0].split(", ")[0] in guarded
    assert " = " in words.splitlines()[1]
    assert "is unsafe itself" in result.why(*primary)
    assert result.what_if(*secondary).startswith(f"To publish cell {secondary[0]} × {secondary[1]}, hide ")
    assert "cannot be published" in result.what_if(*primary)


def test_only_hidden_cells_have_a_reason(result: ProtectedTable) -> None:
    with pytest.raises(ParameterError, match="the cell Total × Total is not hidden"):
        result.why("Total", "Total")
    with pytest.raises(DataError, match="there is no code 'zzz'"):
        result.what_if("Total", "zzz")


@pytest.mark.slow
def test_the_command_line_explains(plan: Path, result: ProtectedTable) -> None:
    secondary = next(row["cell"] for row in result.intervals() if row["status"] == "secondary")
    codes = ";".join(secondary)
    shown = CliRunner().invoke(app, ["table", str(plan), "--why", codes, "--what-if", codes])
    assert shown.exit_code == 0
    assert "guards" in shown.output
    assert "To publish cell" in shown.output
