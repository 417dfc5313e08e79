# SPDX-License-Identifier: Apache-2.0
"""`reticent argus run FILE.arb`: run a batch file of tau-ARGUS unchanged."""

from pathlib import Path

import typer

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged


def register(app: typer.Typer) -> None:
    """Add the commands."""
    argus = typer.Typer(help="Files of tau-ARGUS.", no_args_is_help=True)
    argus.command("run")(run)
    app.add_typer(argus, name="argus")


def run(
    batch: Path = typer.Argument(..., help="The batch file (.arb)."),
    data: Path = typer.Option(None, "--data", help="Folder of the data (default: that of the batch file)."),
    output: Path = typer.Option(None, "--output", help="Folder to write to (default: that of the batch file)."),
    accept_exposed: bool = typer.Option(
        False, "--accept-exposed", help="Write tables although the attacker can undo them."
    ),
    secret: Path = typer.Option(None, "--secret", help="A key file; needed by CTA, which draws its movements from it."),
    json_out: Path | None = JSON,
) -> None:
    """Run a batch file of tau-ARGUS: read, judge, protect, attack, write."""
    from reticent.jobs.argus.run import run_batch

    check_answer(json_out, (batch, secret))
    with progress_bar("argus") as progress:
        result = run_batch(
            batch, data=data, output=output, accept_exposed=accept_exposed, secret=secret, progress=progress
        )
    give_answer(result.summary(), json_out)
    console = open_console()
    for line in result.log:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    for path in result.files:
        console.print(tagged("     written", "dim", f" {path}"), soft_wrap=True)
