"""The walks of ARCHITECTURE.md: each step is a function of its file, none goes up again, none is long."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "reticent"
LONGEST = 12
_STEP = re.compile(r"^(\d+)\. `([\w/]+\.py)` → `(\w+)`")


def _walks() -> dict[str, list[tuple[str, str]]]:
    """The numbered lists, by the words in bold that they stand below."""
    found: dict[str, list[tuple[str, str]]] = {}
    name = ""
    for line in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("\n"):
        title = re.match(r"\*\*(.+?)\.?\*\*", line)
        name = title.group(1) if title else name
        step = _STEP.match(line)
        if step:
            found.setdefault(name, []).append((step.group(2), step.group(3)))
    return found


def _ranks() -> dict[str, int]:
    """The floor of each package, from the import contract; the top is 0."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    return {name.strip(): rank for rank, layer in enumerate(layers) for name in layer.split("|")}


WALKS = _walks()


def test_there_are_walks() -> None:
    assert {"A file", "A table", "A query", "A batch file of tau-ARGUS", "An exploration"} == set(WALKS)


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_goes_down_and_every_step_is_there(name: str) -> None:
    steps, ranks = WALKS[name], _ranks()
    assert len(steps) <= LONGEST
    floors = [ranks[path.partition("/")[0]] for path, _ in steps]
    assert floors == sorted(floors), "the walk goes up again"
    for path, function in steps:
        tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
        named = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        assert function in named, f"{path} has no {function}"


@pytest.mark.parametrize("name", WALKS)
def test_every_step_is_called_on_the_way(name: str) -> None:
    """The file of some earlier step names the function."""
    steps = WALKS[name]
    for at, (path, function) in enumerate(steps[1:], start=1):
        before = [(SOURCE / one).read_text(encoding="utf-8") for one, _ in steps[:at] if one != path]
        assert any(re.search(rf"\b{function}\b", text) for text in before), f"nobody before calls {function}"
