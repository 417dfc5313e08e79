# SPDX-License-Identifier: Apache-2.0
"""`reticent table PLAN.toml`: make a table, protect it, attack it."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from reticent.base.errors import ParameterError
from reticent.cli.grid import show_rows
from reticent.cli.progress_bar import progress_bar
from reticent.cli.release import show_released
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged

if TYPE_CHECKING:
    from reticent.jobs.protect_table import InsideAudit, ProtectedTable

SHOWN = 12
LINES = 4


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("table")(table)


def table(
    plan: Path = typer.Argument(..., help="The table plan, a TOML file."),
    why: list[str] = typer.Option([], "--why", help="Codes of a hidden cell, as 2;Nr: say what it guards. Repeatable."),
    what_if: list[str] = typer.Option([], "--what-if", help="Codes of a hidden cell: say what to hide instead."),
    response: str | None = typer.Option(None, help="Response whose cells are explained, if there are several."),
    json_out: Path | None = JSON,
) -> None:
    """Make the tables of a plan, protect them, attack the result, write what the plan asks for."""
    from reticent.jobs.protect_table import run_tables

    check_answer(json_out, (plan,))
    asked = bool(why or what_if)
    if response is not None and not asked:
        raise ParameterError("table: --response says which table --why and --what-if are about; give one of them.")
    with progress_bar("table") as progress:
        run = run_tables(plan, explain=asked, response=response, progress=progress)
    give_answer(run.summary(), json_out)
    console = open_console()
    for number, result in enumerate(run.results):
        show_table_result(console, result)
        if number == run.explained:
            for sentence in _explanations(result, why, what_if):
                console.print(sentence, highlight=False, markup=False)
        for what, name in run.written[number]:
            console.print(tagged(f"{what:>12}", "dim", f" {name}"))
    if run.released is not None:
        show_released(console, run.released)


def _explanations(result: "ProtectedTable", why: list[str], what_if: list[str]) -> list[str]:
    return [result.why(*_codes(cell)) for cell in why] + [result.what_if(*_codes(cell)) for cell in what_if]


def _codes(cell: str) -> list[str]:
    return cell.split(";")


def show_table_result(console: Console, result: "ProtectedTable", *, exposed: int = SHOWN, brief: bool = False) -> None:
    """How many cells have which status, and what the attacker found; `brief` leaves out what goes beyond exposed cells."""
    from reticent.base.words import number

    counts = result.counts()
    parts = result.system.parts
    linked = f"{len(parts)} linked tables, {number(result.table.n_cells)} different cells"
    shown = {**counts, "exposed": len(result.exposed)}
    show_rows(
        console,
        list(shown),
        [[number(count) for count in shown.values()]],
        title=linked if len(parts) > 1 else f"Table {parts[0].title}",
        styles={"exposed": "bold red" if result.exposed else "bold green"},
    )
    if result.exposed:
        rows = [row for row in result.intervals() if row["exposed"]]
        show_rows(
            console,
            ("cell", "rule", "value", "attack interval", "required", "revealed by"),
            [_exposed_row(row) for row in rows[:exposed]],
            title="What the attacker finds",
            words=("cell", "rule", "revealed by"),
        )
        if len(rows) > exposed:
            console.print(f"and {len(rows) - exposed} more; the confidential report has them all", style="dim")
    if result.state == "not judged":
        console.print(f"Not judged: {result.audit.unjudged}.", style="bold yellow", highlight=False)
    if brief:
        return
    show_inside(console, result.inside, result.table.name_of)
    if result.asked_inside == "exact" and result.inside.findings:
        console.print('Only exact values are kept from them; insiders = "protect" keeps them out of the levels too.')
    console.print(result.guarantee.short(), style="dim", highlight=False)
    for note in result.notes:
        console.print(tagged("note:", "yellow", f"{note}"))


def _exposed_row(row: dict[str, Any]) -> tuple[str, ...]:
    attack = shown_span(row["low"], row["high"])
    required = shown_span(row["required_low"], row["required_high"])
    words = relations_shown(row.get("revealed_by", []))
    return " × ".join(row["cell"]), row["rule"], shown_end(row["value"]), attack, required, words


def show_inside(console: Console, found: "InsideAudit", name: Callable[[int], str]) -> None:
    """Whether sole respondents of a cell are kept from others, and what they find."""
    console.print(found.sentence(), style="" if found.state == "held" else "bold", highlight=False)
    if found.findings:
        rows = []
        for item in found.findings[:SHOWN]:
            required = shown_span(item.required_low, item.required_high)
            known = ", ".join(name(cell) for cell in item.known[:3])
            rows.append((known, name(item.cell), shown_span(item.low, item.high), required))
        show_rows(console, ("knows", "finds", "interval", "required"), rows, words=("knows", "finds"))


def relations_shown(words: list[str]) -> str:
    """The first relations of a revelation, one per line."""
    more = [f"and {len(words) - LINES} more"] if len(words) > LINES else []
    return "\n".join([*words[:LINES], *more]) or "its own bounds"


def shown_span(low: float | None, high: float | None) -> str:
    """An interval for people: `exactly 12` where it has no width."""
    from reticent.base.words import span

    if low is None or high is None or math.isinf(high - low):
        return f"{shown_end(low)} to {shown_end(high)}"
    return span(low, high)


def shown_end(value: float | None) -> str:
    """The end of an interval for people."""
    from reticent.base.words import number

    return "no limit" if value is None or math.isinf(value) else number(value)
