# SPDX-License-Identifier: Apache-2.0
"""Large contents of ledger entries, kept beside the ledger by their hash; the entry that names one vouches for it."""

import hashlib
import os
import zlib
from contextlib import suppress
from pathlib import Path

from reticent.ledger.anchor import sync_folder
from reticent.ledger.chain import LedgerError

HASH_BYTES = 32


class Blobs:
    """A folder of compressed contents, each called by its hash, readable by its owner only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: bytes) -> str:
        """Keep a content; it is durable when its name is returned. The same content is kept once."""
        name = name_of(content)
        target = self.folder / name
        if target.exists():
            return name
        fresh = self.folder / f".{name}.{os.getpid()}"
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(zlib.compress(content, 6))
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, target)
            sync_folder(self.folder)
        except OSError as err:
            raise LedgerError(
                f"ledger: {self.folder.name!r} cannot be written, so nothing is released; its folder must be writable."
            ) from err
        finally:
            with suppress(OSError):  # what went wrong is said already
                fresh.unlink(missing_ok=True)
        return name

    def get(self, name: str, *, entry: int) -> bytes:
        """The content that an entry names, checked against its hash."""
        try:
            content = zlib.decompress((self.folder / name).read_bytes())
        except (OSError, zlib.error):
            raise self._gone(entry) from None
        if name_of(content) != name:
            raise self._gone(entry)
        return content

    def _gone(self, entry: int) -> LedgerError:
        return LedgerError(
            f"ledger: what entry {entry} released is missing or damaged in {self.folder.name!r}; the data set stays closed. "
            "Restore the folder together with its ledger.",
            entry=entry,
        )


def name_of(content: bytes) -> str:
    """What a content is called: its hash."""
    return hashlib.blake2b(content, digest_size=HASH_BYTES).hexdigest()
