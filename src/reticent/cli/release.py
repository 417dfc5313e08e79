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
    from reticent.jobs.release import judge_release, release_plan

    check_answer(json_out, (plan,))
    if explain:
        return explain_refusal(plan, ledger, name, json_out)
    with progress_bar("release") as progress:
        if check:
            found, _ = judge_release(plan, ledger=ledger, name=name, progress=progress)
        else:
            found = release_plan(plan, ledger=ledger, name=name, progress=progress)
    give_answer(found.summary(), json_out)
    return show_released(open_console(), found)


def explain_refusal(plan: Path, ledger: str | None, name: str | None, json_out: Path | None) -> None:
    """Why a release is refused; nothing is recorded or written."""
    from reticent.jobs.ledger_explain import explain_plan

    with progress_bar("explain") as progress:
        found = explain_plan(plan, ledger=ledger, name=name, progress=progress)
    give_answer(found.plain(), json_out)
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
