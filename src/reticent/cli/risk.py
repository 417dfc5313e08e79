# SPDX-License-Identifier: Apache-2.0
"""`reticent risk DATA`: how identifiable is a file, in short."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged

if TYPE_CHECKING:
    from reticent.jobs.measure import FileRisk


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("risk")(risk)


def risk(
    data: Path = typer.Argument(..., help="The data file."),
    schema: Path | None = typer.Option(None, "--schema", "-s", help="Its schema (TOML) or ARGUS metadata (.rda)."),
    keys: str | None = typer.Option(
        None, "--keys", "-k", help="Keys, with commas between them (default: the schema's)."
    ),
    dimension: int = typer.Option(3, "--dimension", "-d", min=1, help="Largest size of a key combination."),
    threshold: int = typer.Option(1, "--threshold", "-t", min=1, help="Unsafe at or below this count."),
    engine: str | None = typer.Option(
        None,
        "--engine",
        help="Leave the records in an engine (duckdb, spark); DATA may be a pattern: 'part-*.parquet'.",
    ),
    memory: str | None = typer.Option(None, "--memory", help="Memory that the engine may take, such as 2GB."),
    spill: Path | None = typer.Option(None, "--spill", help="Folder for what does not fit the engine's memory."),
    json_out: Path | None = JSON,
) -> None:
    """Measure the disclosure risk of a file: combinations of keys, interpretations of missing values, record risk."""
    from reticent.jobs.measure import EngineChoice, measure_file

    check_answer(json_out, (data, schema))
    names = tuple(name.strip() for name in keys.split(",")) if keys else ()
    with progress_bar("risk") as progress:
        measured, notes = measure_file(
            data, schema, keys=names, dimension=dimension, threshold=threshold,
            engine=EngineChoice.named(engine, memory, spill), progress=progress,
        )  # fmt: skip
    console = open_console()
    for note in notes:
        console.print(tagged("note:", "yellow", f"{note}"))
    show_risk(console, measured)
    give_answer(measured.summary(), json_out)


def show_risk(console: Console, measured: "FileRisk") -> None:
    """The short form: the worst combinations, then the file as a whole."""
    from reticent.base.words import number

    if measured.combinations is None:
        console.print(
            "Not judged: the schema has no keys, so there is nothing to count by; give variables the role key."
        )
        return
    table = Table(title="Unsafe combinations, the worst first", title_justify="left")
    for column in ("combination", "unsafe combinations", "records in them"):
        table.add_column(column, justify="left" if column == "combination" else "right")
    for row in measured.combinations.rows[:10]:
        table.add_row(" × ".join(row.variables), number(row.unsafe_cells), number(row.unsafe_records))
    console.print(table)
    whole = Table(title="The file", title_justify="left", show_header=False)
    whole.add_column()
    whole.add_column(justify="right", style="bold")
    for name, value in measured.summary().items():
        if isinstance(value, int | float):
            whole.add_row(name, number(value))
    console.print(whole)
    if measured.semantics is not None:
        readings = Table(title=f"All keys together, k = {measured.semantics.k}", title_justify="left")
        for column in ("interpretation of missing values", "smallest count", "records below k", "unique"):
            readings.add_column(column, justify="left" if column.startswith("reading") else "right")
        for line in measured.semantics.rows:
            readings.add_row(
                str(line.semantics), number(line.smallest), number(line.violating_records), number(line.unique_records)
            )
        console.print(readings)
