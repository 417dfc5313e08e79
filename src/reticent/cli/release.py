# SPDX-License-Identifier: Apache-2.0
"""`reticent release PLAN.toml --ledger L`: judge with everything released before, record, write."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, say, tagged

if TYPE_CHECKING:
    from reticent.jobs.release import Released

COLOURS = {"safe": "green", "exposed": "red", "undecided": "yellow"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("release")(release)


def release(
    plan: Path = typer.Argument(..., help="A plan for a file or for tables (TOML)."),
    ledger: str | None = typer.Option(None, "--ledger", help="The ledger (default: that of [ledger])."),
    name: str | None = typer.Option(None, "--name", help="What the release is called (default: that of [ledger])."),
    check: bool = typer.Option(False, "--check", help="Only judge; record and write nothing."),
    explain: bool = typer.Option(
        False, "--explain", help="Only judge; say which releases conflict, by which relations."
    ),
    json_out: Path | None = JSON,
) -> None:
    """Run a plan, judge what it would publish with everything released before, record it, write it."""
    from reticent.jobs.ledger_explain import explain_plan
    from reticent.jobs.release import Released, judge_plan, release_plan

    check_answer(json_out, (plan,))
    job = explain_plan if explain else judge_plan if check else release_plan
    with progress_bar("explain" if explain else "release") as progress:
        found = job(plan, ledger=ledger, name=name, progress=progress)
    give_answer(found.summary(), json_out)
    if isinstance(found, Released):
        show_released(open_console(), found)
    else:
        for line in found.lines():
            say(line)


def show_released(console: Console, found: "Released") -> None:
    """The joint verdict, and whether anything was recorded."""
    outcome = found.verdict.outcome.value
    console.print(tagged(f"{outcome}:", COLOURS[outcome], found.verdict.sentence()), highlight=False)
    for note in found.notes:
        console.print(note, highlight=False, markup=False)
    if found.instead is not None and found.instead.sentence():
        console.print(found.instead.sentence(), highlight=False, markup=False)
    with_what = ", ".join(found.together_with) or "nothing: it is the first release"
    console.print(f"judged together with {with_what}", highlight=False, style="dim")
    if found.number is None:
        console.print("Nothing was recorded or written; `reticent release` does both.")
    else:
        console.print(f"recorded as entry {found.number}, then written", highlight=False)
