# SPDX-License-Identifier: Apache-2.0
"""`reticent demo`: file, table and queries on bundled data, attacked before our eyes, as a short story on the terminal."""

import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.panel import Panel

from reticent.base.errors import NotProtectedError
from reticent.base.words import amount
from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged

FILES = (
    "people.csv",
    "people.schema.toml",
    "people.plan.toml",
    "firms.csv",
    "firms.schema.toml",
    "firms.plan.toml",
    "firms.database.toml",
)
SECRET = "demo.secret.key"
TEST_SECRET = ("secret = 2026 ", "test_secret = true ")
"""Lines of the bundled plan that make tests repeatable; the demonstration has a key of its own, as a release needs it."""
EXPOSED = 3
"""Exposed cells that are shown; the report has them all."""
ATTACK = (
    "SELECT SUM(turnover) FROM data WHERE industry = 'C10'",
    "SELECT SUM(turnover) FROM data WHERE industry = 'C10' AND size <> 'large'",
)
"""Two sums over many firms each; their difference is the turnover of the one large firm in industry C10."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    output: Path = typer.Option(Path("demo-output"), "--output", "-o", help="Folder for data and reports."),
    json_out: Path | None = JSON,
) -> None:
    """Protect a bundled file, a bundled table and answers to queries, and show what the attacker found."""
    from reticent.jobs.starter import new_secret

    check_answer(json_out, (output / name for name in FILES))
    console = open_console()
    output.mkdir(parents=True, exist_ok=True)
    bundled = resources.files("reticent") / "demo_data"
    for name in FILES:
        with resources.as_file(bundled / name) as source:
            shutil.copyfile(source, output / name)
    plan = output / "people.plan.toml"
    plan.write_text(_with_key(plan.read_text(encoding="utf-8")), encoding="utf-8")
    if not (output / SECRET).exists():
        new_secret(output / SECRET)
    answer = {"file": _people(console, output), "tables": _firms(console, output), "queries": _queries(console, output)}
    give_answer(answer, json_out)
    console.print(Panel(_reports(output), title="Open these in a browser", title_align="left", expand=False))
    console.print(
        f"To do the same by looking and clicking: reticent open {output / 'people.plan.toml'}", highlight=False
    )


def _with_key(text: str) -> str:
    """The plan of the file with a key file in place of the number that tests use."""
    lines = [line for line in text.splitlines() if not line.startswith(TEST_SECRET[1])]
    key = f'secret = "{SECRET}"       # made for this folder; whoever has it can undo what was drawn'
    return "\n".join(key if line.startswith(TEST_SECRET[0]) else line for line in lines) + "\n"


def _people(console: Console, folder: Path) -> dict[str, Any]:
    """A file that we would publish: its verdict."""
    from reticent.base.words import number
    from reticent.cli.protect import show_verdict
    from reticent.jobs.protect_file import run_file_plan

    console.rule("1  A microdata file: people.csv")
    with progress_bar("people") as progress:
        result = run_file_plan(folder / "people.plan.toml", progress=progress).result
    before, after = result.risk_before, result.risk_after
    console.print(
        f"{number(before['records'])} records. Combinations of three keys single out "
        f"{number(before['records in unsafe combinations'])} of them, and an attacker expects "
        f"{number(before['expected re-identifications'])} right matches.\n{len(result.steps)} steps later: "
        f"{number(after['records in unsafe combinations'])} and {number(after['expected re-identifications'])}. The result was "
        "attacked before it was written:",
        highlight=False,
    )
    show_verdict(console, result.verdict)
    return result.summary()


def _firms(console: Console, folder: Path) -> dict[str, Any]:
    """A table with only its unsafe cells hidden, which is refused, and the protected one."""
    from reticent.cli.table import show_table_result
    from reticent.jobs.protect_table import run_table_plan

    console.rule("2  A table: turnover by industry and size class")
    plan = folder / "firms.plan.toml"
    text = plan.read_text(encoding="utf-8")
    bare, shown = folder / "firms-bare.plan.toml", folder / "firms-primary-only.plan.toml"
    bare.write_text(_primary_only(text), encoding="utf-8")
    console.print("Hiding only the unsafe cells (method = primary-only):")
    try:
        run_table_plan(bare)
    except NotProtectedError as err:
        console.print(tagged("refused", "bold red", f" {err}"))
    bare.unlink()
    console.print("\nThe same with accept_exposed = true, to see which cells are exposed:")
    shown.write_text(_primary_only(text, "accept_exposed = true"), encoding="utf-8")
    with progress_bar("table") as progress:
        exposed = run_table_plan(shown, progress=progress)
    show_table_result(console, exposed, exposed=EXPOSED, brief=True)

    console.print(
        "\nThe plan itself hides further cells (method = heuristic), and the attacker finds nothing too close:"
    )
    with progress_bar("table") as progress:
        protected = run_table_plan(plan, progress=progress)
    show_table_result(console, protected)
    return {"primary-only": exposed.summary(), "heuristic": protected.summary()}


def _queries(console: Console, folder: Path) -> dict[str, Any]:
    """Two allowed-looking queries, subtracted: an open database gives a single firm away, the protected one refuses."""
    from reticent.jobs.answer_query import Answer, answer_query

    console.rule("3  Answers to queries: the turnover of one firm, by subtraction")
    protected = folder / "firms.database.toml"
    open_one = folder / "firms-open.database.toml"
    text = protected.read_text(encoding="utf-8").replace('mode = "exact"', 'mode = "open"\ntest = true')
    open_one.write_text(text.replace('"firms.ledger"', '"firms-open.ledger"').replace("firms.anchor", "firms-open.anchor"),
                        encoding="utf-8")  # fmt: skip
    given: dict[str, Any] = {}
    for mode, words, database in (("open", "An open database", open_one), ("exact", "The protected one", protected)):
        console.print(f"{words}:")
        given[mode] = []
        values: list[float] = []
        for query in ATTACK:
            answer = answer_query(database, query, user="attacker")
            given[mode].append({"query": query, **answer.as_json()})
            console.print(f"  {query}", soft_wrap=True, highlight=False)
            if isinstance(answer, Answer):
                values.append(float(str(answer.rows[0].values[0])))
                console.print(f"  = {amount(values[-1], 1)}", highlight=False)
            else:
                console.print(tagged("  refused:", "bold green", answer.message))
        if len(values) == len(ATTACK):
            firm = amount(values[0] - values[1], 1)
            console.print(tagged("  found:", "bold red", f"the difference is the one large firm of C10: {firm}"))
    return given


def _primary_only(text: str, more: str = "") -> str:
    """The plan with unsafe cells hidden and nothing else; its outputs have names of their own."""
    inputs = ("firms.csv", "firms.schema.toml")
    lines = text.replace('"firms.', '"firms-primary-only.')
    for name in inputs:
        lines = lines.replace(name.replace("firms.", "firms-primary-only."), name)
    return lines.replace('method = "heuristic"', f'method = "primary-only"\n{more}'.rstrip())


def _reports(folder: Path) -> str:
    rows = (
        ("people.public.html", "for users of the file"),
        ("people.confidential.html", "for the data protector"),
        ("firms.public.html", "for users of the table"),
        ("firms.confidential.html", "for the data protector: the protected table"),
        ("firms-primary-only.confidential.html", "for the data protector: exposed cells and their intervals"),
    )
    return "\n".join(f"{folder / name}  {what}" for name, what in rows)
