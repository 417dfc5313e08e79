# SPDX-License-Identifier: Apache-2.0
"""The file that describes a protected database, read and checked before any record is.

    [data]      path, schema, secret (a key file), test_secret, name, version, format, query; engine, memory, threads, spill
    [[earlier]] path, schema, version …: versions of the data asked about before, oldest first
    [ledger]    path (a file, or a postgresql address), anchor, create, adopt_anchor, streams
    [policy]    see `reticent.queries.policy.Policy`

Paths are relative to the file's own folder.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from reticent.base.errors import PlanError
from reticent.data.parameters import Examples, Parameters, build
from reticent.data.plan import EarlierData, EngineSection, read_toml, sections_of
from reticent.queries.policy import Policy, read_policy

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
            raise PlanError(
                f"{path.name}: the section [{section}] is missing; a database file needs [data], [ledger] and [policy]."
            )
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
