"""The shape of the code base: layers, sizes, documentation, light imports."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import reticent

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "reticent"
FILES = sorted(SOURCE.rglob("*.py"))
MAX_FILE, MAX_FUNCTION = 450, 70


def _functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_layers_and_fences() -> None:
    """The import contract of pyproject.toml holds."""
    run = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT / "src"), "PATH": ""},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_sizes_and_docstrings(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "every file says what it is for"
    assert text.count("\n") <= MAX_FILE
    for node in _functions(tree):
        doc = node.body[0].end_lineno - node.body[0].lineno + 1 if ast.get_docstring(node) else 0
        assert node.end_lineno - node.lineno + 1 - doc <= MAX_FUNCTION, f"{node.name} is too long"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} needs a docstring"


def test_exports_exist() -> None:
    for name in reticent.__all__:
        assert getattr(reticent, name) is not None


HEAVY = ("numpy", "polars", "pandas", "pyarrow", "numba", "scipy", "highspy", "sklearn", "matplotlib", "sqlalchemy",
         "sqlglot", "duckdb", "opendp", "pyreadstat", "typer", "rich")  # fmt: skip


def test_import_is_light() -> None:
    """`import reticent` loads no third-party library at all."""
    code = f"import sys, reticent; print([m for m in {HEAVY!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                         env={"PYTHONPATH": str(ROOT / "src")})  # fmt: skip
    assert run.stdout.strip() == "[]"
