# SPDX-License-Identifier: Apache-2.0
"""`reticent plan DATA`: draft a plan that runs (file, table, queries), with a reason at each step, to read and to change."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, say

if TYPE_CHECKING:
    from reticent.jobs.draft import Kind


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(
    data: Path = typer.Argument(..., help="The data file."),
    schema: Path | None = typer.Option(
        None, "--schema", "-s", help="Its schema (default: DATA.schema.toml, written if it does not exist)."
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Plan to write (default: DATA.plan.toml; DATA.table.toml; DATA.database.toml)."
    ),
    table: bool = typer.Option(False, "--table", help="Draft a table instead of a file."),
    database: bool = typer.Option(False, "--database", help="Draft a database that answers queries instead."),
    ending: str = typer.Option("csv", "--format", help="Format of the table: csv, sdmx.csv, xlsx, px, parquet."),
    force: bool = typer.Option(False, "--force", help="Replace an existing plan."),
    json_out: Path | None = JSON,
) -> None:
    """Draft a commented plan that runs: for a file (the first draft that withstands its attacks), a table or queries."""
    from reticent.jobs.draft import draft_plan

    check_answer(json_out, (data, schema))
    _check_options(table, database, ending)
    kind: Kind = "table" if table else "database" if database else "file"
    with progress_bar("plan") as progress:
        made = draft_plan(kind, data, schema=schema, output=output, force=force, ending=ending, progress=progress)
    give_answer(made.summary(), json_out)
    if made.verdict is not None:
        say(
            f"Draft {made.tried} of {made.drafts}: {made.verdict.headline}; up to {made.blanks:.0%} of a variable blanked."
        )
        for one in made.verdict.blocking:
            say(f"  {one.attack} {one.state}: {one.text}.")
    say(f"Plan written to {made.plan}; it rests on {made.schema}, so check what is guessed there.")
    say(f"Next: {made.next}")
    if not (table or database):
        say(f"A table of it, as a workbook: reticent plan {data} --table --format xlsx")
        say(f"Answers to queries about it: reticent plan {data} --database")


def _check_options(table: bool, database: bool, ending: str) -> None:
    """Options that contradict each other, or would be ignored, are refused."""
    from reticent.base.errors import ParameterError

    if table and database:
        raise ParameterError("plan: --table and --database draft different things; give one of them.")
    if ending != "csv" and not table:
        raise ParameterError("plan: --format is the format of a table; give it with --table.")
