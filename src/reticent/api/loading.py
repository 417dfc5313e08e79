# SPDX-License-Identifier: Apache-2.0
"""Load records from a frame, a file or a database, and say what each variable is for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from reticent.api.arguments import name_of, names_of, refuse_type
from reticent.api.data import Data
from reticent.api.large import LargeData
from reticent.base.checks import check_choice
from reticent.base.doors import door
from reticent.base.errors import DataError, ParameterError
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, member
from reticent.frames.engines.seam import EngineSettings
from reticent.frames.marks import DECIMALS, SEPARATORS, Marks
from reticent.io.frames import read_frame, rows_of_frame
from reticent.io.hierarchies import read_hierarchy
from reticent.io.large import EngineChoice, open_large
from reticent.io.read import load_microdata

Tree = Hierarchy | Path | str | Mapping[str, Sequence[str]] | Sequence[Sequence[str]] | Any


class EngineOptions(TypedDict, total=False):
    """What an engine may take: memory ("2GB"), threads, a folder to spill to, and how much of it."""

    memory: str | None
    threads: int | None
    spill: Path | str | None
    spill_limit: str | None


class Described(EngineOptions, total=False):
    """What a call says of the variables (roles, hierarchies of codes, kinds, codes that mean "not known") and of a text file."""

    keys: Sequence[str]
    sensitive: Sequence[str]
    identifiers: Sequence[str]
    weight: str | None
    household: str | None
    respondent: str | None
    hierarchies: Mapping[str, Tree] | None
    kinds: Mapping[str, Kind | str] | None
    missing: Mapping[str, Sequence[str]] | None
    separator: str | None
    decimal: str | None
    encoding: str | None


@door
def load(
    source: Any,
    *,
    schema: Schema | Path | str | None = None,
    query: str | None = None,
    engine: str | None = None,
    **described: Unpack[Described],
) -> Data | LargeData:
    """Load confidential records.

    `source` is a pandas, polars or arrow frame, a DuckDB relation, the path of a file, or the URL of a database together
    with `query`. A `schema` (or its file) says what is known of the variables; the other options say it here and take
    precedence: `keys`, `sensitive` variables, direct `identifiers`, the sampling `weight`, the id of the `household`, the
    id of the `respondent` a record belongs to, `hierarchies` of codes, `kinds`, and the codes that mean "not known"
    (`missing`). `separator`, `decimal` mark and `encoding` are those of a text file; what is made of it is written with the
    same separator and mark.

    With an `engine` ("duckdb", "spark") the records stay where they are and `source` may be a pattern such as
    `part-*.parquet`; the result is a `LargeData`. `memory`, `threads`, `spill` (a folder) and `spill_limit` are what the
    engine may take.

    A hierarchy is a `Hierarchy`, a file (ARGUS `.hrc`, ARX `.csv`, our `.toml`), rows or a frame as ARX writes them (leaf
    first), or a mapping from each code to the codes below it.

    >>> import polars as pl
    >>> load(pl.DataFrame({"age": [30, 41, 30], "region": ["n", "s", "n"]}), keys=["age", "region"])
    <Data 3 records × 2 variables, keys: age, region>
    """
    if isinstance(source, Data | Microdata):
        raise ParameterError(f"load: the source is a {type(source).__name__} already; use it as it is.")
    if engine is not None:
        return _large(source, schema, engine, query, described)
    if any(described.get(option) is not None for option in EngineOptions.__annotations__):
        raise ParameterError("load: memory, threads, spill and spill_limit are for an engine; say engine='duckdb'.")
    if isinstance(source, str | Path):
        text: Any = _text_options(described)
        loaded = load_microdata(source, schema, query=query, **text)
        data, notes = loaded.data, loaded.notes
    else:
        if _text_options(described):
            raise ParameterError("load: separator, decimal and encoding are for text files; the source is a frame.")
        if query is not None:
            raise ParameterError("load: a query belongs to the URL of a database; the source is a frame.")
        data, notes = read_frame(source, schema)
    changed = _with_options(_with_roles(data.schema, _roles(described)), described)
    if changed != data.schema:
        data = Microdata.of(data.frame, changed)
    return Data(data, tuple(notes))


def _large(
    source: Any, schema: Schema | Path | str | None, engine: str, query: str | None, described: Described
) -> LargeData:
    """Records that stay in an engine, read by the schema with all that was said here."""
    refuse_type(source, (str, Path), "source", "load with an engine", "a path or a pattern such as part-*.parquet")
    roles, spill = _roles(described), described.get("spill")
    settings = EngineSettings(
        described.get("memory"), described.get("threads"), None if spill is None else Path(spill),
        described.get("spill_limit"),
    )  # fmt: skip
    text: Any = _text_options(described)
    if "encoding" in text:
        raise ParameterError("load: an engine reads text in UTF-8; drop encoding.")
    loaded = open_large(
        source, schema, EngineChoice(engine, settings), query=query, marks=Marks(**text),
        described=lambda found: _with_options(_with_roles(found, roles), described),
    )  # fmt: skip
    return LargeData(loaded.data, loaded.notes)


def _text_options(described: Described) -> dict[str, str]:
    """What is said of a text file."""
    said = {"separator": described.get("separator"), "decimal": described.get("decimal")}
    for name, allowed in (("separator", SEPARATORS), ("decimal", DECIMALS)):
        value = said[name]
        if value is not None:
            check_choice(value, allowed, name=name, owner="load")
    said["encoding"] = described.get("encoding")
    return {name: value for name, value in said.items() if value is not None}


def _roles(described: Described) -> dict[str, Role]:
    """The role of each variable that is named; nobody has two."""
    lists = {
        Role.KEY: names_of(described.get("keys", ()), "keys", "load"),
        Role.SENSITIVE: names_of(described.get("sensitive", ()), "sensitive", "load"),
        Role.IDENTIFIER: names_of(described.get("identifiers", ()), "identifiers", "load"),
        Role.WEIGHT: name_of(described.get("weight"), "weight", "load"),
        Role.HOUSEHOLD_ID: name_of(described.get("household"), "household", "load"),
        Role.ENTITY: name_of(described.get("respondent"), "respondent", "load"),
    }
    roles: dict[str, Role] = {}
    for role, names in lists.items():
        for name in names:
            if name in roles:
                raise ParameterError(
                    f"load: variable {name!r} is given twice, as {roles[name]} and as {role}; choose one."
                )
            roles[name] = role
    return roles


def _with_roles(schema: Schema, roles: Mapping[str, Role]) -> Schema:
    schema.require(roles, owner="load")
    taken = {role for role in roles.values() if role in (Role.WEIGHT, Role.HOUSEHOLD_ID, Role.ENTITY)}
    variables = []
    for variable in schema.variables:
        role = roles.get(variable.name, Role.OTHER if variable.role in taken else variable.role)
        kind = Kind.NUMERIC if role is Role.WEIGHT else variable.kind
        variables.append(replace(variable, role=role, kind=kind))
    return Schema(tuple(variables))


def _with_options(schema: Schema, described: Described) -> Schema:
    hierarchies, kinds = described.get("hierarchies") or {}, described.get("kinds") or {}
    missing = described.get("missing") or {}
    for given, name in ((hierarchies, "hierarchies"), (kinds, "kinds"), (missing, "missing")):
        refuse_type(given, Mapping, name, "load", "a mapping from the names of variables")
        schema.require(given, owner=f"load, {name}")
    for name, kind in kinds.items():
        schema = schema.change(name, kind=member(Kind, kind, name="kind", owner=f"load, {name!r}"))
    for name, codes in missing.items():
        schema = schema.change(name, missing=names_of(codes, f"missing of {name!r}", "load"))
    for name, tree in hierarchies.items():
        schema = schema.change(name, hierarchy=as_hierarchy(tree, owner=f"load, hierarchy of {name!r}"), digits=())
    return schema


def as_hierarchy(tree: Tree, *, owner: str) -> Hierarchy:
    """A hierarchy from whatever people have; ARX rows and frames are leaf first."""
    if isinstance(tree, Hierarchy):
        return tree
    if isinstance(tree, str | Path):
        return read_hierarchy(Path(tree))
    try:
        if isinstance(tree, Mapping):
            return Hierarchy.from_children({str(code): tuple(map(str, below)) for code, below in tree.items()})
        if isinstance(tree, Sequence):
            rows = [tuple(map(str, row)) for row in tree if not isinstance(row, str)]
            if len(rows) != len(tree) or not rows:
                raise DataError("rows must be lists of codes, the leaf first.")
            return Hierarchy.from_paths(rows, total=TOTAL, leaf_first=True)
        return Hierarchy.from_paths(rows_of_frame(tree), total=TOTAL, leaf_first=True)
    except DataError as err:
        raise DataError(f"{owner}: {err}", variables=err.variables) from None
