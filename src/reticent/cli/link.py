# SPDX-License-Identifier: Apache-2.0
"""`reticent link ORIGINAL MASKED`: attack a masked file. `reticent models DATA`: every risk model side by side."""

from pathlib import Path

import typer
from rich.table import Table

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, say


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("link")(link)
    app.command("models")(models)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()


def link(
    original: Path = typer.Argument(..., help="The original file, or a plan (.toml) without a masked file."),
    masked: Path | None = typer.Argument(None, help="The masked file, records in the same order."),
    schema: Path | None = typer.Option(
        None, "--schema", "-s", help="Schema of the original file (default: the one beside it)."
    ),
    masked_schema: Path | None = typer.Option(
        None,
        "--masked-schema",
        help="Schema of the masked file (default: the one beside it, else roles as in the original).",
    ),
    variables: str | None = typer.Option(None, "--variables", "-v", help="What the intruder knows, with commas."),
    json_out: Path | None = JSON,
) -> None:
    """Link a masked file back to the original: by distance, by agreement, by intervals."""
    from reticent.base.words import number
    from reticent.jobs.link_files import link_paths

    _check_files(original, masked, schema, masked_schema)
    check_answer(json_out, (original, masked, schema, masked_schema))
    with progress_bar("link") as progress:
        result = link_paths(
            (original, schema),
            None if masked is None else (masked, masked_schema),
            _names(variables),
            progress=progress,
        )
    console = open_console()
    table = Table(title="Attacks on the masked file", title_justify="left")
    table.add_column("attack")
    table.add_column("share", justify="right", style="bold")
    for what, share in result.rows():
        table.add_row(what, f"{share:.4%}")
    console.print(table)
    grown = Table(title="Linked by distance, by number of known variables", title_justify="left")
    for column in ("known", "sets tried", "lowest", "mean", "highest"):
        grown.add_column(column, justify="right")
    for row in result.growth.rows():
        shares = (f"{row[name]:.2%}" for name in ("lowest", "mean", "highest"))
        grown.add_row(number(row["known"]), number(row["sets"]), *shares)
    console.print(grown)
    if result.left_out:
        say(f"Left out, a number in one file and a code in the other: {', '.join(result.left_out)}.")
    if masked is not None:
        say(
            "Record i of one file counts as record i of the other. What protect writes is shuffled: link its plan instead."
        )
    give_answer(result.summary(), json_out)


def _check_files(original: Path, masked: Path | None, *schemas: Path | None) -> None:
    """Two files, or a plan alone."""
    from reticent.base.errors import ParameterError

    if masked is None and original.suffix.lower() != ".toml":
        raise ParameterError("link: give the original file and the masked file, or a plan (.toml) alone.")
    if masked is None and any(schemas):
        raise ParameterError("link: a plan names its schema; give no other beside it.")


def models(
    data: Path = typer.Argument(..., help="The data file."),
    schema: Path | None = typer.Option(None, "--schema", "-s", help="Its schema (TOML) or ARGUS metadata (.rda)."),
    keys: str | None = typer.Option(None, "--keys", "-k", help="Keys, with commas (default: the schema's)."),
    fraction: float | None = typer.Option(None, "--fraction", "-f", help="Sampling fraction, if there are no weights."),
    json_out: Path | None = JSON,
) -> None:
    """Estimate population risk by every model: individual, log-linear, population uniques, each with its check."""
    from reticent.base.words import number
    from reticent.jobs.measure import model_file

    check_answer(json_out, (data, schema))
    with progress_bar("models") as progress:
        result = model_file(data, schema, _names(keys), fraction=fraction, progress=progress)
    console = open_console()
    give_answer(result.summary(), json_out)
    table = Table(title="Risk models", title_justify="left")
    table.add_column("model")
    table.add_column("what it estimates")
    table.add_column("value", justify="right", style="bold")
    for row in result.rows():
        table.add_row(row["model"], row["quantity"], "–" if row["value"] is None else number(round(row["value"], 4)))
    console.print(table)
    if result.population is None:
        console.print("Without weights or --fraction the file counts as its own population.")
        return
    if result.population.check_fraction is not None:
        checks = Table(title="Population uniques: estimate over truth on subsamples of this file", title_justify="left")
        checks.add_column("model")
        checks.add_column("estimate / truth", justify="right")
        for line in result.population.rows():
            ratio = line["ratio_in_check"]
            checks.add_row(line["model"], "–" if ratio is None else f"{ratio:.2f}")
        console.print(checks)
    if result.log_linear is not None:
        fits = Table(title="Log-linear models (bias near 0: it fits)", title_justify="left")
        for column in ("interactions", "expected matches", "bias", "chosen"):
            fits.add_column(column, justify="left" if column == "interactions" else "right")
        for line in result.log_linear.rows():
            bias = "–" if line["bias2"] is None else f"{line['bias2']:.1f}"
            fits.add_row(line["interactions"], number(round(line["tau2"], 2)), bias, "yes" if line["chosen"] else "")
        console.print(fits)
