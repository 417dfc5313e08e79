# SPDX-License-Identifier: Apache-2.0
"""The job that explains: why a release is refused, or what a ledger says of one that is recorded."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reticent.base.progress import Progress, silent
from reticent.history.explaining import Explanation, explain_release
from reticent.history.made import Made
from reticent.history.released import offer_instead, remembered
from reticent.jobs.ledger import releases_in, show_release
from reticent.jobs.release import prepare_release
from reticent.jobs.release_book import Where, open_book
from reticent.ledger.ledger import Ledger

__all__ = ["Explanation", "explain_made", "explain_plan", "explain_recorded"]


def explain_plan(
    path: Path, *, ledger: str | None = None, name: str | None = None, progress: Progress = silent
) -> Explanation:
    """Run a plan and say what stands against its release beside everything in the ledger; nothing is recorded or written."""
    prepared = prepare_release(Path(path), ledger, name, progress)
    progress(0.8, "judging with earlier releases")
    return explain_made(prepared.where, prepared.made)


def explain_made(where: Where, made: Made) -> Explanation:
    """The same for what was made already."""
    name = where.section.name
    with open_book(where, made.records) as book:
        _, _, made = remembered(book, made, where.section)
        found = explain_release(book, made.recipe, name)
        return found if found.verdict.safe else replace(found, instead=offer_instead(book, made, name).sentence())


@dataclass(frozen=True)
class Recorded:
    """What a ledger says of a recorded release."""

    plain: dict[str, Any]

    def lines(self) -> list[str]:
        """For people, line by line."""
        found = self.plain
        lines = [f"{found['release']}, entry {found['entry']}: {found['verdict']}"]
        lines.append(f"judged together with {', '.join(found['judged with']) or 'nothing: it is the first release'}")
        for one in found["conflicts"]:
            lines += [
                f"{one['cell']} (hidden by {one['hidden by']}): {', '.join(one['releases'])}",
                f"  {one['relations']}",
            ]
        for name, count in found["cells that imports gave away"].items():
            lines.append(
                f"{count} of its hidden cells were given away by {name}, which was published without the ledger"
            )
        if found["judged with it since"]:
            lines.append(f"judged with it since: {', '.join(found['judged with it since'])}")
        return [*lines, *([f"revoked: {found['revoked']}"] if found["revoked"] else [])]


def explain_recorded(ledger: Ledger, which: str) -> Recorded:
    """What a recorded release was judged with, the verdict, and which imports came nearer to what it hides than it allows."""
    shown = show_release(ledger, which)
    recorded = releases_in(ledger)
    own = next(one for one in recorded if one.number == shown["entry"])
    parts = (own.name, f"{own.name} (")
    amended = {
        one.name: len({line[1] for line in one.amended if line[0] == parts[0] or line[0].startswith(parts[1])})
        for one in recorded
        if one.imported
    }
    return Recorded(
        {
            "release": own.name,
            "entry": own.number,
            "judged with": [one.name for one in recorded if one.number < own.number],
            "verdict": own.sentence,
            "conflicts": shown.get("conflicts", []),
            "cells that imports gave away": {name: count for name, count in amended.items() if count},
            "judged with it since": [one.name for one in recorded if one.number > own.number],
            "revoked": own.revoked,
        }
    )
