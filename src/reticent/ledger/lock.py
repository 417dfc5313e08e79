# SPDX-License-Identifier: Apache-2.0
"""A lock file: one process at a time, freed by the operating system after a crash."""

import os
import time
from pathlib import Path

from reticent.ledger.chain import LedgerError

LOCK_WAIT = 120.0


class FileLock:
    """A lock held by the operating system for a process; a crash frees it."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._depth = 0

    def __enter__(self) -> None:
        if self._depth == 0:
            _lock_handle(self._handle)
        self._depth += 1

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            _unlock_handle(self._handle)

    def close(self) -> None:
        """Give the lock file back."""
        os.close(self._handle)


def _lock_handle(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
        return
    import fcntl

    deadline, pause = time.monotonic() + LOCK_WAIT, 0.0005
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise LedgerError("ledger: another process has held it for too long; try again later.") from None
            time.sleep(pause)
            pause = min(pause * 2, 0.01)


def _unlock_handle(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
        return
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_UN)
