# SPDX-License-Identifier: Apache-2.0
"""`reticent describe`: guess what the variables of a file are, show it, and write a schema file to correct."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.table import Table

from reticent.base.words import amount
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, say

if TYPE_CHECKING:
    from reticent.jobs.describe import Description, Variable

N_SAMPLES = 5
WIDE = 110


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("describe")(describe)


def describe(
    data: Path = typer.Argument(..., help="Data file: CSV, Parquet, SPSS, Stata, SAS, or ARGUS with --rda."),
    rda: Path | None = typer.Option(None, "--rda", "--schema", help="ARGUS .rda, or a schema file to complete."),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Schema file to write (default: DATA.schema.toml)."
    ),
    force: bool = typer.Option(False, "--force", help="Replace an existing schema file."),
    show_values: bool = typer.Option(False, "--show-values", help="Show frequent values on this terminal."),
    separator: str | None = typer.Option(None, "--separator", help="Separator of a text file."),
    encoding: str = typer.Option("utf-8", "--encoding", help="Encoding of a text file."),
    engine: str | None = typer.Option(None, "--engine", help="Leave the records in an engine (duckdb, spark)."),
    json_out: Path | None = JSON,
) -> None:
    """Guess role, kind, missing codes and hierarchy of each variable; every guess is marked as one."""
    from reticent.jobs.describe import EngineChoice, describe_to

    target = output or data.with_name(f"{data.stem.replace('*', '')}.schema.toml")
    check_answer(json_out, (data, rda))
    described = describe_to(
        target, data, force=force, schema=rda, separator=separator, encoding=encoding, n_samples=N_SAMPLES if show_values else 0,
        engine=EngineChoice.named(engine),
    )  # fmt: skip
    give_answer(described.summary(), json_out)
    show(described, title=data.name)
    say(f"Schema written to {target}. Check what is marked as guessed, then plan the protection.")


def show(described: "Description", *, title: str) -> None:
    """Print the description: counts only, unless values were asked for."""
    console = open_console()
    n_records = described.profiles[0].n_records if described.profiles else 0
    table = Table(
        title=f"{title}: {amount(n_records)} records × {len(described.profiles)} variables",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for heading in ("variable", "role", "kind"):
        table.add_column(heading)
    for heading in ("level", "different", "missing"):
        table.add_column(heading, justify="right", no_wrap=True)
    wide = console.width >= WIDE
    if wide:
        table.add_column("because")
    if described.samples:
        table.add_column("frequent values")
    for variable, looks in zip(described.schema.variables, described.profiles, strict=True):
        row = [
            variable.name,
            _marked(variable, "role", str(variable.role)),
            _marked(variable, "kind", str(variable.kind)),
            _marked(variable, "level", str(variable.level)),
            amount(looks.n_distinct),
            _marked(variable, "missing", amount(looks.n_empty + looks.n_missing_codes)),
        ]
        if wide:
            row.append(_because(described, variable))
        if described.samples:
            row.append(", ".join(described.samples.get(variable.name, ())))
        table.add_row(*row)
    console.print(table)
    if described.guesses:
        console.print("? marks a guess; the reasons are in the schema file.", style="dim")
    for note in described.notes:
        console.print(f"note: {note}", style="yellow", markup=False)


def _marked(variable: "Variable", fact: str, text: str) -> str:
    return f"{text} ?" if fact in variable.guessed else text


def _because(described: "Description", variable: "Variable") -> str:
    """The reason of the role, or else of the kind, in few words."""
    reasons = {guess.fact: guess.reason for guess in described.reasons(variable.name)}
    return reasons.get("role") or reasons.get("kind") or reasons.get("household", "")
