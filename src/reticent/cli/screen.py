# SPDX-License-Identifier: Apache-2.0
"""What every command shares: where it talks to, and the switches that say how much.

`--quiet`, `--verbose` and `--debug` may stand before or after the name of a command. With `--json -` the answer is the only
thing on standard output.
"""

import json
import logging
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

STANDARD_OUTPUT = Path("-")
JSON: Any = typer.Option(
    None, "--json", help="Write the answer as JSON to this file (confidential); - prints it and nothing else."
)


@dataclass
class Switches:
    """How much a run says."""

    quiet: bool = False
    verbose: bool = False
    debug: bool = False


switches = Switches()


def take_switches(words: Iterable[str]) -> list[str]:
    """Set the switches from the words of a command line, and give the other words back."""
    listed = list(words)
    named = {"--quiet": "quiet", "-q": "quiet", "--verbose": "verbose", "--debug": "debug"}
    end = listed.index("--") if "--" in listed else len(listed)
    for field in ("quiet", "verbose", "debug"):
        setattr(switches, field, any(named.get(word) == field for word in listed[:end]))
    prints_json = any(word == "--json=-" for word in listed[:end]) or any(
        pair == ("--json", "-") for pair in pairwise(listed[:end])
    )
    switches.quiet = switches.quiet or prints_json
    if switches.verbose:
        logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s  %(message)s", force=True)
    return [word for word in listed[:end] if word not in named] + listed[end:]


def open_console() -> Console:
    """Standard output for people: plain where it is not a terminal or `NO_COLOR` is set, silent with `--quiet`.

    Names and codes are shown as they are: brackets in them are not instructions.
    """
    return Console(quiet=switches.quiet, markup=False)


def tagged(word: str, style: str, text: object = "") -> Text:
    """A coloured word, then a text as it stands."""
    return Text.assemble((word, style), f" {text}" if str(text) else "")


def say(text: str) -> None:
    """One line for people, as it stands."""
    if not switches.quiet:
        typer.echo(text)


def log(text: str) -> None:
    """One line of the log that `--verbose` shows on standard error; it never holds a value of a record."""
    if switches.verbose:
        logging.getLogger("reticent").info(text)


def check_answer(place: Path | None, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse a place for the answer that cannot be written, or that the same work reads; before the work starts."""
    from reticent.jobs.answers import check_answer as check

    check(None if place == STANDARD_OUTPUT else place, inputs)


def give_answer(answer: Any, place: Path | None) -> None:
    """Write the answer as JSON where it was asked for."""
    from reticent.base.plain import as_plain
    from reticent.jobs.answers import write_answer

    if place == STANDARD_OUTPUT:
        typer.echo(json.dumps(as_plain(answer), indent=2, ensure_ascii=False))
    else:
        write_answer(answer, place)
