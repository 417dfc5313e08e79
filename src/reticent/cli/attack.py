# SPDX-License-Identifier: Apache-2.0
"""`reticent attack [DATABASE.toml]`: run the catalogue of attacks against copies of a database."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table
from rich.text import Text

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, say, tagged

if TYPE_CHECKING:
    from reticent.jobs.attack_database import AttackReport, Finding

BROKEN_EXIT = 5


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("attack")(attack)


def attack(
    database: Path | None = typer.Argument(None, help="The database file (TOML); without it, generated firms."),
    response: str | None = typer.Option(None, "--response", help="The response to attack (default: the first)."),
    json_out: Path | None = JSON,
) -> None:
    """Attack copies of a database in its mode and in the open mode; ends with exit code 5 if a promise is broken."""
    from reticent.base.errors import ParameterError
    from reticent.jobs.attack_database import attack_database

    if database is None and response is not None:
        raise ParameterError("attack: --response needs a database file; the generated firms have one response.")
    check_answer(json_out, (database,))
    with progress_bar("attack") as progress:
        report = attack_database(database, response=response, progress=progress)
    give_answer(report.as_json(), json_out)
    _show(report)
    if report.broken:
        raise typer.Exit(BROKEN_EXIT)


def _show(report: "AttackReport") -> None:
    table = Table(caption="in brackets: queries asked. *: the mode does not promise that this attack fails.")
    table.add_column("attack")
    for mode in report.modes:
        table.add_column(mode)
    for name in dict.fromkeys(finding.attack for finding in report.findings):
        table.add_row(name, *(_cell(report.finding(name, mode)) for mode in report.modes))
    open_console().print(table)
    for finding in report.broken:
        say(f"{finding.attack} succeeded although the mode {finding.mode} promises that it fails.")
    for finding in report.powerless:
        say(f"{finding.attack} failed even against the open mode: on these data it shows nothing.")


def _cell(finding: "Finding") -> Text:
    if not finding.applicable:
        return Text("not applicable")
    colour = "red" if finding.succeeded else "green"
    star = "" if finding.covered or finding.mode == "open" else " *"
    return tagged(finding.verdict, colour, f"({finding.queries}){star}")
