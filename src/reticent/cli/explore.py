# SPDX-License-Identifier: Apache-2.0
"""`reticent explore SPEC.toml`: try many maskings, see risk against loss, write the chosen one as a plan."""

from pathlib import Path

import typer
from rich.table import Table

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explore")(explore)


def explore(
    spec: Path = typer.Argument(..., help="The exploration, a TOML file."), json_out: Path | None = JSON
) -> None:
    """Measure risk and loss of many candidate maskings, choose one, measure it again on fresh draws."""
    from reticent.jobs.explore import run_explore_spec

    check_answer(json_out, (spec,))
    with progress_bar("explore") as progress:
        read, found = run_explore_spec(spec, progress=progress)
    chosen = found.chosen and found.chosen.name
    give_answer({"candidates": list(found.rows()), "chosen": chosen, "state": str(found.state)}, json_out)
    console = open_console()
    table = Table(title="Candidates, best score first", title_justify="left")
    for name, justify in (
        ("candidate", "left"),
        ("risk", "right"),
        ("loss", "right"),
        ("score", "right"),
        ("", "left"),
    ):
        table.add_column(name, justify="right" if justify == "right" else "left")
    rows = sorted(found.rows(), key=lambda row: (bool(row["failed"]), 0.0 if row["failed"] else row["score"]))
    for row in rows:
        said = (("chosen", row["chosen"]), ("front", row["front"]), ("not held", row["not held"]))
        marks = [word for word, on in said if on]
        if row["failed"]:
            table.add_row(row["candidate"], "–", "–", "–", "failed")
            continue
        numbers = (f"{row[name]:.4f}" for name in ("risk", "loss", "score"))
        table.add_row(row["candidate"], *numbers, ", ".join(marks), style="bold" if row["chosen"] else None)
    console.print(table)
    for row in rows:
        for why in ("failed", "not held"):
            if row[why]:
                console.print(tagged(f"{why}:", "yellow", f"{row['candidate']}: {row[why]}"))
    if found.chosen is None or found.fresh is None:
        console.print("No candidate can be released on every draw; no plan was written.")
        raise typer.Exit(4)
    console.print(
        f"Chosen: {found.chosen.name}; on {found.fresh.draws} fresh draws its risk is {found.fresh.risk:.4f} "
        f"(at most {found.fresh.highest_risk:.4f}), its loss {found.fresh.loss:.4f}."
    )
    if found.limit is None:
        console.print("Not judged: the file has no weights and no most_risk is stated. Give the largest risk allowed.")
    elif not found.holds:
        console.print("Not every fresh draw withstands what protect asks for; no plan was written.")
        raise typer.Exit(5)
    output = read.output
    for written in (output.plan, output.table, output.report):
        if written:
            console.print(tagged("confidential", "dim", f" {written}"))
