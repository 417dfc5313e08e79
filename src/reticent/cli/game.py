# SPDX-License-Identifier: Apache-2.0
"""`reticent game FILE.toml`: equilibria of a game, whether it is coprivate, and why; or a search simulation."""

from pathlib import Path

import typer
from rich.table import Table

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("game")(game)


def game(
    file: Path = typer.Argument(..., help="The game, a TOML file."),
    json_out: Path | None = JSON,
) -> None:
    """Find and verify the equilibria of a game, and say whether it is coprivate."""
    from reticent.jobs.play_game import GameResult, run_game

    check_answer(json_out, (file,))
    with progress_bar("game") as progress:
        found = run_game(file, progress=progress)
    give_answer(found.summary() if isinstance(found, GameResult) else [vars(item) for item in found], json_out)
    console = open_console()
    if isinstance(found, GameResult):
        for sentence in found.sentences():
            console.print(sentence, highlight=False, markup=False)
        return
    table = Table(title="Search through peers", title_justify="left")
    for name in ("masking", "at once", "first", "later", "own", "before", "seen", "limit", "linked"):
        table.add_column(name, justify="left" if name == "masking" else "right", no_wrap=True)
    for item in found:
        shares = (item.direct, item.first, item.later, item.fallback)
        bits = (item.entropy_before, item.entropy_after, item.entropy_limit, item.linked)
        table.add_row(item.masking, *(f"{share:.2f}" for share in shares), *(f"{value:.2f}" for value in bits))
    console.print(table)
    for item in found:
        if item.masking == "peers":
            console.print(
                f"Shares are of all queries. The first peer asked helps in {item.first:.1%} of them: there asking and helping "
                f"are best replies, so the search is δ-coprivate for δ up to {item.first:.3f}.",
                highlight=False,
            )
