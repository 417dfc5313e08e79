"""`reticent game FILE.toml`: equilibria of a game, whether it is coprivate, and why; or a search simulation."""

import json
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from reticent.cli.progress_bar import progress_bar


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("game")(game)


def game(
    file: Path = typer.Argument(..., help="The game, a TOML file."),
    as_json: bool = typer.Option(False, "--json", help="Print the summary as JSON."),
) -> None:
    """Find and verify the equilibria of a game, and say whether it is coprivate."""
    from reticent.jobs.play_game import GameResult, run_game

    with progress_bar("game") as progress:
        found = run_game(file, progress=progress)
    if as_json:
        plain = found.summary() if isinstance(found, GameResult) else [vars(item) for item in found]
        typer.echo(json.dumps(plain, indent=2, ensure_ascii=False))
        return
    console = Console()
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
