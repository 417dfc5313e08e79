# SPDX-License-Identifier: Apache-2.0
"""The anchor: a small file that says how far the ledger had come, so that a ledger cannot silently lose its end.

It is written and synced after an entry is on disk and before the answer leaves. So at every moment the ledger is at or
ahead of its anchor; a ledger behind its anchor has lost entries. The anchor is signed with the data set's secret: who
lacks the secret can neither write one nor change a character of one. It may lie on another disk or machine: restoring
ledger and anchor together from one old backup cannot be noticed by either.
"""

import hashlib
import hmac
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.base.randomness import Secret
from reticent.ledger.chain import HASH_BYTES, START, LedgerError
from reticent.ledger.lock import FileLock

MOST_BYTES = 1_000
MOST_ENTRIES = 2**63 - 1


@dataclass(frozen=True)
class Mark:
    """Number of entries and the hash of the last one."""

    count: int = 0
    digest: bytes = START


class Anchor:
    """Reads and replaces the anchor file.

    Version 0.1.0 did not sign anchors. Such a one is refused, because anybody could have written it, unless `adopt` says
    that its owner has checked the ledger; opening the ledger then signs it (`signed` says what `read` found).
    """

    def __init__(self, path: Path, secret: Secret, *, adopt: bool = False) -> None:
        self.path = path
        self._key = secret.digest("anchor", size=HASH_BYTES)
        self._adopt = adopt
        self.signed = True

    def lock(self) -> FileLock:
        """What keeps copies of a ledger from using the anchor at the same time."""
        try:
            return FileLock(self.path.with_name(self.path.name + ".lock"))
        except OSError as err:
            raise self._unwritable() from err

    def read(self) -> Mark | None:
        """What the anchor says; None if there is no anchor."""
        try:
            with self.path.open("rb") as file:
                text = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as err:
            raise self._unusable("cannot be read") from err
        try:
            plain = json.loads(text) if len(text) <= MOST_BYTES else None
        except (ValueError, RecursionError) as err:
            raise self._unusable("is damaged") from err
        return self._checked(plain)

    def _checked(self, plain: Any) -> Mark:
        if not isinstance(plain, dict) or set(plain) - {"count", "hash", "sign"}:
            raise self._unusable("is damaged")
        count, digest = plain.get("count"), plain.get("hash")
        if type(count) is not int or not 0 <= count <= MOST_ENTRIES or not isinstance(digest, str):
            raise self._unusable("is damaged")
        try:
            mark = Mark(count, bytes.fromhex(digest))
        except ValueError as err:
            raise self._unusable("is damaged") from err
        if len(mark.digest) != HASH_BYTES or digest != mark.digest.hex():
            raise self._unusable("is damaged")
        if "sign" not in plain and not self._adopt:
            raise LedgerError(
                f"ledger: the anchor {self.path.name!r} is not signed, as those of version 0.1.0 were; the data set stays "
                "closed. Make sure that the ledger is complete, then open it once with `adopt_anchor = true` in [ledger]."
            )
        self.signed = "sign" in plain
        signed = plain.get("sign", self._sign(mark))
        if not isinstance(signed, str) or not hmac.compare_digest(signed.encode(), self._sign(mark).encode()):
            raise self._unusable("was changed, or the secret is another one")
        return mark

    def write(self, mark: Mark) -> None:
        """Replace the anchor so that, whatever happens, either the old or the new one is there."""
        text = json.dumps({"count": mark.count, "hash": mark.digest.hex(), "sign": self._sign(mark)})
        fresh = self.path.with_name(self.path.name + ".new")
        try:
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                os.write(handle, text.encode("ascii"))
                os.fsync(handle)
            finally:
                os.close(handle)
            os.replace(fresh, self.path)
            sync_folder(self.path.parent)
        except OSError as err:
            raise self._unwritable() from err

    def _sign(self, mark: Mark) -> str:
        content = mark.count.to_bytes(8, "big") + mark.digest
        return hashlib.blake2b(content, key=self._key, digest_size=HASH_BYTES).hexdigest()

    def _unwritable(self) -> LedgerError:
        return LedgerError(
            f"ledger: the anchor {self.path.name!r} cannot be written, so nothing is answered; its folder must be "
            "there and writable."
        )

    def _unusable(self, what: str) -> LedgerError:
        return LedgerError(f"ledger: the anchor {self.path.name!r} {what}; the data set stays closed. Restore it.")


def sync_folder(folder: Path) -> None:
    """Make a rename in a folder durable (a no-op where folders cannot be opened)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
