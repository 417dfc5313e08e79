# SPDX-License-Identifier: Apache-2.0
"""Delimited text (CSV, TSV, …): every column is read as text, every row must have as many fields as the header."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from reticent.base.errors import DataError
from reticent.data.schema import Kind, Schema
from reticent.frames.marks import SEPARATORS, Marks
from reticent.io.argus_rda import FREE, Layout
from reticent.io.argus_text import Notes
from reticent.io.format import Content, FileFormat, Read, Source, Write
from reticent.io.formulas import NUMBER, defused_table, restored, restored_table


def read_delimited(
    path: Path,
    *,
    separator: str | None = None,
    names: Sequence[str] | None = None,
    encoding: str = "utf-8",
    notes: Notes,
) -> pl.DataFrame:
    """A table of text columns; `names` are given where the file has no header line."""
    first = _first_line(path, encoding)
    separator = separator or _guess_separator(first, path)
    fields = next(csv.reader([first], delimiter=separator))
    columns = list(names) if names is not None else [restored(field.strip()) for field in fields]
    if names is None:
        _check_closed(first, separator, path)
        _check_header(columns, path)
    elif len(fields) != len(columns):
        raise DataError(
            f"{path.name}: the first record has {len(fields)} fields, the metadata describe {len(columns)}."
        )
    table = _read(path, separator, has_header=names is None, encoding=encoding, n_columns=len(columns))
    if table.width != len(columns):
        raise DataError(
            f"{path.name}: the first line has {len(columns)} column names, the rows have {table.width} fields."
        )
    table.columns = columns
    if table.height == 0:
        raise DataError(f"{path.name}: the file has no records.")
    if table[columns[-1]].null_count():  # the reader pads short rows: look closer
        _check_rows(path, separator, encoding, len(columns))
    return _strip(table, path, notes)


def _first_line(path: Path, encoding: str) -> str:
    try:
        with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline=None) as file:
            line = file.readline()
    except FileNotFoundError:
        raise DataError(f"{path.name}: there is no such file.") from None
    except IsADirectoryError:
        raise DataError(f"{path.name}: this is a folder, a data file is needed.") from None
    except UnicodeDecodeError:
        raise _bad_encoding(path, encoding) from None
    except LookupError:
        raise DataError(f"{path.name}: there is no encoding {encoding!r}; try utf-8 or cp1252.") from None
    except OSError as err:
        raise DataError(f"{path.name}: the file cannot be read ({err.strerror}).") from err
    if "\x00" in line:
        raise DataError(f"{path.name}: this is not a text file; save it as CSV, or say which format it has.")
    if not line.strip():
        raise DataError(f"{path.name}: the file is empty; it needs a line of column names and records below it.")
    return line.rstrip("\n")


def _bad_encoding(path: Path, encoding: str) -> DataError:
    return DataError(
        f"{path.name}: the file is not {encoding.upper()} text; save it as UTF-8, or say which encoding it has."
    )


def separator_of(path: Path, encoding: str = "utf-8") -> str:
    """What separates the values of a text file, by its first line."""
    return _guess_separator(_first_line(path, encoding), path)


def _guess_separator(line: str, path: Path) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    return max(SEPARATORS, key=lambda mark: (line.count(mark), -SEPARATORS.index(mark)))


def _check_closed(line: str, separator: str, path: Path) -> None:
    """Refuse a header that goes on after its line."""
    try:
        next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error as err:
        if "unexpected end" in str(err):
            raise DataError(
                f"{path.name}: a quoted column name does not end in the first line; write every name in one line."
            ) from None


def _check_header(columns: Sequence[str], path: Path) -> None:
    for position, name in enumerate(columns, start=1):
        if not name:
            raise DataError(f"{path.name}: column {position} has no name; every column needs one.")
        if list(columns).count(name) > 1:
            raise DataError(f"{path.name}: column {name!r} occurs twice; column names must differ.", variables=(name,))


def _read(path: Path, separator: str, *, has_header: bool, encoding: str, n_columns: int) -> pl.DataFrame:
    kind = "utf8" if encoding == "utf-8" else encoding
    try:
        return pl.read_csv(
            path, separator=separator, has_header=has_header, infer_schema=False, encoding=kind, glob=False
        )
    except pl.exceptions.NoDataError:
        raise DataError(f"{path.name}: the file has no records.") from None
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as err:  # its own words may show values
        if isinstance(err, UnicodeDecodeError):
            raise _bad_encoding(path, encoding) from None
        _check_rows(path, separator, encoding, n_columns)
        raise DataError(f"{path.name}: the file cannot be read as text separated by {separator!r}.") from None


def _check_rows(path: Path, separator: str, encoding: str, n_columns: int) -> None:
    """Refuse rows with too few or too many fields; one pass in Python, only when something looks wrong."""
    name = "utf-8-sig" if encoding == "utf-8" else encoding
    bad, first, last_blank = 0, 0, False
    try:
        with path.open(encoding=name, newline="") as file:
            reader = csv.reader(file, delimiter=separator, strict=True)
            for row in reader:
                last_blank = not row
                if len(row) != n_columns and not (n_columns == 1 and not row):
                    bad, first = bad + 1, first or reader.line_num
    except UnicodeDecodeError:
        raise _bad_encoding(path, encoding) from None
    except csv.Error:
        raise DataError(f"{path.name}: a quoted field is not closed (before line {reader.line_num}).") from None
    if bad - last_blank > 0:
        raise DataError(
            f"{path.name}: every row must have {n_columns} fields like the first; "
            f"rows that do not: {bad - last_blank} (the first is line {first})."
        )


def _strip(table: pl.DataFrame, path: Path, notes: Notes) -> pl.DataFrame:
    """Blanks around values go (ARGUS pads codes); an empty value is missing."""
    text = pl.col(pl.String)
    stripped = table.with_columns(text.str.strip_chars())
    padded = [name for name in table.columns if not table[name].equals(stripped[name])]
    if padded:
        notes.add(f"{path.name}: blanks around values were removed in {', '.join(padded)}.")
    stripped, found = restored_table(stripped)
    if found:
        notes.add(
            f"{path.name}: the apostrophe that keeps a spreadsheet from running a text was removed in {', '.join(found)}."
        )
    return stripped.with_columns(pl.when(text == "").then(None).otherwise(text).name.keep())


def _reader(default: str | None) -> Read:
    def read(source: Source) -> tuple[pl.DataFrame, Schema | None]:
        separator = source.separator or default
        return read_delimited(source.path, separator=separator, encoding=source.encoding, notes=source.notes), None

    return read


def delimited_writer(marks: Marks) -> Write:
    """What writes a table as text with these marks."""

    def write(table: pl.DataFrame, schema: Schema, path: Path) -> Mapping[Path, Content]:
        def at(place: Path) -> None:
            shown = _with_commas(table, schema) if marks.decimal == "," else table
            shown = shown if marks.keep_formulas else defused_table(shown)
            with place.open("wb") as file:
                shown.write_csv(file, separator=marks.separator or ",", decimal_comma=marks.decimal == ",")

        return {path: at}

    return write


def _with_commas(table: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Decimal commas in the columns of numbers that are texts because a code stands among them."""
    texts = [v.name for v in schema.variables if v.kind is Kind.NUMERIC and table[v.name].dtype == pl.String]
    text = pl.col(texts)
    comma = text.str.replace(".", ",", literal=True)
    return table.with_columns(pl.when(text.str.contains(NUMBER)).then(comma).otherwise(text).name.keep())


def _read_free(source: Source) -> tuple[pl.DataFrame, Schema | None]:
    layout = source.layout or Layout(FREE, source.separator or ",")
    if source.schema is None:
        raise DataError(f"{source.path.name}: a free-format file needs its .rda as the schema.")
    names = None if layout.header else source.schema.names
    table = read_delimited(
        source.path, separator=layout.separator, names=names, encoding=source.encoding, notes=source.notes
    )
    return table, None


CSV = FileFormat(
    "csv",
    "delimited text with a header line",
    _reader(None),
    delimited_writer(Marks(",")),
    (".csv", ".txt", ".tab"),
    (".csv", ".txt"),
)
TSV = FileFormat("tsv", "text delimited by tabs", _reader("\t"), delimited_writer(Marks("\t")), (".tsv",), (".tsv",))
FREE_FORMAT = FileFormat(FREE, "delimited text that its ARGUS metadata (.rda) describe", _read_free)
