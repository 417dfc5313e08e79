# SPDX-License-Identifier: Apache-2.0
"""SPSS, Stata and SAS files (extra `labelled`): values, value labels and user-missing codes, both ways."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from reticent.base.errors import DataError
from reticent.base.optional import need
from reticent.data.schema import Kind, Schema, Variable
from reticent.frames.frame import as_text
from reticent.io.format import Content, FileFormat, Source

WITH_MISSING = ("read_sav", "read_dta", "read_sas7bdat")
_TAGGED = re.compile(r"\[(.*?)\](?: (.*))?", re.DOTALL)
STATA_LETTERS = "abcdefghijklmnopqrstuvwxyz"
SPSS_MISSING = 3
MEASURES = {Kind.NUMERIC: "scale", Kind.ORDINAL: "ordinal", Kind.NOMINAL: "nominal"}


def read_labelled(path: Path, name: str) -> tuple[pl.DataFrame, Schema]:
    """The table, and the schema that the file's own labels and missing codes give; `name` is the library's reader."""
    library = need("pyreadstat", extra="labelled", purpose=f"reading {path.suffix} files")
    options: dict[str, Any] = {"user_missing": True} if name in WITH_MISSING else {}
    if not path.is_file():
        raise DataError(f"{path.name}: there is no such file.")
    try:
        columns, meta = getattr(library, name)(str(path), output_format="dict", **options)
    except Exception as err:  # noqa: BLE001 - the library raises its own and plain errors alike
        raise DataError(f"{path.name}: the file cannot be read as {path.suffix.lower()} ({_reason(err)}).") from None
    table = pl.DataFrame({name: _column(list(values)) for name, values in columns.items()})
    if table.height == 0:
        raise DataError(f"{path.name}: the file has no records.")
    variables = []
    for column in table.columns:
        series, variable = _described(table[column], meta)
        table = table.with_columns(series.alias(column))
        variables.append(variable)
    return table, Schema(tuple(variables))


def _reason(err: Exception) -> str:
    return type(err).__name__


def _column(values: list[Any]) -> pl.Series:
    clean = [None if value is None or value != value or value == "" else value for value in values]
    if all(value is None or isinstance(value, int | float) for value in clean):
        series = pl.Series(clean, dtype=pl.Float64)
        whole = series.drop_nulls()
        if bool((whole == whole.round()).all() and (whole.abs() < 2**53).all()):
            return series.cast(pl.Int64)
        return series
    return pl.Series([None if value is None else _code(value) for value in clean], dtype=pl.String)


def _code(value: Any) -> str:
    """A value as code text: whole numbers without a decimal point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _described(column: pl.Series, meta: Any) -> tuple[pl.Series, Variable]:
    name = column.name
    labels = {_code(code): str(label) for code, label in meta.variable_value_labels.get(name, {}).items()}
    missing = [code for span in meta.missing_ranges.get(name, []) for code in _codes_in(span, column)]
    tags = [str(tag) for tag in meta.missing_user_values.get(name, [])]
    if tags or any(_TAGGED.fullmatch(label) for label in labels.values()):
        column, labels, tagged = _untag(column, labels, tags)
        missing.extend(tagged)
    measure = getattr(meta, "variable_measure", {}).get(name, "unknown")
    kind = Kind.ORDINAL if measure == "ordinal" else Kind.NOMINAL
    numeric = column.dtype.is_numeric()
    if numeric and (measure == "scale" or (measure not in ("nominal", "ordinal") and set(labels) <= set(missing))):
        kind = Kind.NUMERIC
    codes, ranges = tuple(labels), any(span["lo"] != span["hi"] for span in meta.missing_ranges.get(name, []))
    return column, Variable(
        str(name), kind=kind, missing=tuple(dict.fromkeys(missing)), codes=codes, labels=tuple(labels.values()),
        guessed=("missing",) if ranges else (),  # those of a range that occur, so they follow from the records
    )  # fmt: skip


def _codes_in(span: Mapping[str, Any], column: pl.Series) -> list[str]:
    low, high = span["lo"], span["hi"]
    if low == high:
        return [_code(low)]
    return [_code(value) for value in column.drop_nulls().unique().sort().to_list() if low <= value <= high]


def _untag(column: pl.Series, labels: dict[str, str], tags: list[str]) -> tuple[pl.Series, dict[str, str], list[str]]:
    """A label "[99] unknown" restores the code 99 that our writer put there; else Stata's missing a is ".a"."""
    new_code: dict[str, str] = {}
    for old in dict.fromkeys((*labels, *tags)):
        found = _TAGGED.fullmatch(labels.get(old, ""))
        if found:
            new_code[old], labels[old] = found[1], found[2] or ""
        elif old in tags:
            new_code[old] = f".{old}"
    restored = {new_code.get(code, code): label for code, label in labels.items() if label}
    missing = [new_code[tag] for tag in tags]
    text = as_text(column).replace(new_code)
    codes = [*text.drop_nulls().unique().to_list(), *missing]
    if all(_canonical(code) for code in codes) or column.dtype.is_float():
        numbers = text.cast(pl.Float64, strict=False)
        whole = text.cast(pl.Int64, strict=False)
        return (whole if whole.null_count() == text.null_count() else numbers), restored, missing
    return text, restored, missing


def write_labelled(table: pl.DataFrame, schema: Schema, path: Path, *, ending: str) -> None:
    """Write `.sav` or `.dta` with value labels and missing codes."""
    library = need("pyreadstat", extra="labelled", purpose=f"writing {ending} files")
    pandas = need("pandas", extra="labelled", purpose=f"writing {ending} files")
    columns: dict[str, list[Any]] = {}
    labels: dict[str, dict[Any, str]] = {}
    missing: dict[str, list[Any]] = {}
    for variable in schema.variables:
        values, value_labels, codes = _for_file(table[variable.name], variable, stata=ending == ".dta")
        columns[variable.name] = values
        if value_labels:
            labels[variable.name] = value_labels
        if codes:
            missing[variable.name] = codes
    frame = pandas.DataFrame({name: _pandas_column(pandas, values) for name, values in columns.items()})
    try:
        if ending == ".dta":
            library.write_dta(frame, str(path), variable_value_labels=labels, missing_user_values=missing)
        else:
            measures = {variable.name: MEASURES[variable.kind] for variable in schema.variables}
            library.write_sav(
                frame, str(path), variable_value_labels=labels, missing_ranges=missing, variable_measure=measures
            )
    except OSError:
        raise
    except Exception as err:  # noqa: BLE001 - as above; its words may show values, its name does not
        raise OSError(0, _reason(err)) from None


def _pandas_column(pandas: Any, values: list[Any]) -> Any:
    is_text = any(isinstance(value, str) for value in values)
    return pandas.Series(values, dtype=object if is_text else "float64")


def _for_file(column: pl.Series, variable: Variable, *, stata: bool) -> tuple[list[Any], dict[Any, str], list[Any]]:
    """Values, value labels and missing codes as the file wants them; codes are numbers where they read back the same."""
    limit = len(STATA_LETTERS) if stata else SPSS_MISSING
    if len(variable.missing) > limit:
        raise _too_many(variable, limit)
    labels = dict(zip(variable.codes, variable.labels or variable.codes, strict=True))
    listed = all(_canonical(code) for code in (*variable.codes, *variable.missing))
    text = as_text(column).to_list()
    numeric = column.dtype.is_numeric() or all(value is None or _canonical(value) for value in text)
    if not (numeric and listed):
        return _stata_text(text, variable, labels) if stata else (_texts(text), dict(labels), list(variable.missing))
    numbers = column.cast(pl.Float64, strict=False).to_list()
    if not stata:
        return numbers, {float(code): label for code, label in labels.items()}, [float(c) for c in variable.missing]
    letters = dict(zip([float(code) for code in variable.missing], STATA_LETTERS, strict=False))
    tags = {letters[float(code)]: f"[{code}] {labels.get(code, '')}".rstrip() for code in variable.missing}
    values = [value if value is None else letters.get(value, value) for value in numbers]
    ordinary: dict[Any, str] = {
        int(float(code)): label for code, label in labels.items() if code not in variable.missing
    }
    return values, {**ordinary, **tags}, list(letters.values())


def _texts(values: list[str | None]) -> list[str]:
    return [value or "" for value in values]


def _stata_text(
    text: list[str | None], variable: Variable, labels: dict[str, str]
) -> tuple[list[Any], dict[Any, str], list[Any]]:
    """Stata labels only numbers: text codes with a code list become 1, 2, … with labels "[01] North"."""
    if not labels and not variable.missing:
        return list(_texts(text)), {}, []
    if any("] " in code for code in (*variable.codes, *variable.missing, *(value or "" for value in text))):
        raise DataError(
            f"Variable {variable.name!r} has codes with ']' and a blank; a Stata file cannot keep them.",
            variables=(variable.name,),
        )
    letters = dict(zip(variable.missing, STATA_LETTERS, strict=False))
    known = dict.fromkeys([*variable.codes, *sorted({value for value in text if value is not None})])
    place: dict[str, Any] = {code: n for n, code in enumerate((c for c in known if c not in letters), start=1)}
    place.update(letters)
    tags: dict[Any, str] = {value: f"[{code}] {labels.get(code, '')}".rstrip() for code, value in place.items()}
    return [None if value is None else place[value] for value in text], tags, list(letters.values())


def _too_many(variable: Variable, limit: int) -> DataError:
    return DataError(
        f"Variable {variable.name!r} has {len(variable.missing)} missing codes; this file format holds {limit}.",
        variables=(variable.name,),
    )


def _canonical(code: str) -> bool:
    """Whether a code is a number that reads back as the same text."""
    try:
        value = float(code)
    except ValueError:
        return False
    return code == (str(int(value)) if value.is_integer() and abs(value) < 2**53 else str(value))


def _format(name: str, reader: str, about: str, *, written: bool = False) -> FileFormat:
    def read(source: Source) -> tuple[pl.DataFrame, Schema | None]:
        return read_labelled(source.path, reader)

    def write(table: pl.DataFrame, schema: Schema, path: Path) -> Mapping[Path, Content]:
        return {path: lambda place: write_labelled(table, schema, place, ending=ending)}

    ending = f".{name}"
    return FileFormat(
        name, about, read, write if written else None, (ending,), (ending,) if written else (), extra="labelled"
    )


SAV = _format("sav", "read_sav", "SPSS", written=True)
ZSAV = _format("zsav", "read_sav", "SPSS, compressed")
POR = _format("por", "read_por", "SPSS, portable")
DTA = _format("dta", "read_dta", "Stata", written=True)
SAS7BDAT = _format("sas7bdat", "read_sas7bdat", "SAS")
XPT = _format("xpt", "read_xport", "SAS, transport")
