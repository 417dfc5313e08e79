# SPDX-License-Identifier: Apache-2.0
"""Open a protected database that a TOML file describes, and ask it.

    [data]      path, schema, secret (a key file), test_secret, name, version, format, query; engine, memory, threads, spill
    [[earlier]] path, schema, version …: versions of the data asked about before, oldest first
    [ledger]    path (a file, or a postgresql address), anchor, create, adopt_anchor, streams
    [policy]    see `reticent.queries.policy.Policy`

Paths are relative to the file's own folder.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from reticent.base.errors import PlanError
from reticent.base.randomness import Secret
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples, Parameters, build
from reticent.data.plan import EngineSection, read_toml, sections_of
from reticent.history.answers import Beside
from reticent.history.book import blobs_of
from reticent.io.database import is_url
from reticent.io.large import engine_choice, open_large
from reticent.io.read import read_microdata
from reticent.ledger.ledger import Ledger
from reticent.queries.database import ProtectedDatabase
from reticent.queries.engine import Engine
from reticent.queries.language import Query, ask_for
from reticent.queries.policy import MOST_TEXT, Policy, read_policy
from reticent.queries.refusals import Answer, Refusal
from reticent.queries.versions import name_sets, open_universe

__all__ = ["MOST_TEXT", "Answer", "Refusal", "answer_query", "open_database", "read_database_file", "read_version"]

SECTIONS = ("data", "earlier", "ledger", "policy")


@dataclass(frozen=True)
class QueryData(EngineSection):
    """`[data]`: the current version of the records; with an `engine` they stay there, and `path` may be a pattern."""

    examples: ClassVar[Examples] = (
        {"path": "people.csv", "secret": "secret.key"},
        {"path": "part-*.parquet", "secret": "secret.key", "engine": "duckdb"},
    )
    path: str
    secret: str | int
    schema: str | None = None
    name: str = "data"
    version: str = "1"
    format: str | None = None
    query: str | None = None
    test_secret: bool = False


@dataclass(frozen=True)
class EarlierData(Parameters):
    """`[[earlier]]`: a version of the records that was asked about before."""

    path: str
    version: str
    schema: str | None = None
    format: str | None = None
    query: str | None = None


@dataclass(frozen=True)
class LedgerPlace(Parameters):
    """`[ledger]`: where everything released is remembered."""

    path: str
    anchor: str | None = None
    create: bool = True
    adopt_anchor: bool = False
    streams: int | None = field(
        default=None, metadata={"help": "version of the random streams to draw from; needed after an upgrade"}
    )


@dataclass(frozen=True)
class DatabaseFile:
    """A database file, read and checked, before any record is."""

    data: QueryData
    ledger: LedgerPlace
    policy: Policy
    earlier: tuple[EarlierData, ...]
    folder: Path

    def find(self, name: str) -> Path:
        """A file that the database file names."""
        return self.folder / name


def read_database_file(path: Path) -> DatabaseFile:
    """Read a database file; unknown options are errors."""
    table = read_toml(path)
    table = sections_of(table, SECTIONS, owner=path.name)
    for section in ("data", "ledger", "policy"):
        if section not in table:
            raise PlanError(f"{path.name}: the section [{section}] is missing.")
    listed = table.get("earlier", [])
    if not isinstance(listed, list):
        raise PlanError(f"{path.name}: write [[earlier]] for each earlier version.")
    return DatabaseFile(
        data=build(QueryData, table["data"], owner=f"{path.name}: [data]"),
        ledger=build(LedgerPlace, table["ledger"], owner=f"{path.name}: [ledger]"),
        policy=read_policy(table["policy"], owner=f"{path.name}: [policy]"),
        earlier=tuple(build(EarlierData, item, owner=f"{path.name}: [[earlier]]") for item in listed),
        folder=path.parent,
    )


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
    """What judges answers together with the tables and files that a ledger holds; None for what is no place."""
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
    database = open_database(source)
    try:
        return database.ask(question, user=user)
    finally:
        database.close()
