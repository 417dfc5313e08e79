"""`reticent ask DATABASE.toml "SELECT …" --user NAME`: ask a protected database."""

import json
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ask")(ask)


def ask(
    database: Path = typer.Argument(..., help="The database file (TOML)."),
    query: str = typer.Argument(..., help="A query: SELECT statistics FROM data [WHERE …] [GROUP BY …]."),
    user: str = typer.Option(..., "--user", help="Who asks; every decision is remembered."),
    out: Path | None = typer.Option(None, "--json", help="Write the result to this file as JSON."),
) -> None:
    """Ask a protected database; a refusal is a result too, with a code and what to change."""
    from reticent.io.atomic import write_text
    from reticent.jobs.answer_query import answer_query, result_to_json
    from reticent.queries.refusals import Answer

    result = answer_query(database, query, user=user)
    if out is not None:
        write_text(out, json.dumps(result_to_json(result), indent=2, ensure_ascii=False) + "\n")
    if isinstance(result, Answer):
        _show(result)
    else:
        typer.echo(f"refused ({result.code.value}): {result.message}")
        if result.change:
            typer.echo(result.change)


def _show(answer: Any) -> None:
    table = Table()
    for name in (*answer.by, *answer.columns):
        table.add_column(name, justify="left" if name in answer.by else "right")
    for row in answer.rows:
        groups = ["(total)" if code is None else code for code in row.group]
        table.add_row(*groups, *(_text(value) for value in row.values))
    Console().print(table)
    for note in answer.notes:
        typer.echo(note)


def _text(value: Any) -> str:
    if value is None:
        return "hidden"
    if isinstance(value, tuple):
        return f"{value[0]:,.6g} … {value[1]:,.6g}"
    if isinstance(value, dict):
        return json.dumps(value, indent=1)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"
