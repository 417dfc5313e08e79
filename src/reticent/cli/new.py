"""`reticent new FOLDER`: a starter project to edit. `reticent new-secret FILE`: a key file."""

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("new")(new)
    app.command("new-secret")(new_secret)


def new(folder: Path = typer.Argument(..., help="A new or empty folder.")) -> None:
    """Make a starter project: generated data, schemas, a plan for a file and one for a table."""
    from reticent.jobs.starter import new_project

    for path in new_project(folder):
        typer.echo(f"  {path}")
    typer.echo(f"Next: reticent protect {folder / 'protect.toml'}")


def new_secret(file: Path = typer.Argument(..., help="The key file to make.")) -> None:
    """Make a key file of 32 random bytes in hex; what is random in a plan can be repeated, and undone, only with it."""
    from reticent.jobs.starter import new_secret as make

    make(file)
    typer.echo(f"Secret written to {file}. Keep it where only protectors can read it.")
