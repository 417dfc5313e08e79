"""Every command of the command line fetches what it was given, calls one job, and shows what that gave."""

import ast
from pathlib import Path
from typing import Any

import pytest
import typer

from reticent.cli.main import app

FOLDER = Path(__file__).resolve().parents[2] / "src" / "reticent" / "cli"
AROUND = (
    "read_",
    "check_",
    "written_",
    "engine_of",
    "summaries",
    "recorded_lines",
)  # what is read before, and named after
Function = ast.FunctionDef


def _jobs(function: Function) -> set[str]:
    """What a command imports from jobs to call it."""
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.ImportFrom)]
    names = {a.asname or a.name for n in nodes if (n.module or "").startswith("reticent.jobs") for a in n.names}
    called = {n.func.id for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return {name for name in names & called if not name.startswith(AROUND) and name[0].islower()}


def _commands() -> dict[str, Function]:
    return {
        f"{path.stem}.{node.name}": node
        for path in sorted(FOLDER.glob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, Function)
    }


COMMANDS = _commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_one_call_of_a_job(name: str) -> None:
    """Another job only behind a condition: an option chooses it, or asks for it too."""
    found = _jobs(COMMANDS[name])
    conditions = sum(isinstance(node, ast.If | ast.IfExp) for node in ast.walk(COMMANDS[name]))
    assert len(found) <= 1 + conditions, found


def _leaves(group: Any, name: str = "") -> dict[str, Any]:
    """All commands with their full names."""
    below = getattr(group, "commands", None)
    if below is None:
        return {name: group}
    return {full: one for word, part in below.items() for full, one in _leaves(part, f"{name} {word}".strip()).items()}


def test_every_command_answers_as_json() -> None:
    """The workbench is no answer: it runs until it is closed."""
    without = [
        name
        for name, command in _leaves(typer.main.get_command(app)).items()
        if not any("--json" in parameter.opts for parameter in command.params)
    ]
    assert without == ["open"]
