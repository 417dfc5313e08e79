# SPDX-License-Identifier: Apache-2.0
"""`reticent doctor`: what this installation has, and what to do about what it lacks."""

from pathlib import Path

import typer
from rich.table import Table

from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged

MARKS = {True: ("good", "green"), False: ("missing", "red"), None: ("–", "dim")}
BROKEN = 1


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(json_out: Path | None = JSON) -> None:
    """Show versions, extras, compiled kernels, the solver; ends with exit code 1 if something needed is missing."""
    from reticent.jobs.doctor import examine

    check_answer(json_out)
    findings = examine()
    give_answer(findings, json_out)
    table = Table(box=None, show_header=False)
    for column in ("what", "state", "found"):
        table.add_column(column, no_wrap=column == "state", overflow="fold")
    for one in findings:
        table.add_row(one.what, tagged(*MARKS[one.good]), one.found + (f" ({one.advice})" if one.advice else ""))
    open_console().print(table)
    if any(one.good is False for one in findings):
        raise typer.Exit(BROKEN)
