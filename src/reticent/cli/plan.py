"""`reticent plan DATA`: draft a plan that runs, with a reason at each step, to read and to change."""

from pathlib import Path

import typer

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(
    data: Path = typer.Argument(..., help="The data file."),
    schema: Path | None = typer.Option(
        None, "--schema", "-s", help="Its schema (default: DATA.schema.toml, written if it does not exist)."
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="Plan to write (default: DATA.plan.toml)."),
    table: bool = typer.Option(False, "--table", help="Draft a table instead of a file."),
    force: bool = typer.Option(False, "--force", help="Replace an existing plan."),
    json_out: Path | None = JSON,
) -> None:
    """Draft a commented plan for a file or a table: the first of a few drafts that withstands its attacks."""
    from reticent.jobs.draft import draft_file_plan, draft_table_plan

    check_answer(json_out, (data, schema))
    if table:
        made = draft_table_plan(data, schema=schema, output=output, force=force)
    else:
        with progress_bar("plan") as progress:
            made = draft_file_plan(data, schema=schema, output=output, force=force, progress=progress)
    give_answer(made.summary(), json_out)
    if made.verdict is not None:
        say(
            f"Draft {made.tried} of {made.drafts}: {made.verdict.headline}; up to {made.blanks:.0%} of a variable blanked."
        )
        for one in made.verdict.blocking:
            say(f"  {one.attack} {one.state}: {one.text}.")
    say(f"Plan written to {made.plan}; it rests on {made.schema}, so check what is guessed there.")
    say(f"Next: {made.command}")
