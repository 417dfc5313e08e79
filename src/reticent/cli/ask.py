# SPDX-License-Identifier: Apache-2.0
"""`reticent ask DATABASE.toml "SELECT …" --user NAME`: ask a protected database; `reticent history`: what it decided."""

import json
import sys
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from reticent.base.words import THIN
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, say


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("ask")(ask)
    app.command("history")(history)


def ask(
    database: Path = typer.Argument(..., help="The database file (TOML)."),
    query: str = typer.Argument(
        ..., help="SELECT statistics FROM data [WHERE …] [GROUP BY …]; - reads it from standard input."
    ),
    user: str = typer.Option(..., "--user", help="Who asks; every decision is remembered."),
    json_out: Path | None = JSON,
) -> None:
    """Ask a protected database; a refusal is a result too, with a code and what to change."""
    from reticent.jobs.answer_query import MOST_TEXT, Answer, answer_query

    check_answer(json_out, (database,))
    text = sys.stdin.read(MOST_TEXT + 1) if query == "-" else query
    result = answer_query(database, text, user=user)
    give_answer(result.as_json(), json_out)
    if isinstance(result, Answer):
        _show(result)
    else:
        say(f"refused ({result.code.value}): {result.message}")
        if result.change:
            say(result.change)


def history(
    database: Path = typer.Argument(..., help="The database file (TOML)."),
    number: int | None = typer.Option(None, "--decision", help="Only the decision with this number, with its query."),
    json_out: Path | None = JSON,
) -> None:
    """For staff: every decision with who asked and the full reason. What it prints is confidential."""
    from reticent.jobs.answer_query import decisions_of

    check_answer(json_out, (database,))
    decisions = decisions_of(database, number)
    give_answer(decisions, json_out)
    table = Table()
    for name in ("number", "user", "asked for", "code", "reason", "from decisions"):
        table.add_column(name)
    for decision in decisions:
        asked = ", ".join(f"{s[0]}({', '.join(s[1]) or '*'})" for s in decision["query"]["statistics"])
        reasons = "; ".join(f"{r['rule']} ({r['detail']})" if r["detail"] else r["rule"] for r in decision["staff"])
        involved = sorted({str(n) for r in decision["staff"] for n in r["releases"]}, key=int)
        table.add_row(str(decision["number"]), decision["user"], asked, decision["code"], reasons, ", ".join(involved))
    open_console().print(table)
    if number is not None:
        say(json.dumps(decisions[0]["query"], ensure_ascii=False))


def _show(answer: Any) -> None:
    table = Table()
    for name in (*answer.by, *answer.columns):
        table.add_column(name, justify="left" if name in answer.by else "right")
    for row in answer.rows:
        groups = ["(total)" if code is None else code for code in row.group]
        table.add_row(*groups, *(_text(value) for value in row.values))
    open_console().print(table)
    for note in answer.notes:
        say(note)


def _text(value: Any) -> str:
    if value is None:
        return "hidden"
    if isinstance(value, tuple):
        return f"{value[0]:,} … {value[1]:,}".replace(",", THIN)  # all digits: a rounded end could leave the truth out
    if isinstance(value, dict):
        return json.dumps(value, indent=1)
    return (f"{value:,}" if isinstance(value, int) else f"{value:,.10g}").replace(",", THIN)
