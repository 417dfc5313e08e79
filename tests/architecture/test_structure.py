"""The shape of the code base: layers, sizes, documentation, light imports."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import reticent
from architecture.parsed import tree_of

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "reticent"
FILES = sorted(SOURCE.rglob("*.py"))
MAX_FILE, MAX_FUNCTION = 450, 70
LICENSE = "# SPDX-License-Identifier: Apache-2.0\n"
MAX_PARAMETERS, MAX_OF_KERNELS, USUAL_PARAMETERS = 7, 12, 6


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
    assert text.startswith(LICENSE), f"the first line of a file is {LICENSE!r}"
    tree = tree_of(path)
    assert ast.get_docstring(tree), "every file says what it is for"
    assert text.removeprefix(LICENSE).count("\n") <= MAX_FILE
    for node in _functions(tree):
        doc = node.body[0].end_lineno - node.body[0].lineno + 1 if ast.get_docstring(node) else 0
        assert node.end_lineno - node.lineno + 1 - doc <= MAX_FUNCTION, f"{node.name} is too long"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} needs a docstring"


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    named = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len([name for name in named if name not in ("self", "cls")])


def _most_parameters(path: Path) -> int | None:
    """Kernels take arrays one by one; commands have no limit, because their parameters are the options of their help."""
    room = path.relative_to(SOURCE).parts[0]
    return {"cli": None, "kernels": MAX_OF_KERNELS}.get(room, MAX_PARAMETERS)


def test_parameters_are_few() -> None:
    """95 of 100 functions have at most six, none more than its room allows."""
    counts, too_many = [], []
    for path in FILES:
        for node in _functions(tree_of(path)):
            counts.append(_parameters(node))
            limit = _most_parameters(path)
            if limit is not None and counts[-1] > limit:
                too_many.append(f"{path.relative_to(SOURCE)}: {node.name} has {counts[-1]}, at most {limit}")
    assert not too_many, "group them: " + "; ".join(too_many)
    assert sorted(counts)[int(0.95 * len(counts))] <= USUAL_PARAMETERS


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


def test_help_is_light() -> None:
    """The help of the command line needs what draws it, and nothing that computes."""
    heavy = tuple(name for name in HEAVY if name not in ("typer", "rich"))
    code = (
        "import sys; sys.argv = ['reticent', '--help']\n"
        "from reticent.cli.main import run\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        f"print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                         env={"PYTHONPATH": str(ROOT / "src")})  # fmt: skip
    assert "protect" in run.stdout
    assert run.stderr.strip() == "[]"
