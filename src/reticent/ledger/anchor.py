"""The anchor: a small file that says how far the ledger had come, so that a ledger cannot silently lose its end.

It is written and synced after an entry is on disk and before the answer leaves. So at every moment the ledger is at or
ahead of its anchor; a ledger behind its anchor has lost entries. The anchor may lie on another disk or machine: restoring
ledger and anchor together from one old backup cannot be noticed by either.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from reticent.ledger.chain import START, LedgerError


@dataclass(frozen=True)
class Mark:
    """Number of entries and the hash of the last one."""

    count: int = 0
    digest: bytes = START


class Anchor:
    """Reads and replaces the anchor file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Mark | None:
        """What the anchor says; None if there is no anchor."""
        try:
            plain = json.loads(self.path.read_text(encoding="ascii"))
            return Mark(int(plain["count"]), bytes.fromhex(plain["hash"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as err:
            raise LedgerError(
                f"ledger: the anchor {self.path.name!r} cannot be read; the data set stays closed. Restore it."
            ) from err

    def write(self, mark: Mark) -> None:
        """Replace the anchor so that, whatever happens, either the old or the new one is there."""
        text = json.dumps({"count": mark.count, "hash": mark.digest.hex()})
        fresh = self.path.with_name(self.path.name + ".new")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(handle, text.encode("ascii"))
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(fresh, self.path)
        sync_folder(self.path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in a folder durable (a no-op where folders cannot be opened)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
