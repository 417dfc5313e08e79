"""`reticent ledger list|show|import|verify|revoke|backup|restore LEDGER`: what was released, and whether its record is whole."""

from pathlib import Path

import typer

from reticent.cli.grid import show_rows
from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, say

LEDGER = typer.Argument(..., help="The ledger: a file, or a postgresql address.")
SECRET = typer.Option(..., "--secret", help="The key file that signs it.")
DATASET = typer.Option("data", "--dataset", help="The data set that it is of.")
ANCHOR = typer.Option(None, "--anchor", help="Its anchor (default: beside the ledger).")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands = typer.Typer(
        no_args_is_help=True, help="Ledgers: what was released of a data set, and whether it is whole."
    )
    commands.command("list")(list_releases)
    commands.command("show")(show)
    commands.command("import")(import_release)
    commands.command("verify")(verify)
    commands.command("revoke")(revoke)
    commands.command("backup")(backup)
    commands.command("restore")(restore)
    app.add_typer(commands, name="ledger")


def list_releases(
    ledger: str = LEDGER,
    secret: Path = SECRET,
    dataset: str = DATASET,
    anchor: Path | None = ANCHOR,
    json_out: Path | None = JSON,
) -> None:
    """Every release: number, name, what it is, when it was recorded, whether it was revoked."""
    from reticent.jobs.ledger import opened, releases_in

    check_answer(json_out, (secret,))
    with opened(ledger, secret, dataset=dataset, anchor=anchor) as book:
        found = releases_in(book)
    give_answer([one.row() for one in found], json_out)
    rows = [
        (
            str(one.number),
            one.name,
            f"{one.form}, imported" if one.imported else one.form,
            one.time,
            one.version,
            one.revoked or "–",
        )
        for one in found
    ]
    names = ("entry", "name", "form", "recorded", "version", "revoked")
    show_rows(open_console(), names, rows, words=("name", "revoked")) if rows else say("no releases yet")


def show(
    ledger: str = LEDGER,
    release: str = typer.Argument(..., help="Its name or number."),
    secret: Path = SECRET,
    dataset: str = DATASET,
    anchor: Path | None = ANCHOR,
    json_out: Path | None = JSON,
) -> None:
    """Everything that the ledger says of one release, with the verdict it was released by."""
    from reticent.jobs.ledger import opened, show_release

    check_answer(json_out, (secret,))
    with opened(ledger, secret, dataset=dataset, anchor=anchor) as book:
        found = show_release(book, release)
    give_answer(found, json_out)
    for name, value in found.items():
        say(f"{name:>10}  {value}")


def import_release(
    plan: Path = typer.Argument(..., help="The plan that says how it was made (TOML)."),
    published: list[Path] = typer.Argument(None, help="The published files (default: those of [output])."),
    ledger: str | None = typer.Option(None, "--ledger", help="The ledger (default: that of [ledger])."),
    name: str | None = typer.Option(None, "--name", help="What the release is called (default: that of [ledger])."),
    check: bool = typer.Option(False, "--check", help="Only judge; record nothing."),
    json_out: Path | None = JSON,
) -> None:
    """Record tables or a file that were published before the ledger existed: they count in every later verdict."""
    from reticent.jobs.ledger_import import import_plan

    check_answer(json_out, (plan, *(published or ())))
    with progress_bar("import") as progress:
        found = import_plan(plan, published or (), ledger=ledger, name=name, check=check, progress=progress)
    give_answer(found.summary(), json_out)
    say(found.found.sentence())
    say("nothing was recorded" if found.number is None else f"recorded as entry {found.number}")


def verify(
    ledger: str = LEDGER,
    secret: Path = SECRET,
    dataset: str = DATASET,
    anchor: Path | None = ANCHOR,
    json_out: Path | None = JSON,
) -> None:
    """Read every entry and every content again; ends with exit code 8 if one is missing or changed."""
    from reticent.jobs.ledger import opened, verify_ledger

    check_answer(json_out, (secret,))
    with opened(ledger, secret, dataset=dataset, anchor=anchor) as book:
        found = verify_ledger(book, ledger, anchor)
    give_answer(found, json_out)
    say(f"intact: {found['entries']} entries, {found['releases']} releases with all their contents")


def revoke(
    ledger: str = LEDGER,
    release: str = typer.Argument(..., help="Its name or number."),
    reason: str = typer.Option(..., "--reason", help="Why, in words."),
    secret: Path = SECRET,
    dataset: str = DATASET,
    anchor: Path | None = ANCHOR,
    json_out: Path | None = JSON,
) -> None:
    """Say that a release is no longer to be used; what it told stays known and counts for every later verdict."""
    from reticent.jobs.ledger import opened
    from reticent.jobs.ledger import revoke as revoke_release

    check_answer(json_out, (secret,))
    with opened(ledger, secret, dataset=dataset, anchor=anchor) as book:
        number = revoke_release(book, release, reason)
    give_answer({"entry": number}, json_out)
    say(f"revoked, entry {number}; its facts stay in force")


def backup(
    ledger: Path = LEDGER, folder: Path = typer.Argument(..., help="A new folder."), json_out: Path | None = JSON
) -> None:
    """Copy a ledger, its anchor and its contents into a new folder."""
    from reticent.jobs.ledger import backup as copy

    made = copy(ledger, folder)
    give_answer({"written": made}, json_out)
    for path in made:
        say(f"  {path}")


def restore(
    folder: Path = typer.Argument(..., help="The folder of a backup."),
    ledger: Path = typer.Argument(..., help="Where the ledger was."),
    json_out: Path | None = JSON,
) -> None:
    """Copy a ledger back; one that is still there is never replaced, and an anchor that went on refuses an older copy."""
    from reticent.jobs.ledger import restore as copy

    made = copy(folder, ledger)
    give_answer({"written": made}, json_out)
    for path in made:
        say(f"  {path}")
