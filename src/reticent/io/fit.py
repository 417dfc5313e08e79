# SPDX-License-Identifier: Apache-2.0
"""From text columns to the types a schema asks for, and the plain schema of a table that has none."""

import polars as pl

from reticent.base.errors import DataError
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.frames.frame import as_text
from reticent.frames.marks import DECIMALS, NO_MARKS, Marks
from reticent.io.argus_text import Notes
from reticent.io.formulas import NUMBER

PLAIN = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Null)
"""Types besides numbers that codes can be made of."""
THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}([.,][0-9]{3})+$"
"""Numbers whose marks may be those of thousands."""


def fit(table: pl.DataFrame, schema: Schema, *, owner: str, notes: Notes, marks: Marks = NO_MARKS) -> pl.DataFrame:
    """Numbers where the schema says numeric, codes as text elsewhere; columns the schema does not know stay.

    `marks` are those of a text file; where no decimal mark is declared, numbers may have either, unless one may be a mark
    of thousands.
    """
    changed = {
        variable.name: _fit_column(table[variable.name], variable, owner, notes, marks)
        for variable in schema.variables
        if variable.name in table.columns
    }
    return table.with_columns(**changed)


def _fit_column(column: pl.Series, variable: Variable, owner: str, notes: Notes, marks: Marks) -> pl.Series:
    if not (column.dtype.is_numeric() or column.dtype in PLAIN):
        raise DataError(
            f"{owner}: column {variable.name!r} holds lists, binary values, durations or the like; give one text, number or "
            "date per record.",
            variables=(variable.name,),
        )
    if variable.kind is Kind.NUMERIC:
        fitted = _numbers(column, variable, owner, notes, marks)
    elif variable.role is Role.IDENTIFIER and column.dtype == pl.String:
        fitted = _whole_ids(column)
    elif column.dtype.is_integer() or column.dtype == pl.String:
        fitted = column
    elif column.dtype == pl.Boolean:
        fitted = column.cast(pl.Int8).cast(pl.String)
    else:
        fitted = as_text(column)
    _check_filled(fitted, variable, owner)
    return fitted


def _whole_ids(column: pl.Series) -> pl.Series:
    """Identifiers that are whole numbers become integers: the ids of records are then the same from every format."""
    whole = column.cast(pl.Int64, strict=False)
    return whole if whole.cast(pl.String).equals(column) else column


def decimal_mark(table: pl.DataFrame, schema: Schema) -> str | None:
    """The decimal mark that the numbers in texts have, where they all have the same."""
    texts = [v.name for v in schema.variables if v.kind is Kind.NUMERIC and v.name in table.columns]
    columns = [table[name] for name in texts if table[name].dtype == pl.String]
    seen = [mark for mark in DECIMALS if any(_have(column, mark) for column in columns)]
    return seen[0] if len(seen) == 1 else None


def unclear_mark(name: str) -> str:
    """What to say of a variable whose numbers may have marks of thousands."""
    return (
        f"variable {name!r} has numbers in which a comma or a point may be a mark of thousands; say which is the decimal mark "
        "(decimal = ',' or '.' in [data], decimal=',' in Python), and leave out the other."
    )


def _unclear(text: pl.Series, separator: str | None) -> bool:
    """Whether numbers may have marks of thousands: both marks occur, or commas in quotes between commas, before three digits."""
    commas, points = _have(text, ","), _have(text, ".")
    if not commas or not (points or separator == ","):
        return False
    groups = text.str.contains(THOUSANDS)
    with_comma = text.str.contains(NUMBER) & text.str.contains(",", literal=True)
    return bool(groups.any()) if points else bool(groups.filter(with_comma).all())


def _have(text: pl.Series, mark: str) -> bool:
    """Whether a number among the texts has this decimal mark."""
    with_mark = text.filter(text.str.contains(mark, literal=True))
    return bool(with_mark.str.contains(NUMBER).any())


def _numbers(column: pl.Series, variable: Variable, owner: str, notes: Notes, marks: Marks) -> pl.Series:
    if column.dtype.is_integer() or column.dtype.is_float():
        return column
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    text = as_text(column)
    decimal = marks.decimal
    if decimal is None and _unclear(text.filter(~text.is_in(list(variable.missing))), marks.separator):
        raise DataError(f"{owner}: {unclear_mark(variable.name)}", variables=(variable.name,))
    point = text if decimal == "." else text.str.replace(",", ".", literal=True)
    if decimal is None and not point.equals(text):
        notes.add(f"{owner}: decimal commas in {variable.name} are read as points.")
    values = point.cast(pl.Float64, strict=False)
    if decimal == ",":  # a point is then no decimal mark, and what has one no number
        values = values.set(text.str.contains(".", literal=True).fill_null(False), None)
    absent = text.is_null() | text.is_in(list(variable.missing))
    bad = values.is_null() & ~absent
    if bad.any():
        raise DataError(
            f"{owner}: variable {variable.name!r} should be numeric; values that are not numbers: {int(bad.sum())} "
            f"(the first is in record {int(bad.arg_max() or 0) + 1}); declare it nominal, or give its missing codes.",
            variables=(variable.name,),
        )
    if (values.is_null() & ~text.is_null()).any():
        point = point.zip_with(values.is_not_null(), text)  # a missing code that is not a number stays as it is
        return _one_spelling(point, values).alias(column.name)
    whole = point.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == values.null_count() else values


def _one_spelling(text: pl.Series, values: pl.Series) -> pl.Series:
    """Numbers among texts, each written in one way only: "5" and "5.0" would be two codes to somebody who reads the file."""
    numbers = values.is_not_null()
    if text.filter(numbers).n_unique() == values.filter(numbers).n_unique():
        return text
    return as_text(values).zip_with(numbers, text)


def _check_filled(column: pl.Series, variable: Variable, owner: str) -> None:
    if variable.role in (Role.OTHER, Role.IDENTIFIER, Role.WEIGHT):
        return
    absent = column.is_null()
    if variable.missing:
        absent = absent | as_text(column).is_in(list(variable.missing)).fill_null(True)
    if len(column) and bool(absent.all()):
        raise DataError(
            f"{owner}: variable {variable.name!r} is missing in every record; a {variable.role} needs values "
            "(give it the role other, or drop it).",
            variables=(variable.name,),
        )


def plain_schema(table: pl.DataFrame) -> Schema:
    """A schema that says only which columns are numbers; codes with leading zeros are text."""
    return Schema(
        tuple(
            Variable(name, kind=Kind.NUMERIC if looks_numeric(table[name]) else Kind.NOMINAL) for name in table.columns
        )
    )


def looks_numeric(column: pl.Series) -> bool:
    """Whether all values are numbers, and none is written like a code ("007")."""
    if column.dtype.is_numeric():
        return True
    if column.dtype != pl.String:
        return False
    text = column.drop_nulls()
    if len(text) == 0 or text.str.contains(r"^[+-]?0\d").any():
        return False
    return text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).null_count() == 0
