"""Nothing in the source is there for tests alone: each public function and class is used by the source, or is public."""

import ast
import re
from collections import Counter
from pathlib import Path

from architecture.parsed import tree_of

ROOT = Path(__file__).resolve().parents[2]
QUOTED = ("attacker_error",)  # a formula that the manual quotes
PAGES = ("scripts", "benchmarks")  # pages of the manual and measurements are made with these

Definition = ast.FunctionDef | ast.ClassDef


def _words(node: ast.AST) -> list[str]:
    """Names that a piece of source uses: variables, attributes, renamed imports, and texts that may be looked up."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.ImportFrom):
        return [alias.name for alias in node.names if alias.asname not in (None, alias.name)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value] if node.value.isidentifier() else re.findall(r"^\w+:(\w+)$", node.value)
    return []


def _used(folder: Path) -> Counter[str]:
    used: Counter[str] = Counter()
    for path in folder.rglob("*.py"):
        for node in ast.walk(tree_of(path)):
            used.update(_words(node))
    return used


def _itself(definition: Definition) -> int:
    """How often a definition names itself, as recursion does."""
    return sum(_words(node).count(definition.name) for node in ast.walk(definition))


def test_every_public_definition_has_a_user() -> None:
    used = _used(ROOT / "src")
    for folder in PAGES:
        used += _used(ROOT / folder)
    dead = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in tree_of(path).body:
            if (
                not isinstance(node, Definition)
                or node.name.startswith("_")
                or (node.decorator_list and isinstance(node, ast.FunctionDef))
            ):
                continue  # what is decorated is registered
            if used[node.name] - _itself(node) < 1 and node.name not in QUOTED:
                dead.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert not dead, "used by nobody: give it a door, move it to tests/reference, or delete it"
