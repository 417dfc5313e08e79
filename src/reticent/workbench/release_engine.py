# SPDX-License-Identifier: Apache-2.0
"""What runs in workers for releases and their ledger. Plain data in and out."""

from pathlib import Path
from typing import Any

from reticent.base.progress import Progress
from reticent.jobs.ledger import opened, releases_in, revoke, show_release, verify_ledger
from reticent.jobs.release import release_plan
from reticent.jobs.release_view import judged_view, read_toml, released_view
from reticent.workbench import engine, table_engine
from reticent.workbench.engine import Stamp
from reticent.workbench.project import stamp_of

Place = tuple[str, str | int, str, str, bool]
"""A ledger: its path, the secret that signs it, the data set, the anchor (empty: beside it), whether the secret is a test's."""


def judge(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> dict[str, Any]:
    """Run a plan and judge it with everything in its ledger; nothing is recorded or written.

    A plan that does not say where its searches ended is not judged: what it must say comes back.
    """
    said = read_toml(Path(plan))
    steps, repeat = None, []
    if "table" not in said:
        repeat = engine.unheld(plan, version, stamp, progress)
    elif "search_steps" not in said.get("protect", {}):
        steps = table_engine.steps_of(plan, version, stamp, progress)
    if steps is not None or repeat:
        return {"steps": steps, "repeat": repeat}
    return {**judged_view(Path(plan), progress=progress), "ledger": ledger_state(plan), "steps": None, "repeat": []}


def ledger_state(plan: str) -> Stamp:
    """What tells one state of a plan's ledger from another; nothing for one on a server."""
    path = str(read_toml(Path(plan)).get("ledger", {}).get("path", ""))
    return () if not path or "://" in path else (stamp_of(Path(plan).parent / path),)


def release(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> dict[str, Any]:
    """Judge once more, record, write."""
    return released_view(release_plan(Path(plan), progress=progress))


def _opened(place: Place) -> Any:
    path, secret, dataset, anchor, test = place
    key = Path(secret) if isinstance(secret, str) else secret
    return opened(path, key, dataset=dataset, anchor=Path(anchor) if anchor else None, test=test)


def listed(place: Place, stamp: Stamp, *, progress: Progress) -> list[dict[str, Any]]:
    """Every release in a ledger."""
    with _opened(place) as ledger:
        return [one.row() for one in releases_in(ledger)]


def shown(place: Place, stamp: Stamp, number: int, *, progress: Progress) -> dict[str, str]:
    """Everything that the ledger says of one release, as texts."""
    with _opened(place) as ledger:
        return {str(name): str(value) for name, value in show_release(ledger, str(number)).items()}


def verified(place: Place, stamp: Stamp, *, progress: Progress) -> dict[str, int]:
    """Read every entry and every content again."""
    with _opened(place) as ledger:
        return verify_ledger(ledger, place[0], Path(place[3]) if place[3] else None)


def revoked(place: Place, stamp: Stamp, number: int, reason: str, *, progress: Progress) -> int:
    """Say that a release is no longer to be used."""
    with _opened(place) as ledger:
        return revoke(ledger, str(number), reason)
