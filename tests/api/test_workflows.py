"""Workflows that users of other tools bring along: dataframes only, at most ten lines each, run as they are written."""

import ast
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "workflows"
FILES = sorted(FOLDER.glob("*.py"))


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_workflow_runs_in_ten_lines(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path))
    assert capsys.readouterr().out
    tree = ast.parse(path.read_text())
    work = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)]
    work += [node for node in tree.body if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)]
    assert sum(node.end_lineno - node.lineno + 1 for node in work) <= 10
    deep = [
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and str(node.module).startswith("reticent.")
    ]
    assert not deep
