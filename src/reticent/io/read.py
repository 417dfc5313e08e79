"""Read microdata from any supported file: `read_microdata` gives the data, `load_microdata` also what was repaired."""

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from reticent.base.checks import check_choice
from reticent.base.errors import DataError
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.data.schema_files import schema_from_text
from reticent.frames.frame import Frame
from reticent.io.argus_rda import FIXED, FREE, Layout
from reticent.io.argus_text import Notes, find_file
from reticent.io.database import is_url, read_database
from reticent.io.delimited import read_delimited
from reticent.io.fit import fit, plain_schema
from reticent.io.fixed import read_fixed
from reticent.io.labelled import READERS, read_labelled
from reticent.io.schema import load_schema

SCHEMA_KEY = "reticent.schema"
FORMATS = ("csv", "tsv", "parquet", "fixed", "free", "sav", "zsav", "por", "dta", "sas7bdat", "xpt", "sql")
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".txt": "csv", ".tab": "csv", ".parquet": "parquet", ".pq": "parquet",
            **{ending: ending[1:] for ending in READERS}}  # fmt: skip


@dataclass(frozen=True)
class Loaded:
    """Microdata as read, and what was repaired or assumed on the way."""

    data: Microdata
    notes: tuple[str, ...]


def read_microdata(
    path: Path | str,
    schema: Schema | Path | str | None = None,
    *,
    folder: Path | None = None,
    format: str | None = None,
    query: str | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
) -> Microdata:
    """Read records and bind them to their schema; see `load_microdata`."""
    return load_microdata(
        path, schema, folder=folder, format=format, query=query, separator=separator, encoding=encoding
    ).data


def load_microdata(
    path: Path | str,
    schema: Schema | Path | str | None = None,
    *,
    folder: Path | None = None,
    format: str | None = None,
    query: str | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
) -> Loaded:
    """Read records and bind them to their schema.

    `path` is a file, or the URL of a database together with `query`. `schema` is a schema, a schema file (TOML or
    ARGUS `.rda`), or absent: then what the file says itself (labels, missing codes) and plain kinds count. Relative
    names are looked up in `folder`, in any case of letters.
    """
    notes = Notes()
    layout: Layout | None = None
    if isinstance(schema, str | Path):
        file = load_schema(_in_folder(Path(schema), folder))
        schema, layout = file.schema, file.layout
        for line in file.notes:
            notes.add(line)
    source: Path | str = path if is_url(path) else _found(Path(path), folder, notes)
    options = _Options(format, query, separator, encoding, layout)
    table, own = _read_table(source, schema, options, notes)
    owner = source.name if isinstance(source, Path) else "Database"
    merged = (own or plain_schema(table)) if schema is None else _merged(schema, own)
    table = fit(table, merged, owner=owner, notes=notes)
    merged, table = _drop_bad_trees(merged, table, notes)
    try:
        data = Microdata.of(Frame(table), merged)
    except DataError as err:
        raise DataError(f"{owner}: {str(err).removeprefix('Microdata: ')}", variables=err.variables) from None
    return Loaded(data, tuple(notes))


def read_table(path: Path, *, separator: str | None = None, encoding: str = "utf-8") -> tuple[Frame, Schema, Notes]:
    """A data file without a schema: its columns as they are, and what the file itself says of them."""
    notes = Notes()
    source = _found(path, None, notes)
    table, own = _read_table(source, None, _Options(None, None, separator, encoding, None), notes)
    return Frame(table), own or plain_schema(table), notes


@dataclass(frozen=True)
class _Options:
    format: str | None
    query: str | None
    separator: str | None
    encoding: str
    layout: Layout | None


def _in_folder(path: Path, folder: Path | None) -> Path:
    return path if folder is None or path.is_absolute() else folder / path


def _found(path: Path, folder: Path | None, notes: Notes) -> Path:
    path = _in_folder(path, folder)
    if path.is_dir():
        raise DataError(f"{path.name or path}: this is a folder, a data file is needed.")
    return find_file(path.parent, path.name, notes)


def _format(source: Path | str, schema: Schema | None, options: _Options) -> str:
    if options.format is not None:
        check_choice(options.format, FORMATS, name="format", owner="[data]")
        return options.format
    if isinstance(source, str):
        return "sql"
    if options.layout is not None and options.layout.format in (FIXED, FREE):
        return options.layout.format
    ending = source.suffix.lower()
    placed = schema is not None and all(variable.start is not None for variable in schema.variables)
    if placed and ending in (".asc", ".dat", ".txt", ".saf", ".fwf", ""):
        return FIXED
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if ending in (".asc", ".dat", ".saf", ".fwf"):
        raise DataError(f"{source.name}: a fixed-width or free-format file needs its .rda as the schema.")
    raise DataError(
        f'{source.name}: files ending in {ending or "nothing"!r} are not known; say format = "csv" or another.'
    )


def _read_table(
    source: Path | str, schema: Schema | None, options: _Options, notes: Notes
) -> tuple[pl.DataFrame, Schema | None]:
    kind = _format(source, schema, options)
    if isinstance(source, str) or kind == "sql":
        return read_database(str(source), options.query), None
    if options.query is not None:
        raise DataError(f"{source.name}: a query belongs to a database URL, not to a file.")
    if kind == FIXED:
        if schema is None:
            raise DataError(f"{source.name}: a fixed-width file needs a schema with start and length.")
        return read_fixed(source, schema, notes), None
    if kind == FREE:
        return _read_free(source, schema, options, notes), None
    if kind == "parquet":
        return _read_parquet(source)
    if kind in ("csv", "tsv"):
        separator = options.separator or ("\t" if kind == "tsv" else None)
        return read_delimited(source, separator=separator, encoding=options.encoding, notes=notes), None
    return read_labelled(source)


def _read_free(path: Path, schema: Schema | None, options: _Options, notes: Notes) -> pl.DataFrame:
    layout = options.layout or Layout(FREE, options.separator or ",")
    if schema is None:
        raise DataError(f"{path.name}: a free-format file needs its .rda as the schema.")
    names = None if layout.header else schema.names
    return read_delimited(path, separator=layout.separator, names=names, encoding=options.encoding, notes=notes)


def _read_parquet(path: Path) -> tuple[pl.DataFrame, Schema | None]:
    try:
        table = pl.read_parquet(path, glob=False)
        text = pl.read_parquet_metadata(path).get(SCHEMA_KEY)
    except (pl.exceptions.PolarsError, OSError):
        raise DataError(f"{path.name}: the file cannot be read as Parquet.") from None
    if table.height == 0:
        raise DataError(f"{path.name}: the file has no records.")
    return table, None if text is None else schema_from_text(text, owner=path.name)


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
