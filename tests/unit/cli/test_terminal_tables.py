"""Numbers on the terminal keep all their digits, however narrow it is."""

import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from reticent.base.words import THIN
from reticent.cli.grid import show_rows
from reticent.cli.main import app
from reticent.report.page import number

# the investments table of erratum 1 in a small currency, cell 11 unsafe
UNIT = 1_000_003
ROWS = [UNIT * v for v in (190, 45, 101, 44, 80, 20, 50, 10, 49, 8, 19, 22, 61, 17, 32, 12)]


@pytest.fixture
def jj(tmp_path: Path) -> Path:
    cells = [
        f"{i} {v} {v} {'u' if i == 11 else 's'} 0 {400 * UNIT} {4 * UNIT if i == 11 else 0} {4 * UNIT} 0"
        for i, v in enumerate(ROWS)
    ]
    lines = [[4 * r, *(4 * r + c for c in (1, 2, 3))] for r in range(4)]
    lines += [[c, *(4 * r + c for r in (1, 2, 3))] for c in range(4)]
    relations = [f"0 4 : {a} (-1) " + " ".join(f"{b} (1)" for b in rest) for a, *rest in lines]
    path = tmp_path / "investments.jj"
    path.write_text("\n".join(["0", "16", *cells, "8", *relations]) + "\n")
    return path


def printed(*arguments: str, width: int) -> str:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": str(width)})
    assert result.exit_code == 0, result.output
    assert "…" not in result.output
    return result.output


@pytest.mark.parametrize("width", [120, 80, 60, 40])
def test_suppress_shows_the_whole_cost(jj: Path, width: int) -> None:
    shown = printed("suppress", str(jj), "--method", "optimal", width=width)
    assert f"{37 * UNIT:,.2f}" in shown
    assert "secondaries" in shown
    assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize("width", [120, 80, 60, 40])
def test_audit_shows_whole_intervals(jj: Path, width: int) -> None:
    shown = printed("audit", str(jj), "--suppressed", "11", width=width)
    assert f"{22.0 * UNIT:,}".replace(",", THIN) in shown
    assert f"{18.0 * UNIT:,}".replace(",", " ") in " ".join(shown.split())


@pytest.mark.parametrize(
    "command", [["round", "--base", "5", "--kind", "rapid"], ["adjust", "--secret", "1", "--test-secret"]]
)
def test_changed_tables_show_the_whole_distance(jj: Path, tmp_path: Path, command: list[str]) -> None:
    out = tmp_path / "out.json"
    shown = printed(command[0], str(jj), *command[1:], "--json", str(out), width=12)
    distance = json.loads(out.read_text())["distance"]
    assert f"{'distance':>10}  {number(distance)}" in shown.splitlines()


def test_codes_with_brackets_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    for width in (60, 20):
        show_rows(Console(width=width), ("cell", "value"), [("[bold]", "1,234,567")], title="[red]", words=("cell",))
        shown = capsys.readouterr().out
        assert "[bold]" in shown
        assert "[red]" in shown
        assert "1,234,567" in shown


def test_several_rows_are_listed_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("a", "123,456,789.00", "1"), ("b", "987,654,321.00", "2")]
    show_rows(Console(width=30), ("cell", "value", "number"), rows)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["value", "123,456,789.00"] in lines
    assert ["value", "987,654,321.00"] in lines
