# SPDX-License-Identifier: Apache-2.0
"""The ledger of one data set: verified when opened, written one decision at a time, synced before anything leaves.

Guarantee. When `Turn.append` returns, the entry is on disk and the anchor says so; only then may an answer leave. A
crash at any instant leaves the ledger equal to its anchor or ahead of it (a decision that was logged but not sent stays
in force). Opening refuses, in one sentence, a ledger with a changed, missing, added or reordered entry, one that ends
before its anchor, and an anchor that was not signed with the secret. Every turn looks at the anchor again: of two copies of a
ledger that share one, the second is refused as soon as the first has gone on. Not noticed: ledger and anchor rolled back
(or copied) together to an earlier pair; keep the anchor elsewhere against that.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reticent.base.checks import check_names_file
from reticent.base.randomness import Secret
from reticent.base.version import VERSION
from reticent.ledger.anchor import Anchor, Mark
from reticent.ledger.chain import START, Chain, Entry, LedgerError, StoredEntry, decode, encode
from reticent.ledger.shares import refuse_share
from reticent.ledger.snapshot import Snapshots
from reticent.ledger.store import SqliteStore, Store

FORMAT = 2
"""Version 0.1.0 wrote format 1, with answers only; it refuses ledgers of this one, whose releases it would not reckon with."""
UPGRADE = "upgrade"
RELEASE, REVOCATION = "release", "revocation"
"""Kinds of entries: a table or file that left, and the word that one is no longer to be used."""


class Turn:
    """The time during which this process is the only writer; `unseen` are entries others wrote since our last turn."""

    def __init__(self, ledger: "Ledger", unseen: list[Entry]) -> None:
        self._ledger, self.unseen = ledger, unseen

    def append(self, kind: str, payload: Mapping[str, Any]) -> Entry:
        """Write one decision; it is durable and anchored when this returns."""
        return self._ledger._append([(kind, payload)])[0]


class Ledger:
    """All releases of one data set."""

    def __init__(self, store: Store, anchor: Anchor, *, secret: Secret, dataset: str, create: bool = True) -> None:
        self._store, self._anchor, self._chain = store, anchor, Chain(secret)
        self.snapshots = Snapshots(anchor.path.with_name(anchor.path.name + ".state"), secret)
        self._mark = Mark()
        self._process = os.getpid()
        self._closed = False
        try:
            self._guard = anchor.lock()
        except LedgerError:
            store.close()
            raise
        try:
            with store.turn(), self._guard:
                self._verify(dataset, create=create)
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"<Ledger {self._mark.count} entries>"

    def __len__(self) -> int:
        return self._mark.count

    @property
    def head(self) -> bytes:
        """The hash of the last entry."""
        return self._mark.digest

    def entries(self) -> list[Entry]:
        """Every entry, verified, in order."""
        self._check_open()
        stored = self._store.read(0)[: self._mark.count]
        if self._chain.verify(START, 0, stored) != self._mark.digest:
            raise LedgerError(
                "ledger: its last entries are gone since it was opened; the data set stays closed. Restore the complete ledger."
            )
        return [decode(entry) for entry in stored]

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Be the only writer; first catch up with what others wrote."""
        self._check_open()
        if os.getpid() != self._process:  # locks are shared with the process that opened it, so they keep nobody out
            raise LedgerError(
                "ledger: it was opened by another process that this one was forked from; open it again here."
            )
        with self._store.turn(), self._guard:
            stored = self._store.read(self._mark.count)
            self._advance(stored)
            self._check_anchor()
            yield Turn(self, [decode(entry) for entry in stored])

    def close(self) -> None:
        """Free the store; closing again does nothing, because the numbers of its files may be those of another ledger by then."""
        if not self._closed:
            self._closed = True
            self._store.close()
            self._guard.close()

    def _check_open(self) -> None:
        if self._closed:
            raise LedgerError("ledger: it was closed; open it again to go on.")

    def _check_anchor(self) -> None:
        """Refuse to go on beside another copy of the ledger that has the same anchor.

        The anchor may be behind: a process may have ended before it wrote it, or uses an anchor of its own.
        """
        anchored = self._anchor.read()
        if anchored is None:
            raise self._anchor_gone()
        if anchored == self._mark or not anchored.count:
            return
        reached = self._store.read(anchored.count - 1)[:1] if anchored.count < self._mark.count else []
        if not reached or reached[0].digest != anchored.digest:
            raise LedgerError(
                f"ledger: its anchor {self._anchor.path.name!r} has gone on with another copy of it; answers that this one "
                "does not know are public, so it stays closed. Keep one ledger for one anchor."
            )

    def _anchor_gone(self) -> LedgerError:
        return LedgerError(
            f"ledger: its anchor {self._anchor.path.name!r} is missing; the data set stays closed. Restore the anchor."
        )

    def _verify(self, dataset: str, *, create: bool) -> None:
        anchored = self._anchor.read()
        stored = self._store.read(0)
        remembered = self._store.count()
        last = stored[-1].number if stored else 0
        if not stored and anchored is None and not remembered:
            if not create:
                raise LedgerError(
                    "ledger: there is none yet, and create = false forbids making one; check its path, or say create = true."
                )
            self._anchor.write(Mark())  # before the first entry: from now on a missing anchor is a loss
            self._append([("ledger", {"format": FORMAT, "dataset": dataset})])
            return
        if anchored is None:
            raise self._anchor_gone()
        if remembered > last:
            raise LedgerError(
                f"ledger: the last entries are missing: {remembered} were written, {last} are there; the data "
                "set stays closed. Restore the complete ledger.",
                entry=last + 1,
            )
        if anchored.count > last:
            raise LedgerError(
                f"ledger: this is an older copy: it ends at entry {last}, but entry {anchored.count} was written; "
                "answers it does not know are public, so the data set stays closed. Restore the complete ledger.",
                entry=last + 1,
            )
        self._advance(stored)
        if remembered < last:
            raise LedgerError(
                f"ledger: it says that {remembered} entries were written, but holds {last}; the data set stays closed. "
                "Restore an intact copy."
            )
        if anchored.count and stored[anchored.count - 1].digest != anchored.digest:
            raise LedgerError(
                f"ledger: entry {anchored.count} is not the one its anchor remembers; the data set stays closed. "
                "Restore ledger and anchor that belong together.",
                entry=anchored.count,
            )
        if anchored.count < len(stored) or not self._anchor.signed:
            self._anchor.write(self._mark)  # a crash came between the entry and its anchor; the entry holds
        if not stored:
            self._append([("ledger", {"format": FORMAT, "dataset": dataset})])
            stored = self._store.read(0)
        self._check_dataset(decode(stored[0]), dataset)
        self._upgrade(stored)

    def _check_dataset(self, first: Entry, dataset: str) -> None:
        if first.kind != "ledger" or first.payload.get("format") not in range(1, FORMAT + 1):
            raise _of_another_version()
        if first.payload.get("dataset") != dataset:
            raise LedgerError("ledger: it belongs to another data set; give each data set its own ledger.")

    def _upgrade(self, stored: list[StoredEntry]) -> None:
        """Say in a ledger of an earlier version that this one writes in it from now on; nothing else is changed."""
        told = [decode(stored[0]), *(entry for entry in map(decode, stored) if entry.kind == UPGRADE)]
        format = max(int(entry.payload["format"]) for entry in told)
        if format > FORMAT:
            raise _of_another_version()
        if format < FORMAT:
            self._append([(UPGRADE, {"format": FORMAT, "from": format, "program": VERSION})])

    def _advance(self, stored: list[StoredEntry]) -> None:
        if stored:
            digest = self._chain.verify(self._mark.digest, self._mark.count, stored)
            self._mark = Mark(self._mark.count + len(stored), digest)

    def _append(self, items: list[tuple[str, Mapping[str, Any]]]) -> list[Entry]:
        stored, mark = [], self._mark
        for kind, payload in items:
            body = encode(kind, payload)
            digest = self._chain.link(mark.digest, mark.count + 1, body)
            mark = Mark(mark.count + 1, digest)
            stored.append(StoredEntry(mark.count, body, digest))
        self._store.append(stored)
        self._mark = mark
        self._anchor.write(mark)
        return [decode(entry) for entry in stored]


def _of_another_version() -> LedgerError:
    return LedgerError("ledger: it was written by another version of the program that this one cannot read.")


def open_ledger(
    place: str | Path,
    *,
    secret: Secret,
    dataset: str,
    anchor: Path | None = None,
    create: bool = True,
    adopt_anchor: bool = False,
) -> Ledger:
    """Open (or begin) the ledger of a data set: a file for SQLite, or a `postgresql…://` address.

    The anchor lies beside the file unless `anchor` says where; a PostgreSQL ledger needs one named. `adopt_anchor` takes
    over an anchor of version 0.1.0, which is not signed.
    """
    text = str(place)
    if "://" in text:
        if anchor is None:
            raise LedgerError(
                "ledger: a ledger on a server needs `anchor`, a local file that says how far it had come."
            )
        from reticent.ledger.server_store import ServerStore

        mark = Anchor(anchor, secret, adopt=adopt_anchor)
        return Ledger(ServerStore(text, dataset), mark, secret=secret, dataset=dataset, create=create)
    path = Path(place)
    check_names_file(path, owner="ledger")
    refuse_share(path)
    mark = Anchor(anchor or path.with_name(path.name + ".anchor"), secret, adopt=adopt_anchor)
    if mark.path.absolute() == path.absolute():
        raise LedgerError("ledger: the anchor must be another file than the ledger; name another one.")
    if not path.exists() and mark.read() is not None:
        raise LedgerError(
            f"ledger: {path.name!r} is gone although its anchor is there; the data set stays closed. Restore the ledger."
        )
    if not path.exists() and not create:
        raise LedgerError(
            f"ledger: there is no {path.name!r}, and create = false forbids making one; check the path, or say create = true."
        )
    return Ledger(SqliteStore(path), mark, secret=secret, dataset=dataset, create=create)
