# SPDX-License-Identifier: Apache-2.0
"""`reticent demo`: file, table and queries on bundled data, attacked before our eyes, as a short story on the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.panel import Panel

from reticent.base.words import amount, number
from reticent.cli.progress_bar import progress_bar
from reticent.cli.protect import show_verdict
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged
from reticent.cli.table import show_table_result

if TYPE_CHECKING:
    from reticent.jobs.demo import Demo

EXPOSED = 3
"""Exposed cells that are shown; the report has them all."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    output: Path = typer.Option(Path("demo-output"), "--output", "-o", help="Folder for data and reports."),
    json_out: Path | None = JSON,
) -> None:
    """Protect a bundled file, a bundled table and answers to queries, and show what the attacker found."""
    from reticent.jobs.demo import FILES, run_demo

    check_answer(json_out, (output / name for name in FILES))
    with progress_bar("demo") as progress:
        made = run_demo(output, progress=progress)
    give_answer(made.summary(), json_out)
    console = open_console()
    _show_file(console, made)
    _show_tables(console, made)
    _show_queries(console, made)
    console.print(Panel(_reports(output), title="Open these in a browser", title_align="left", expand=False))
    console.print(f"To do the same in a browser: reticent open {output / 'people.plan.toml'}", highlight=False)


def _show_file(console: Console, made: "Demo") -> None:
    """A file that we would publish: its verdict."""
    before, after = made.file.risk_before, made.file.risk_after
    console.rule("1  A microdata file: people.csv")
    console.print(
        f"{number(before['records'])} records. Combinations of three keys single out "
        f"{number(before['records in unsafe combinations'])} of them, and an attacker expects "
        f"{number(before['expected re-identifications'])} right matches.\n{len(made.file.steps)} steps later: "
        f"{number(after['records in unsafe combinations'])} and {number(after['expected re-identifications'])}. The result was "
        "attacked before it was written:",
        highlight=False,
    )
    show_verdict(console, made.file.verdict)


def _show_tables(console: Console, made: "Demo") -> None:
    """A table with only its unsafe cells hidden, which is refused, and the protected one."""
    console.rule("2  A table: turnover by industry and size class")
    console.print("Hiding only the unsafe cells (method = primary-only):")
    console.print(tagged("refused", "bold red", f" {made.refused}"))
    console.print("\nThe same with accept_exposed = true, to see which cells are exposed:")
    show_table_result(console, made.exposed, exposed=EXPOSED, brief=True)
    console.print(
        "\nThe plan itself hides further cells (method = heuristic), and the attacker finds nothing too close:"
    )
    show_table_result(console, made.table)


def _show_queries(console: Console, made: "Demo") -> None:
    """Two allowed-looking queries, subtracted: an open database gives a single firm away, the protected one refuses."""
    from reticent.jobs.answer_query import Answer

    console.rule("3  Answers to queries: the turnover of one firm, by subtraction")
    for mode, words in (("open", "An open database"), ("exact", "The protected one")):
        console.print(f"{words}:")
        told = made.queries[mode]
        for query, answer in told.answers:
            console.print(f"  {query}", soft_wrap=True, highlight=False)
            if isinstance(answer, Answer):
                console.print(f"  = {amount(told.value(answer), 1)}", highlight=False)
            else:
                console.print(tagged("  refused:", "bold green", answer.message))
        if told.found is not None:
            firm = amount(told.found, 1)
            console.print(tagged("  found:", "bold red", f"the difference is the one large firm of C10: {firm}"))


def _reports(folder: Path) -> str:
    rows = (
        ("people.public.html", "for users of the file"),
        ("people.confidential.html", "for the data protector"),
        ("firms.public.html", "for users of the table"),
        ("firms.confidential.html", "for the data protector: the protected table"),
        ("firms-primary-only.confidential.html", "for the data protector: exposed cells and their intervals"),
    )
    return "\n".join(f"{folder / name}  {what}" for name, what in rows)
