# SPDX-License-Identifier: Apache-2.0
"""Read microdata from any supported file: `read_microdata` gives the data, `load_microdata` also what was repaired."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack

import polars as pl

from reticent.base.checks import check_options, check_place
from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata
from reticent.data.plan import DataSection
from reticent.data.schema import Schema, Variable
from reticent.frames.frame import Frame
from reticent.frames.marks import SEPARATORS, Marks
from reticent.io.argus_rda import Layout
from reticent.io.argus_text import Notes, find_file
from reticent.io.database import SQL, is_url
from reticent.io.delimited import CSV, TSV, separator_of
from reticent.io.excel import XLSX
from reticent.io.fit import decimal_mark, fit, plain_schema
from reticent.io.format import Source
from reticent.io.formats import FORMATS
from reticent.io.schema import load_schema


@dataclass(frozen=True)
class Loaded:
    """Microdata as read, and what was repaired or assumed on the way."""

    data: Microdata
    notes: tuple[str, ...]


class Reading(TypedDict, total=False):
    """How records are read; `load_microdata` says what each means."""

    folder: Path | None
    format: str | None
    query: str | None
    separator: str | None
    decimal: str | None
    encoding: str


def read_microdata(
    path: Path | str,
    schema: Schema | Path | str | None = None,
    **options: Unpack[Reading],
) -> Microdata:
    """Read records and bind them to their schema; see `load_microdata`."""
    return load_microdata(path, schema, **options).data


def load_microdata(
    path: Path | str,
    schema: Schema | Path | str | None = None,
    **options: Unpack[Reading],
) -> Loaded:
    """Read records and bind them to their schema.

    `path` is a file, or the URL of a database together with `query`. `schema` is a schema, a schema file (TOML or
    ARGUS `.rda`), or absent: then what the file says itself (labels, missing codes) and plain kinds count. Relative
    names are looked up in `folder`, in any case of letters. `format` is that of the file where its ending does not say it;
    `separator`, `decimal` mark and `encoding` are those of a text file.
    """
    check_options(options, Reading.__annotations__, owner="load_microdata")
    folder, decimal = options.get("folder"), options.get("decimal")
    notes = Notes()
    layout: Layout | None = None
    if isinstance(schema, str | Path):
        file = load_schema(in_folder(Path(schema), folder))
        schema, layout = file.schema, file.layout
        for line in file.notes:
            notes.add(line)
    place: Path | str = path if is_url(path) else _found(Path(path), folder, notes)
    source = Source(
        place, schema, notes, options.get("query"), options.get("separator"), options.get("encoding", "utf-8"), layout
    )
    table, own = _read_table(source, options.get("format"))
    owner = place.name if isinstance(place, Path) else "Database"
    merged = (own or plain_schema(table)) if schema is None else _merged(schema, own)
    marks = _marks(source, decimal)
    seen = replace(marks, decimal=decimal or decimal_mark(table, merged))
    table = fit(table, merged, owner=owner, notes=notes, marks=marks)
    merged, table = _drop_bad_trees(merged, table, notes)
    try:
        data = Microdata.of(Frame(table, marks=seen), merged)
    except DataError as err:
        raise err.at(owner, instead_of="Microdata") from None
    return Loaded(data, tuple(notes))


def records_of(source: Microdata | Path | str, schema: Schema | Path | str | None = None) -> Loaded:
    """Records that are there already, or those of a file with its schema."""
    if not isinstance(source, Microdata):
        return load_microdata(source, schema)
    if schema is not None:
        raise ParameterError("records: microdata have their schema already; give no other.")
    return Loaded(source, ())


def load_source(source: DataSection, folder: Path) -> Loaded:
    """Read the records that the `[data]` section of a plan names; relative names are looked up in the plan's folder."""
    if source.engine is not None:
        raise ParameterError(
            "[data]: an engine measures risk, describes, makes tables and protects files (`reticent risk`, `describe`, `table`, "
            "`protect`); this work reads all records into memory, so drop it."
        )
    return load_microdata(
        source.path, source.schema, folder=folder, format=source.format, query=source.query,
        separator=source.separator, decimal=source.decimal, encoding=source.encoding,
    )  # fmt: skip


def read_table(path: Path, *, separator: str | None = None, encoding: str = "utf-8") -> tuple[Frame, Schema, Notes]:
    """A data file without a schema: its columns as they are, and what the file itself says of them."""
    notes = Notes()
    source = Source(_found(path, None, notes), None, notes, separator=separator, encoding=encoding)
    table, own = _read_table(source, None)
    return Frame(table), own or plain_schema(table), notes


def in_folder(path: Path, folder: Path | None) -> Path:
    """A path that a file names, relative to that file's folder."""
    place = path if folder is None else folder / path
    check_place(place, owner=path.name[:20] + "…")
    return place


def _found(path: Path, folder: Path | None, notes: Notes) -> Path:
    path = in_folder(path, folder)
    if path.is_dir():
        raise DataError(f"{path.name or path}: this is a folder, a data file is needed.")
    return find_file(path.parent, path.name, notes)


def _read_table(source: Source, name: str | None) -> tuple[pl.DataFrame, Schema | None]:
    chosen = FORMATS.of_source(source, name)
    if isinstance(source.place, Path) and chosen not in (SQL, XLSX) and source.query is not None:
        raise DataError(f"{source.path.name}: a query belongs to a database URL, or names the sheet of a workbook.")
    return chosen.read(source)


def _marks(source: Source, decimal: str | None) -> Marks:
    """The marks of a text file with a header line, so that what is made of it can be written alike."""
    if not isinstance(source.place, Path) or source.place.suffix.lower() not in (*CSV.endings, *TSV.endings):
        return Marks(decimal=decimal)
    separator = source.separator or separator_of(source.place, source.encoding)
    return Marks(separator if separator in SEPARATORS else None, decimal)


def _merged(schema: Schema, own: Schema | None) -> Schema:
    """The given schema, with labels and missing codes that only the file itself has."""
    if own is None:
        return schema
    return Schema(tuple(_with_own(variable, own) for variable in schema.variables))


def _with_own(variable: Variable, own: Schema) -> Variable:
    if variable.name not in own:
        return variable
    found = own[variable.name]
    if not variable.codes and found.codes:
        variable = replace(variable, codes=found.codes, labels=found.labels)
    if not variable.missing and found.missing:
        variable = replace(variable, missing=found.missing)
    return variable


def _drop_bad_trees(schema: Schema, table: pl.DataFrame, notes: Notes) -> tuple[Schema, pl.DataFrame]:
    """TRUNCABLE says that digits may be cut off; where codes have different lengths that gives no tree."""
    for variable in schema.variables:
        if set(variable.digits) != {1} or variable.hierarchy is not None or variable.name not in table.columns:
            continue
        text = table[variable.name].cast(pl.String).drop_nulls()
        lengths = text.filter(~text.is_in(list(variable.missing))).str.len_chars().unique()
        if len(lengths) > 1:
            notes.add(f"{variable.name}: its codes have different lengths, so cutting digits gives no hierarchy.")
            schema = schema.change(variable.name, digits=())
    return schema, table
