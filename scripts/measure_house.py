# SPDX-License-Identifier: Apache-2.0
"""Measure the house: lines in jobs, sizes of files and functions, parameters, tests against source. Prints one table.

python scripts/measure_house.py [SOURCE [TESTS]]
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(folder: Path) -> Iterator[tuple[Path, Function]]:
    """Every function of a package."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                yield path, node


def length(node: Function) -> int:
    """Lines of a function without its docstring."""
    first = node.body[0]
    doc = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(node) else 0
    return (node.end_lineno or 0) - node.lineno + 1 - doc


def parameters(node: Function) -> int:
    """Parameters of a function, `self` and `cls` not counted."""
    named = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len([name for name in named if name not in ("self", "cls")])


def percentile(numbers: list[int], share: float) -> int:
    """The number below which so large a share lies."""
    return sorted(numbers)[min(int(share * len(numbers)), len(numbers) - 1)]


def measure(source: Path, tests: Path) -> dict[str, object]:
    """All measures of a package and its tests."""
    found = list(functions(source))
    lengths, counts = [length(node) for _, node in found], [parameters(node) for _, node in found]
    sizes = {path: path.read_text(encoding="utf-8").count("\n") for path in source.rglob("*.py")}
    tested = sum(path.read_text(encoding="utf-8").count("\n") for path in tests.rglob("*.py"))
    jobs = {path: lines for path, lines in sizes.items() if "jobs" in path.parts}
    return {
        "lines of source": sum(sizes.values()),
        "lines of jobs": sum(jobs.values()),
        "longest job": max(jobs.values(), default=0),
        "longest file": max(sizes.values()),
        "files above 450 lines": sum(lines > 450 for lines in sizes.values()),
        "functions": len(found),
        "function length, 95 %": percentile(lengths, 0.95),
        "longest function": max(lengths),
        "functions above 70 lines": sum(one > 70 for one in lengths),
        "parameters, 95 %": percentile(counts, 0.95),
        "most parameters": max(counts),
        "tests / source": round(tested / sum(sizes.values()), 2),
    }


if __name__ == "__main__":
    given = [Path(text) for text in sys.argv[1:]]
    source, tests = (*given, *(ROOT / "src" / "reticent", ROOT / "tests")[len(given) :])
    for name, value in measure(source, tests).items():
        print(f"{name:<28}{value}")
