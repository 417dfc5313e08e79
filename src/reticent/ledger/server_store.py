# SPDX-License-Identifier: Apache-2.0
"""A ledger on a PostgreSQL server through SQLAlchemy: append-only by trigger, one writer by advisory lock."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reticent.base.optional import need
from reticent.ledger.chain import LedgerError, StoredEntry, as_stored

STATEMENTS = (
    "CREATE TABLE IF NOT EXISTS reticent_entries (dataset text NOT NULL, number bigint NOT NULL, body bytea NOT NULL, "
    "hash bytea NOT NULL, PRIMARY KEY (dataset, number))",
    "CREATE TABLE IF NOT EXISTS reticent_progress (dataset text PRIMARY KEY, count bigint NOT NULL)",
    "CREATE OR REPLACE FUNCTION reticent_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$",
    "CREATE OR REPLACE TRIGGER reticent_keep BEFORE UPDATE OR DELETE ON reticent_entries "
    "FOR EACH ROW EXECUTE FUNCTION reticent_append_only()",
    "CREATE OR REPLACE TRIGGER reticent_keep_all BEFORE TRUNCATE ON reticent_entries "
    "FOR EACH STATEMENT EXECUTE FUNCTION reticent_append_only()",
)
ANY_LEDGER = 7_324_106_002


class ServerStore:
    """One data set's entries in a table shared by all ledgers of the server."""

    def __init__(self, url: str, dataset: str) -> None:
        self._sql = need("sqlalchemy", extra="postgresql", purpose="a ledger on a server")
        self._dataset = dataset
        self._thread = threading.RLock()
        self._depth = 0
        try:
            self._engine = self._sql.create_engine(url, isolation_level="READ COMMITTED")
            if self._engine.dialect.name != "postgresql":
                raise LedgerError("ledger: only PostgreSQL servers are supported; use a file path for SQLite.")
            self._connection = self._engine.connect()
        except LedgerError:
            raise
        except Exception as err:
            raise LedgerError("ledger: the server cannot be reached; check the address and the driver.") from err
        with self._trouble():
            # two first users at once must not race to create the tables
            self._run("SELECT pg_advisory_xact_lock(:key)", key=ANY_LEDGER)
            for statement in STATEMENTS:
                self._run(statement)
            self._run("INSERT INTO reticent_progress VALUES (:dataset, 0) ON CONFLICT DO NOTHING", dataset=dataset)
            self._connection.commit()

    def _run(self, statement: str, **values: Any) -> Any:
        return self._connection.execute(self._sql.text(statement), values)

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except self._sql.exc.SQLAlchemyError as err:
            self._connection.rollback()
            raise LedgerError("ledger: the server refused or lost the work; nothing was answered. Try again.") from err

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the data set's advisory lock; the server frees it when the connection is lost."""
        with self._thread:
            if self._depth == 0:
                with self._trouble():
                    self._run("SELECT pg_advisory_lock(hashtextextended(:dataset, 0))", dataset=self._dataset)
                    self._connection.commit()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._connection.rollback()
                    with self._trouble():
                        self._run("SELECT pg_advisory_unlock(hashtextextended(:dataset, 0))", dataset=self._dataset)
                        self._connection.commit()

    def read(self, after: int) -> list[StoredEntry]:
        """All entries after a number."""
        with self._thread, self._trouble():
            rows = self._run(
                "SELECT number, body, hash FROM reticent_entries WHERE dataset = :dataset AND number > :after "
                "ORDER BY number",
                dataset=self._dataset,
                after=after,
            ).fetchall()
            self._connection.commit()
        return [as_stored((number, bytes(body), bytes(digest))) for number, body, digest in rows]

    def append(self, entries: list[StoredEntry]) -> None:
        """Add entries in one transaction with synchronous commit."""
        with self._thread, self._trouble():
            self._run("SET LOCAL synchronous_commit TO on")
            for entry in entries:
                self._run(
                    "INSERT INTO reticent_entries VALUES (:dataset, :number, :body, :hash)",
                    dataset=self._dataset,
                    number=entry.number,
                    body=entry.body,
                    hash=entry.digest,
                )
            self._run(
                "UPDATE reticent_progress SET count = :count WHERE dataset = :dataset",
                count=entries[-1].number,
                dataset=self._dataset,
            )
            self._connection.commit()

    def count(self) -> int:
        """How many entries the server remembers to have taken."""
        with self._thread, self._trouble():
            row = self._run(
                "SELECT count FROM reticent_progress WHERE dataset = :dataset", dataset=self._dataset
            ).first()
            self._connection.commit()
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Give the connection back."""
        with self._thread:
            self._connection.close()
            self._engine.dispose()
