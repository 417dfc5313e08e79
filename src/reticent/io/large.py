# SPDX-License-Identifier: Apache-2.0
"""Open a source that stays in an engine: find its parts, compare their columns, and read each as its schema says."""

import csv
import glob
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from reticent.base.errors import DataError, ParameterError
from reticent.data.large import LargeFile, check_names
from reticent.data.plan import DataSection, EngineSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.schema_files import schema_from_text
from reticent.frames.engines import connect
from reticent.frames.engines.seam import Connection, EngineSettings, Files, View
from reticent.frames.marks import DECIMALS, NO_MARKS, SEPARATORS, Marks
from reticent.io.fit import THOUSANDS, unclear_mark
from reticent.io.formulas import DEFUSED
from reticent.io.parquet import SCHEMA_KEY
from reticent.io.read import in_folder
from reticent.io.schema import load_schema

PARQUET, CSV, DATABASE = (".parquet", ".pq"), (".csv", ".txt", ".tsv", ".tab"), (".duckdb", ".db", ".ddb")
NUMBER = r"^\s*[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?\s*$"
CODE = r"^\s*[+-]?0[0-9]"
SPACES = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""What is cut off texts of a CSV file at both ends, as in memory."""


@dataclass(frozen=True)
class LargeLoaded:
    """Records in an engine, and what was assumed on the way."""

    data: LargeFile
    notes: tuple[str, ...]


@dataclass(frozen=True)
class EngineChoice:
    """Which engine, and what it may take."""

    name: str
    settings: EngineSettings

    @classmethod
    def named(cls, name: str | None, memory: str | None = None, spill: Path | None = None) -> "EngineChoice | None":
        """The engine of that name and what it may take; None without a name."""
        if name is not None:
            return cls(name, EngineSettings(memory=memory, spill=spill))
        if memory is not None or spill is not None:
            raise ParameterError("memory and spill are for an engine; say which one, as in --engine duckdb.")
        return None


def open_large(
    path: Path | str,
    schema: Schema | Path | str | None,
    engine: EngineChoice,
    *,
    folder: Path | None = None,
    query: str | None = None,
    marks: Marks = NO_MARKS,
    described: Callable[[Schema], Schema] = lambda schema: schema,
) -> LargeLoaded:
    """Open Parquet or CSV files (a path, or a pattern such as `part-*.parquet`), or a query in a DuckDB database.

    `described` adds to the schema what is said elsewhere.
    """
    notes: tuple[str, ...] = ()
    if isinstance(schema, str | Path):
        file = load_schema(in_folder(Path(schema), folder))
        schema, notes = file.schema, tuple(file.notes)
    files = find_files(in_folder(Path(path), folder), query=query, separator=marks.separator)
    check_parts(files)
    connection = connect(engine.name, engine.settings)
    try:
        types = connection.open(files)
        own = described(schema if schema is not None else _own_schema(files, connection, types))
        check_names(tuple(types), own)
        view, seen = fitted_view(connection, files, types, own, decimal=marks.decimal)
        data = LargeFile.of(view, own, seen)
    except DataError as err:
        connection.close()
        raise err.at(Path(path).name, instead_of="Microdata") from None
    except BaseException:
        connection.close()
        raise
    return LargeLoaded(data, notes)


def open_source(source: DataSection, folder: Path) -> LargeLoaded:
    """Open the records that the `[data]` section of a plan names, in the engine that it names."""
    if source.format is not None or source.encoding != "utf-8":
        raise ParameterError(
            "[data]: with an engine, files are Parquet, UTF-8 CSV or a DuckDB database; drop format/encoding."
        )
    return open_large(
        source.path, source.schema, engine_choice(source, folder), folder=folder, query=source.query,
        marks=Marks(source.separator, source.decimal),
    )  # fmt: skip


def engine_choice(source: EngineSection, folder: Path) -> EngineChoice:
    """The engine of a `[data]` section and what it may take."""
    spill = None if source.spill is None else in_folder(Path(source.spill), folder)
    settings = EngineSettings(source.memory, source.threads, spill, source.spill_limit)
    return EngineChoice(str(source.engine), settings)


def find_files(path: Path, *, query: str | None = None, separator: str | None = None) -> Files:
    """The files that a path or pattern names, in the order of their names."""
    kind = path.suffix.lower()
    if path.is_dir():
        raise DataError(
            f"{path.name}: this is a folder; name its files by a pattern such as {path.name}/part-*.parquet."
        )
    found = tuple(sorted(Path(name) for name in glob.glob(str(path)))) if _is_pattern(path) else (path,)
    if not found or not all(one.is_file() for one in found):
        raise DataError(f"{path.name}: there is no such file; give a file or a pattern such as part-*.parquet.")
    if kind in DATABASE:
        if query is None:
            raise DataError(
                f"{path.name}: a database needs a query that selects the records, such as SELECT * FROM people."
            )
        return Files(found, "database", query=query)
    if query is not None:
        raise DataError(f"{path.name}: a query belongs to a database, not to a file.")
    if kind in PARQUET:
        return Files(found, "parquet")
    if kind in CSV:
        return Files(found, "csv", separator=separator or ("\t" if kind == ".tsv" else _separator(found[0])))
    raise DataError(
        f"{path.name}: an engine reads {', '.join((*PARQUET, *CSV, *DATABASE))}; convert the file to Parquet."
    )


def _is_pattern(path: Path) -> bool:
    return any(mark in str(path) for mark in "*?[") and not path.exists()


def _separator(path: Path) -> str:
    line = "".join(_header_line(path))
    return max(",;\t|", key=lambda mark: (line.count(mark), -",;\t|".index(mark)))


def _header_line(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return file.readline()
    except (UnicodeDecodeError, OSError):
        raise DataError(
            f"{path.name}: the file is not UTF-8 text; save it as UTF-8, or convert it to Parquet."
        ) from None


def check_parts(files: Files) -> None:
    """Refuse parts with other columns, or with a column of another type, than the first."""
    if files.format == "database":
        return
    first, wanted = files.paths[0], _columns(files.paths[0], files)
    for path in files.paths[1:]:
        found = _columns(path, files)
        for name in (*wanted, *found):
            if (name in wanted) != (name in found):
                has, lacks = (first, path) if name in wanted else (path, first)
                raise DataError(
                    f"{path.name}: its columns are not those of {first.name}: {lacks.name} has no column {name!r}, "
                    f"{has.name} has one; all parts must have the same columns.",
                    variables=(name,),
                )
            if wanted[name] != found[name]:
                raise DataError(
                    f"{path.name}: column {name!r} holds {found[name]} here and {wanted[name]} in {first.name}; "
                    "a column must have one type in all parts.",
                    variables=(name,),
                )


def _columns(path: Path, files: Files) -> dict[str, str]:
    """The columns of a part, and what each holds in words."""
    if files.format == "csv":
        names = next(csv.reader([_header_line(path)], delimiter=files.separator), [])
        if not names or any(not name.strip() for name in names) or len(set(names)) < len(names):
            raise DataError(f"{path.name}: the first line must name every column, each by a name of its own.")
        return dict.fromkeys(names, "texts")
    try:
        return {name: _holds(dtype) for name, dtype in pl.read_parquet_schema(path).items()}
    except (pl.exceptions.PolarsError, OSError):
        raise DataError(f"{path.name}: the file cannot be read as Parquet.") from None


def _holds(dtype: pl.DataType) -> str:
    for words, fits in (
        ("whole numbers", dtype.is_integer()), ("decimal numbers", dtype.is_decimal()), ("numbers", dtype.is_float()),
        ("texts", dtype in (pl.String, pl.Categorical, pl.Enum)), ("truth values", dtype == pl.Boolean),
        ("dates or times", dtype.is_temporal()),
    ):  # fmt: skip
        if fits:
            return words
    return "lists, binary values or the like"


def _own_schema(files: Files, connection: Connection, types: Mapping[str, pl.DataType]) -> Schema:
    """What the first file says itself, or which columns are numbers (codes with leading zeros are text)."""
    if files.format == "parquet":
        text = pl.read_parquet_metadata(files.paths[0]).get(SCHEMA_KEY)
        if text is not None:
            return schema_from_text(text, owner=files.paths[0].name)
    texts = [name for name, dtype in types.items() if dtype == pl.String and files.format == "csv"]
    numeric = set(_numbers_among(connection, texts)) | {name for name, dtype in types.items() if dtype.is_numeric()}
    return Schema(tuple(Variable(name, kind=Kind.NUMERIC if name in numeric else Kind.NOMINAL) for name in types))


def _numbers_among(connection: Connection, names: Sequence[str]) -> list[str]:
    """Text columns whose values are all numbers, none written like a code."""
    view = View(connection, {name: _stripped(connection, name) for name in names})
    wanted = {}
    for at, name in enumerate(names):
        text = connection.quote(name)
        number, code = connection.matches(text, NUMBER), connection.matches(text, CODE)
        wanted[f"there{at}"] = f"COUNT({text})"
        wanted[f"off{at}"] = f"SUM(CASE WHEN NOT {number} OR {code} THEN 1 ELSE 0 END)"
    facts = view.facts(**wanted)
    return [name for at, name in enumerate(names) if facts[f"there{at}"] and not facts[f"off{at}"]]


def _stripped(connection: Connection, name: str) -> str:
    """A text without blanks around it, and without the apostrophe that kept a spreadsheet from running it."""
    text = f"NULLIF({connection.trimmed(connection.quote(name), SPACES)}, '')"
    is_defused = f"SUBSTR({text}, 1, 1) = {connection.text(chr(39))} AND {connection.matches(text, DEFUSED)}"
    return f"(CASE WHEN {is_defused} THEN SUBSTR({text}, 2) ELSE {text} END)"


def fitted_view(
    connection: Connection,
    files: Files,
    types: Mapping[str, pl.DataType],
    schema: Schema,
    *,
    decimal: str | None = None,
) -> tuple[View, Marks]:
    """Numbers where the schema says numeric, codes as whole numbers or text elsewhere: each as `io.fit` has it in memory.

    With it come the marks of the files, so that what is made of them can be written alike.
    """
    plain = {variable.name: _plain(connection, files, types[variable.name], variable) for variable in schema.variables}
    view = View(connection, plain)
    marks = Marks(files.separator if files.format == "csv" else None, decimal)
    fitted, decimals = dict(plain), set()
    for variable in schema.variables:
        dtype = types[variable.name]
        if dtype == pl.String and (variable.kind is Kind.NUMERIC or variable.role is Role.IDENTIFIER):
            fitted[variable.name], seen = _number_text(view, variable, marks)
            decimals |= seen
        elif (dtype.is_float() or dtype.is_decimal()) and variable.kind is not Kind.NUMERIC:
            fitted[variable.name] = _code_text(view, variable)
    separator = marks.separator if marks.separator in SEPARATORS else None
    return View(connection, fitted), Marks(separator, decimal or (decimals.pop() if len(decimals) == 1 else None))


def _plain(connection: Connection, files: Files, dtype: pl.DataType, variable: Variable) -> str:
    """One column as it is read before its values are looked at."""
    quoted, numeric = connection.quote(variable.name), variable.kind is Kind.NUMERIC
    if _holds(dtype).startswith("lists"):
        raise DataError(
            f"column {variable.name!r} holds lists, binary values or the like; give one text, number or date per record.",
            variables=(variable.name,),
        )
    if dtype == pl.String and files.format == "csv":
        return _stripped(connection, variable.name)
    if dtype == pl.Boolean:
        return f"CAST(CAST({quoted} AS INTEGER) AS {'DOUBLE' if numeric else 'STRING'})"
    if dtype.is_numeric():
        return f"CAST({quoted} AS DOUBLE)" if dtype.is_decimal() else quoted
    if dtype.is_temporal() and dtype != pl.Date:
        return _time_text(connection, files, dtype, variable.name)
    return quoted if dtype == pl.String else f"CAST({quoted} AS STRING)"


def _time_text(connection: Connection, files: Files, dtype: pl.DataType, name: str) -> str:
    """A time as text, with as many decimals of a second as the file holds."""
    own = pl.read_parquet_schema(files.paths[0])[name] if files.format == "parquet" else dtype
    if not isinstance(own, pl.Datetime) or own.time_zone is not None:
        raise DataError(
            f"column {name!r} holds times of a day, spans or times with a zone; write them as texts.", variables=(name,)
        )
    return connection.time_text(connection.quote(name), {"ms": 3, "us": 6, "ns": 9}[own.time_unit])


def _number_text(view: View, variable: Variable, marks: Marks) -> tuple[str, set[str]]:
    """A text column as numbers, whole ones as whole numbers, and the decimal marks in it. Other identifiers stay texts."""
    connection, name = view.connection, variable.name
    text = connection.quote(name)
    listed = ", ".join(connection.text(code) for code in variable.missing)
    known = f"(CASE WHEN {text} IN ({listed}) THEN NULL ELSE {text} END)" if listed else text
    whole = connection.matches(known, r"^(0|-?[1-9][0-9]{0,17})$")
    number = connection.matches(
        known, NUMBER if marks.decimal is None else NUMBER.replace("[.,]", f"[{marks.decimal}]")
    )
    facts = view.facts(
        bad=f"SUM(CASE WHEN {known} IS NOT NULL AND NOT {number} THEN 1 ELSE 0 END)",
        off=f"SUM(CASE WHEN {known} IS NOT NULL AND NOT {whole} THEN 1 ELSE 0 END)",
        **{f"mark{at}": f"SUM(CASE WHEN {number} AND {connection.matches(known, f'[{mark}]')} THEN 1 ELSE 0 END)"
           for at, mark in enumerate(DECIMALS)},
    )  # fmt: skip
    seen = {mark for at, mark in enumerate(DECIMALS) if facts[f"mark{at}"] and variable.kind is Kind.NUMERIC}
    inner = view.expressions[name]
    source = f"(CASE WHEN {inner} IN ({listed}) THEN NULL ELSE {inner} END)" if listed else inner
    if not facts["off"]:
        return f"CAST({source} AS BIGINT)", seen
    if variable.role is Role.IDENTIFIER and variable.kind is not Kind.NUMERIC:
        return inner, seen
    if marks.decimal is None and _is_unclear(view, known, marks.separator):
        raise DataError(unclear_mark(name), variables=(name,))
    if facts["bad"]:
        raise DataError(
            f"variable {name!r} should be numeric, but {int(facts['bad'])} values are not numbers in some of the parts; "
            "declare it nominal, or give its missing codes.",
            variables=(name,),
        )
    return f"CAST(REPLACE({source}, ',', '.') AS DOUBLE)", seen


def _is_unclear(view: View, known: str, separator: str | None) -> bool:
    """Whether numbers may have marks of thousands, as `io.fit` judges it in memory."""
    number, groups = (view.connection.matches(known, one) for one in (NUMBER, THOUSANDS))
    comma, point = (f"{number} AND {view.connection.matches(known, f'[{mark}]')}" for mark in (",", "."))
    wanted = {"commas": comma, "points": point, "groups": groups, "in_commas": f"{groups} AND {comma}"}
    facts = view.facts(**{name: f"SUM(CASE WHEN {one} THEN 1 ELSE 0 END)" for name, one in wanted.items()})
    if not facts["commas"] or not (facts["points"] or separator == ","):
        return False
    return bool(facts["groups"]) if facts["points"] else facts["in_commas"] == facts["commas"]


def _code_text(view: View, variable: Variable) -> str:
    """Decimal numbers as codes: only where they are whole, and exact; what is not a number is missing."""
    text = view.connection.quote(variable.name)
    off = f"NOT isnan({text}) AND ({text} <> ROUND({text}) OR ABS({text}) >= 9007199254740992)"
    if view.facts(off=f"SUM(CASE WHEN {off} THEN 1 ELSE 0 END)")["off"]:
        raise DataError(
            f"variable {variable.name!r} is declared {variable.kind} and holds decimal, infinite or very large numbers; "
            "declare it numeric, or write its codes as texts.",
            variables=(variable.name,),
        )
    inner = view.expressions[variable.name]
    return f"CAST(CAST((CASE WHEN isnan({inner}) THEN NULL ELSE {inner} END) AS BIGINT) AS STRING)"
