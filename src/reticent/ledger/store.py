# SPDX-License-Identifier: Apache-2.0
"""Where entries lie: the store protocol, and SQLite (write-ahead log, synchronous FULL) as the default.

A store only keeps bytes in order. What they mean and whether they are intact is decided by `chain` and `ledger`.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from reticent.ledger.chain import LedgerError, StoredEntry, as_stored
from reticent.ledger.lock import LOCK_WAIT, FileLock

SCHEMA = {
    "entries": "CREATE TABLE entries (number INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT",
    "progress": "CREATE TABLE progress (one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL) STRICT",
    "keep_entries": "CREATE TRIGGER keep_entries BEFORE DELETE ON entries BEGIN "
    "SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    "fix_entries": "CREATE TRIGGER fix_entries BEFORE UPDATE ON entries BEGIN "
    "SELECT RAISE(ABORT, 'the ledger is append-only'); END",
}


class Store(Protocol):
    """An ordered, append-only list of entries with a writer's lock."""

    def turn(self) -> AbstractContextManager[None]:
        """Be the only writer until the context ends; the operating system or server frees it after a crash."""
        ...

    def read(self, after: int) -> list[StoredEntry]:
        """All entries with a number above `after`, in order."""
        ...

    def append(self, entries: list[StoredEntry]) -> None:
        """Add entries; they are durable when this returns."""
        ...

    def count(self) -> int:
        """The number of entries the store remembers to have taken."""
        ...

    def close(self) -> None:
        """Free all resources."""
        ...


class SqliteStore:
    """A ledger in one SQLite file, readable by its owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread = threading.RLock()
        try:
            self._lock = FileLock(path.with_name(path.name + ".lock"))
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError as err:
            raise LedgerError(f"ledger: {path.name!r} cannot be opened or made; its folder must be writable.") from err
        with self._damage():
            self._connection = sqlite3.connect(
                path.absolute(), isolation_level=None, check_same_thread=False, timeout=LOCK_WAIT
            )
        try:
            with self.turn(), self._damage():
                self._connection.execute("PRAGMA journal_mode = WAL").fetchone()
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.execute("PRAGMA trusted_schema = OFF")
                self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        found = dict(self._connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
        if not found:
            self._connection.execute("BEGIN IMMEDIATE")
            for statement in SCHEMA.values():
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO progress VALUES (1, 0)")
            self._connection.execute("COMMIT")
        elif found != SCHEMA:
            raise LedgerError(
                f"ledger: {self.path.name!r} is not a ledger of this program, or its structure was changed; the data "
                "set stays closed. Restore an intact copy, or name another file."
            )

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except (
            sqlite3.Error,
            MemoryError,
            ValueError,
            OverflowError,
        ) as err:  # damaged lengths and texts come as these
            raise LedgerError(
                f"ledger: the file {self.path.name!r} is damaged or cannot be written; the data set stays closed. "
                "Restore an intact copy."
            ) from err

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Be the only writer, among threads and among processes."""
        with self._thread, self._lock:
            yield

    def read(self, after: int) -> list[StoredEntry]:
        """All entries after a number."""
        with self._thread, self._damage():
            rows = self._connection.execute(
                "SELECT number, body, hash FROM entries WHERE number > ? ORDER BY number", (after,)
            ).fetchall()
        return [as_stored(row) for row in rows]

    def append(self, entries: list[StoredEntry]) -> None:
        """Add entries in one transaction, synced to disk."""
        rows = [(entry.number, entry.body, entry.digest) for entry in entries]
        with self._thread, self._damage():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
                self._connection.execute("UPDATE progress SET count = ?", (rows[-1][0],))
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def count(self) -> int:
        """How many entries the file remembers to have taken."""
        with self._thread, self._damage():
            row = self._connection.execute("SELECT count FROM progress").fetchone()
        if row is None or type(row[0]) is not int:
            raise LedgerError(
                "ledger: it does not say how many entries it has taken; the data set stays closed. Restore an intact copy."
            )
        return int(row[0])

    def copy_to(self, target: Path) -> None:
        """Write all entries into a new file, readable by its owner only.

        While a program has a ledger open, its last entries are in a log beside the file, and a copy of the file alone has none
        of them.
        """
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with self._thread, self._damage():
            copy = sqlite3.connect(target.absolute())
            try:
                self._connection.backup(copy)
            finally:
                copy.close()

    def close(self) -> None:
        """Close the file."""
        with self._thread:
            self._connection.close()
            self._lock.close()
