# SPDX-License-Identifier: Apache-2.0
"""`reticent protect PLAN.toml`: protect a microdata file as a plan says."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from reticent.cli.progress_bar import progress_bar
from reticent.cli.release import show_released
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged

if TYPE_CHECKING:
    from reticent.jobs.protect_file import FileResult, FileVerdict
    from reticent.jobs.protect_large import LargeResult


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("protect")(protect)


def protect(
    plan: Path = typer.Argument(..., help="The plan, a TOML file."),
    recodings: Path | None = typer.Option(
        None, "--recodings", help="Write which old values each new code stands for to this .csv file (publishable)."
    ),
    json_out: Path | None = JSON,
) -> None:
    """Protect a microdata file as a plan says, attack the result, write what the plan asks for."""
    from reticent.jobs.run_file import run_file

    check_answer(json_out, (plan,))
    with progress_bar("protect") as progress:
        run = run_file(plan, recodings=recodings, progress=progress)
    give_answer(run.summary(), json_out)
    console = open_console()
    show_file_result(console, run.result)
    for what, name in run.written:
        console.print(tagged(f"{what:>12}", "dim", f" {name}"))
    if run.released is not None:
        show_released(console, run.released)


def show_file_result(console: Console, result: "FileResult | LargeResult") -> None:
    """Risk before and after, and what each step changed, as two small tables."""
    from reticent.base.words import number

    table = Table(title="Attack on the file", title_justify="left")
    table.add_column("measure")
    table.add_column("before", justify="right")
    table.add_column("after", justify="right", style="bold")
    for name, value in result.risk_before.items():
        if name in result.risk_after and (value is None or isinstance(value, int | float)):
            shown = ("not judged" if one is None else number(one) for one in (value, result.risk_after[name]))
            table.add_row(name, *shown)
    console.print(table)
    steps = Table(title="Steps", title_justify="left")
    for column in ("method", "values changed", "promises kept"):
        steps.add_column(column)
    for step in result.steps:
        changed = ", ".join(f"{name} {number(count)}" for name, count in step.changed.items() if count)
        steps.add_row(step.method, changed or "–", "; ".join(step.promises) or "–")
    console.print(steps)
    show_verdict(console, result.verdict)
    for note in result.notes:
        console.print(tagged("note:", "yellow", f"{note}"))


COLOURS = {"held": "green", "not held": "red", "not judged": "yellow"}


def show_verdict(console: Console, verdict: "FileVerdict") -> None:
    """One line for each attack: held, not held, not judged; what the plan does not ask for is said to be so."""
    table = Table(title=f"Verdict: {verdict.headline}", title_justify="left")
    for column in ("attack", "state", "what it found"):
        table.add_column(column)
    for one in verdict.attacks:
        state = tagged(one.state, COLOURS[one.state], "" if one.asked else "(not asked for)")
        table.add_row(one.attack, state, one.text)
    console.print(table)
    if verdict.accepted and not verdict.held:
        console.print(tagged("risk accepted:", "red", f"{verdict.accepted}"))
