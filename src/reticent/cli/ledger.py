# SPDX-License-Identifier: Apache-2.0
"""`reticent ledger list|show|explain|import|verify|revoke|backup|restore`: what was released, and whether its record is whole."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reticent.cli.grid import show_rows
from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, say

if TYPE_CHECKING:
    from reticent.jobs.ledger import Ledger

PLACE = typer.Argument(..., help="The ledger: a file, or a postgresql address.")
NAMED = typer.Option(None, "--ledger", help="The ledger (default: that of [ledger]).")
CALLED = typer.Option(None, "--name", help="What the release is called (default: that of [ledger]).")
RELEASE = typer.Argument(..., help="Its name or number.")
OPENING: dict[str, tuple[Any, Any]] = {
    "secret": (Path, typer.Option(..., "--secret", help="The key file that signs it.")),
    "dataset": (str, typer.Option("data", "--dataset", help="The data set that it is of.")),
    "anchor": (Path | None, typer.Option(None, "--anchor", help="Its anchor (default: beside the ledger).")),
    "json_out": (Path | None, JSON),
}
"""What every command says that opens a ledger by itself."""


@dataclass(frozen=True)
class Opened:
    """A ledger that a command opened, and where its answer goes."""

    ledger: "Ledger"
    place: str
    anchor: Path | None
    json_out: Path | None

    def answer(self, found: Any) -> None:
        """Give the answer as plain data, where that is asked for."""
        give_answer(found, self.json_out)


def on_ledger(work: Callable[..., None]) -> Callable[..., None]:
    """A command that opens a ledger: `work` gets it, and its other parameters follow the place of the ledger."""

    def command(**options: Any) -> None:
        from reticent.jobs.ledger import opened

        place, secret, dataset, anchor, json_out = (options.pop(name) for name in ("ledger", *OPENING))
        check_answer(json_out, (secret,))
        with opened(place, secret, dataset=dataset, anchor=anchor) as ledger:
            work(Opened(ledger, place, anchor, json_out), **options)

    kind = inspect.Parameter.KEYWORD_ONLY
    own = [one.replace(kind=kind) for one in list(inspect.signature(work, eval_str=True).parameters.values())[1:]]
    shared = [
        inspect.Parameter(name, kind, default=default, annotation=hint) for name, (hint, default) in OPENING.items()
    ]
    place = inspect.Parameter("ledger", kind, default=PLACE, annotation=str)
    command.__doc__, command.__name__ = work.__doc__, work.__name__
    command.__signature__ = inspect.Signature([place, *own, *shared])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in (place, *own, *shared)}
    return command


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands = typer.Typer(
        no_args_is_help=True, help="Ledgers: what was released of a data set, and whether it is whole."
    )
    commands.command("list")(on_ledger(list_releases))
    commands.command("show")(on_ledger(show))
    commands.command("explain")(on_ledger(explain))
    commands.command("import")(import_release)
    commands.command("verify")(on_ledger(verify))
    commands.command("revoke")(on_ledger(revoke))
    commands.command("backup")(backup)
    commands.command("restore")(restore)
    app.add_typer(commands, name="ledger")


def list_releases(at: Opened) -> None:
    """Every release: number, name, what it is, when it was recorded, whether it was revoked."""
    from reticent.jobs.ledger import releases_in

    found = releases_in(at.ledger)
    at.answer([one.row() for one in found])
    forms = [f"{one.form}, imported" if one.imported else one.form for one in found]
    rows = [
        (str(one.number), one.name, form, one.time, one.version, one.revoked or "–") for one, form in zip(found, forms)
    ]
    names = ("entry", "name", "form", "recorded", "version", "revoked")
    show_rows(open_console(), names, rows, words=("name", "revoked")) if rows else say("no releases yet")


def show(at: Opened, release: str = RELEASE) -> None:
    """Everything that the ledger says of one release, with the verdict it was released by."""
    from reticent.jobs.ledger import show_release

    found = show_release(at.ledger, release)
    at.answer(found)
    for name, value in found.items():
        say(f"{name:>10}  {value}")


def explain(at: Opened, release: str = RELEASE) -> None:
    """What a release was judged with, which releases it conflicts with and by which relations; `release --explain` for others."""
    from reticent.jobs.ledger_explain import explain_recorded

    found = explain_recorded(at.ledger, release)
    at.answer(found.plain)
    for line in found.lines():
        say(line)


def import_release(
    plan: Path = typer.Argument(..., help="The plan that says how it was made (TOML)."),
    published: list[Path] = typer.Argument(None, help="The published files (default: those of [output])."),
    ledger: str | None = NAMED,
    name: str | None = CALLED,
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


def verify(at: Opened) -> None:
    """Read every entry and every content again; ends with exit code 8 if one is missing or changed."""
    from reticent.jobs.ledger import verify_ledger

    found = verify_ledger(at.ledger, at.place, at.anchor)
    at.answer(found)
    say(f"intact: {found['entries']} entries, {found['releases']} releases with all their contents")


def revoke(
    at: Opened, release: str = RELEASE, reason: str = typer.Option(..., "--reason", help="Why, in words.")
) -> None:
    """Say that a release is no longer to be used; what it told stays known and counts for every later verdict."""
    from reticent.jobs.ledger import revoke as revoke_release

    number = revoke_release(at.ledger, release, reason)
    at.answer({"entry": number})
    say(f"revoked, entry {number}; its facts stay in force")


def backup(
    ledger: Path = PLACE, folder: Path = typer.Argument(..., help="A new folder."), json_out: Path | None = JSON
) -> None:
    """Copy a ledger, its anchor and its contents into a new folder."""
    from reticent.jobs.ledger import backup as copy

    _say_written(copy(ledger, folder), json_out)


def restore(
    folder: Path = typer.Argument(..., help="The folder of a backup."),
    ledger: Path = typer.Argument(..., help="Where the ledger was."),
    json_out: Path | None = JSON,
) -> None:
    """Copy a ledger back; one that is still there is never replaced, and an anchor that went on refuses an older copy."""
    from reticent.jobs.ledger import restore as copy

    _say_written(copy(folder, ledger), json_out)


def _say_written(made: tuple[Path, ...], json_out: Path | None) -> None:
    give_answer({"written": made}, json_out)
    for path in made:
        say(f"  {path}")
