# SPDX-License-Identifier: Apache-2.0
"""`reticent new FOLDER`: a starter project to edit. `reticent new-secret FILE`: a key file."""

from pathlib import Path

import typer

from reticent.cli.screen import JSON, check_answer, give_answer, say


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("new")(new)
    app.command("new-secret")(new_secret)


def new(folder: Path = typer.Argument(..., help="A new or empty folder."), json_out: Path | None = JSON) -> None:
    """Make a starter project: generated data, schemas, a plan for a file and one for a table."""
    from reticent.jobs.starter import new_project

    check_answer(json_out)
    made = new_project(folder)
    give_answer({"written": made}, json_out)
    for path in made:
        say(f"  {path}")
    say(f"Next: reticent protect {folder / 'protect.toml'}")


def new_secret(file: Path = typer.Argument(..., help="The key file to make."), json_out: Path | None = JSON) -> None:
    """Make a key file of 32 random bytes in hex; what is random in a plan can be repeated, and undone, only with it."""
    from reticent.jobs.starter import new_secret as make

    check_answer(json_out, (file,))
    make(file)
    give_answer({"written": file}, json_out)
    say(f"Secret written to {file}. Keep it where only protectors can read it.")
