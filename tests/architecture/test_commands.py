"""Every command of the command line fetches what it was given, calls one job, and shows what that gave."""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
import typer

from reticent.cli.main import app

FOLDER = Path(__file__).resolve().parents[2] / "src" / "reticent" / "cli"
FLOORS = ("reticent.jobs", "reticent.api", "reticent.workbench")
AROUND = {"reticent.jobs.answers", "reticent.jobs.ledger.opened"}
"""No jobs of a command: where its answer as JSON goes, and a ledger that is open while it runs."""
Function = ast.FunctionDef
FILES = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.py"))}
FUNCTIONS = {
    (name, node.name): node for name, tree in FILES.items() for node in tree.body if isinstance(node, Function)
}


def _imported(nodes: Any) -> dict[str, str]:
    """What names stand for: reticent.jobs.jj.suppress_jj."""
    found = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {one.asname or one.name: f"{node.module}.{one.name}" for node in found for one in node.names}


def _chosen(function: Function, names: dict[str, str]) -> dict[str, str]:
    """Variables that stand for one of several jobs: job = one if check else other."""
    found = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp) and isinstance(node.targets[0], ast.Name):
            inner = [names.get(one.id, "") for one in ast.walk(node.value) if isinstance(one, ast.Name)]
            found[node.targets[0].id] = next((job for job in inner if job.startswith(FLOORS)), "")
    return found


def _calls(file: str, name: str, seen: set[tuple[str, str]]) -> list[str]:
    """The jobs that a function of the command line calls, itself or by other functions there; classes are data for them."""
    if (file, name) in seen:
        return []
    seen.add((file, name))
    function = FUNCTIONS[file, name]
    names = _imported(FILES[file].body) | _imported(ast.walk(function))
    names |= _chosen(function, names)
    found = []
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        target = names.get(node.func.id, f"reticent.cli.{file}.{node.func.id}")
        module, _, word = target.rpartition(".")
        if module.startswith("reticent.cli.") and (module.split(".")[-1], word) in FUNCTIONS:
            found += _calls(module.split(".")[-1], word, seen)
        elif target.startswith(FLOORS) and not {module, target} & AROUND and word[0].islower():
            found.append(target)
    return found


def _leaves(group: Any, name: str = "") -> dict[str, Any]:
    """All commands with their full names."""
    below = getattr(group, "commands", None)
    if below is None:
        return {name: group}
    return {full: one for word, part in below.items() for full, one in _leaves(part, f"{name} {word}".strip()).items()}


COMMANDS = _leaves(typer.main.get_command(app))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_one_call_of_a_job(name: str) -> None:
    """Exactly one call in the source, whatever the options: an option may choose which job that is."""
    function = inspect.unwrap(COMMANDS[name].callback)
    within = inspect.getclosurevars(function).nonlocals.get("work", function)  # a command on an open ledger
    found = _calls(within.__module__.split(".")[-1], within.__name__, set())
    assert len(found) == 1, found


def test_every_command_answers_as_json() -> None:
    """The workbench is not an answer: it runs until it is closed."""
    without = [
        name
        for name, command in COMMANDS.items()
        if not any("--json" in parameter.opts for parameter in command.params)
    ]
    assert without == ["open"]
