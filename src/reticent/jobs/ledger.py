# SPDX-License-Identifier: Apache-2.0
"""Jobs on a ledger itself: what it holds, whether it is intact, import, revocation, copies."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reticent.base.checks import check_names_file, check_reason
from reticent.base.errors import ParameterError
from reticent.base.randomness import Secret, release_secret
from reticent.history.book import Recorded, blobs_of, recorded_in
from reticent.io.database import is_url
from reticent.ledger.ledger import RELEASE, REVOCATION, Ledger, open_ledger
from reticent.ledger.store import SqliteStore

__all__ = ["Ledger", "Recorded", "backup", "releases_in", "restore", "revoke", "show_release", "verify_ledger"]


@contextmanager
def opened(
    place: str | Path,
    secret: Path | int | Secret,
    *,
    dataset: str = "data",
    anchor: Path | None = None,
    create: bool = False,
    test: bool = False,
) -> Iterator[Ledger]:
    """A ledger, verified."""
    own = secret if isinstance(secret, Secret) else release_secret(secret, test=test, owner="ledger")
    where = place if is_url(str(place)) else Path(place)
    ledger = open_ledger(where, secret=own.child("ledger"), dataset=dataset, anchor=anchor, create=create)
    try:
        yield ledger
    finally:
        ledger.close()


def releases_in(ledger: Ledger) -> list[Recorded]:
    """Every release, with what was revoked."""
    return recorded_in(ledger.entries())


def show_release(ledger: Ledger, which: str) -> dict[str, Any]:
    """Everything that the ledger says of one release, by name or number."""
    for entry in ledger.entries():
        if entry.kind == RELEASE and which in (entry.payload["name"], str(entry.number)):
            own = next(one for one in releases_in(ledger) if one.number == entry.number)
            return {"entry": entry.number, **entry.payload, "revoked": own.revoked}
    raise ParameterError(f"ledger: there is no release {which!r}; `reticent ledger list` shows them.")


def verify_ledger(ledger: Ledger, place: str, anchor: Path | None = None) -> dict[str, int]:
    """Read every entry and every content again; a missing or changed one is an error."""
    entries = ledger.entries()
    blobs = blobs_of(place if is_url(place) else Path(place), anchor)
    contents = [(one.number, one.blob) for one in releases_in(ledger)]
    for number, name in contents:
        blobs.get(name, entry=number)
    return {"entries": len(entries), "releases": len(contents)}


def revoke(ledger: Ledger, which: str, reason: str) -> int:
    """Say that a release is no longer to be used. What it told stays known, so every later verdict still counts it."""
    check_reason(reason, owner="ledger", name="the reason")
    number = show_release(ledger, which)["entry"]
    if any(one.number == number and one.revoked for one in releases_in(ledger)):
        raise ParameterError(f"ledger: the release {which!r} is revoked already.")
    with ledger.turn() as turn:
        return turn.append(REVOCATION, {"release": number, "reason": reason}).number


def backup(place: Path, target: Path) -> tuple[Path, ...]:
    """Copy a ledger with its contents, and with the anchor that lies beside it, into a new folder.

    Nobody writes meanwhile, so the copies belong together.
    """
    if not place.is_file():
        raise ParameterError(f"ledger: there is no {place.name!r} to copy; give the file that [ledger] path names.")
    target.mkdir(parents=True, exist_ok=False)
    anchor, blobs = place.with_name(place.name + ".anchor"), place.with_name(place.name + ".blobs")
    store = SqliteStore(place)
    try:
        with store.turn():
            store.copy_to(target / place.name)
            copies = [target / place.name]
            if anchor.exists():
                copies.append(Path(shutil.copy2(anchor, target / anchor.name)))
            if blobs.is_dir():
                copies.append(Path(shutil.copytree(blobs, target / blobs.name)))
    finally:
        store.close()
    return tuple(copies)


def restore(source: Path, place: Path) -> tuple[Path, ...]:
    """Copy a ledger back from a backup; where one is still there it is never replaced."""
    check_names_file(place, owner="ledger")
    log = place.with_name(place.name + "-wal")
    for one in (place, log):
        if one.exists():
            raise ParameterError(
                f"ledger: {one.name!r} is there already; a backup never replaces a ledger, nor the log of its last entries. "
                "Move it away first."
            )
    if not (source / place.name).exists():
        raise ParameterError(f"ledger: the backup has no {place.name!r}; give the folder that `backup` wrote.")
    copies = []
    for one in sorted(source.iterdir()):
        target = place.parent / one.name
        if one.is_dir():
            copies += _put_back(one, target)
        elif not target.exists():  # an anchor that went on says that the backup is older than what is public
            copies.append(Path(shutil.copy2(one, target)))
    return tuple(copies)


def _put_back(source: Path, target: Path) -> list[Path]:
    """Copy the contents that are gone; those that are there are called by their hash, so they are the same or are found out."""
    target.mkdir(mode=0o700, exist_ok=True)
    gone = [one for one in sorted(source.iterdir()) if not (target / one.name).exists()]
    for one in gone:
        shutil.copy2(one, target / one.name)
    return [target] if gone else []
