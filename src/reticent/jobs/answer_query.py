# SPDX-License-Identifier: Apache-2.0
"""Open a protected database that a file describes (`database_file.py`), and ask it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError, PlanError
from reticent.base.randomness import Secret
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.plan import EarlierData
from reticent.history.answers import Beside
from reticent.history.book import blobs_of
from reticent.io.database import is_url
from reticent.io.large import engine_choice, open_large
from reticent.io.read import read_microdata
from reticent.jobs.database_file import DatabaseFile, QueryData, read_database_file
from reticent.ledger.ledger import Ledger
from reticent.queries.database import ProtectedDatabase
from reticent.queries.engine import Engine
from reticent.queries.language import Query, ask_for
from reticent.queries.policy import MOST_TEXT
from reticent.queries.refusals import Answer, Refusal
from reticent.queries.users import normal_user
from reticent.queries.versions import name_sets, open_universe

__all__ = ["MOST_TEXT", "Answer", "Refusal", "answer_query", "decisions_of", "open_database", "read_version"]


def open_database(path: Path | str) -> ProtectedDatabase:
    """Read the records, verify the ledger, and open the database."""
    file = read_database_file(Path(path))
    data = current_records(file)
    closing = data.view.connection.close if isinstance(data, LargeFile) else None
    try:
        return _opened(file, data, closing)
    except BaseException:
        if closing is not None:
            closing()
        raise


def _opened(file: DatabaseFile, data: Microdata | LargeFile, closing: Callable[[], None] | None) -> ProtectedDatabase:
    place = file.ledger.path if is_url(file.ledger.path) else file.find(file.ledger.path)
    anchor = None if file.ledger.anchor is None else file.find(file.ledger.anchor)
    return ProtectedDatabase(
        data,
        policy=file.policy,
        secret=file.data.secret if isinstance(file.data.secret, int) else file.find(file.data.secret),
        ledger=place,
        name=file.data.name,
        version=file.data.version,
        earlier=[(item.version, read_version(file, item)) for item in file.earlier],
        anchor=anchor,
        create=file.ledger.create,
        test_secret=file.data.test_secret,
        adopt_anchor=file.ledger.adopt_anchor,
        streams=file.ledger.streams,
        beside=beside(place, anchor),
        closing=closing,
    )


def current_records(file: DatabaseFile) -> Microdata | LargeFile:
    """The records of the current version: in memory, or in the engine that the file names."""
    source = file.data
    if source.engine is None:
        return read_version(file, source)
    if source.format is not None:
        raise PlanError("[data]: with an engine, files are Parquet, UTF-8 CSV or a DuckDB database; drop format.")
    return open_large(
        source.path, source.schema, engine_choice(source, file.folder), folder=file.folder, query=source.query
    ).data


def engine_of(file: DatabaseFile, ledger: Ledger, secret: Secret, judge: Beside) -> Engine:
    """The engine of a database on a ledger that is open already, to read what it answered."""
    listed = [*((item.version, read_version(file, item)) for item in file.earlier)]
    listed.append((file.data.version, read_version(file, file.data)))
    universe = open_universe(listed, file.policy, secret)
    name_sets(ledger, universe)
    return Engine(universe, file.policy, secret.child("queries"), ledger, beside=judge)


def beside(place: object, anchor: object) -> Beside | None:
    """What judges answers together with the tables and files that a ledger holds; None for what is not a place."""
    if not isinstance(place, str | Path) or not isinstance(anchor, str | Path | None):
        return None
    if (is_url(place) and anchor is None) or not Path(place).name:  # opening it says what is wrong
        return None
    return Beside(blobs_of(place, None if anchor is None else Path(anchor)))


def read_version(file: DatabaseFile, source: QueryData | EarlierData) -> Microdata:
    """The records of one version, in memory."""
    if isinstance(source, QueryData) and source.engine is not None:
        raise PlanError(
            "[data]: this needs the records of the database in memory; give it a database file without an engine."
        )
    return read_microdata(
        source.path if is_url(source.path) else Path(source.path),
        source.schema,
        folder=file.folder,
        format=source.format,
        query=source.query,
    )


def answer_query(
    source: ProtectedDatabase | Path | str, question: str | Query | ask_for, *, user: str
) -> Answer | Refusal:
    """Ask one query of a database file, or of a database that is open; the decision is in the ledger when this returns."""
    if isinstance(source, ProtectedDatabase):
        return source.ask(question, user=user)
    normal_user(user)  # before a ledger is begun: who cannot ask leaves nothing behind
    database = open_database(source)
    try:
        return database.ask(question, user=user)
    finally:
        database.close()


def decisions_of(path: Path, number: int | None = None) -> list[dict[str, Any]]:
    """What a database decided so far, or the one decision with this number; confidential."""
    database = open_database(path)
    try:
        found = [decision for decision in database.history() if number in (None, decision["number"])]
    finally:
        database.close()
    if number is not None and not found:
        raise DataError(f"ledger: there is no decision with the number {number}; leave it out to see all.")
    return found
