# SPDX-License-Identifier: Apache-2.0
"""Frame: any supported dataframe in, encoded columns out, and the same kind of dataframe back.

The engine inside is polars. What comes in (pandas, polars eager or lazy, arrow table, DuckDB relation) is remembered,
so that results go back as the same kind. No other part of the package sees a dataframe library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from reticent.base.checks import kind_of
from reticent.base.errors import DataError
from reticent.base.optional import need
from reticent.frames.marks import NO_MARKS, Marks

MISSING = -1
MOST_ENUM = 2**16  # with more categories a join is faster
UNREADABLE = (TypeError, ValueError, ArithmeticError, NotImplementedError, pl.exceptions.PolarsError)
"""What libraries raise where a column cannot be converted."""


def not_a_frame(native: Any) -> DataError:
    """The error about something that is no dataframe, though it may be made one, as what was published can."""
    more = "; take its to_frame()" if hasattr(native, "to_frame") else ""
    return DataError(f"Frame: a dataframe of pandas, polars, arrow or DuckDB is needed, got {kind_of(native)}{more}.")


@dataclass(frozen=True)
class Encoded:
    """A dictionary-encoded column: a code per record (−1: missing) and the category text of each code."""

    codes: NDArray[np.signedinteger[Any]]
    categories: tuple[str, ...]


@dataclass(frozen=True)
class Frame:
    """A polars table together with the kind of dataframe it came as, or the marks of the text file."""

    table: pl.DataFrame
    kind: str = "polars"
    marks: Marks = NO_MARKS

    @classmethod
    def of(cls, native: Any) -> "Frame":
        """Wrap a pandas, polars or arrow table or a DuckDB relation."""
        if isinstance(native, Frame):
            return native
        if isinstance(native, pl.DataFrame):
            return cls(native)
        if isinstance(native, pl.LazyFrame):
            return cls(_collected(native), "polars-lazy")
        if type(native).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
            return cls(native.pl(), "duckdb")
        try:
            frame = nw.from_native(native, eager_only=True)
            names = frame.columns
        except nw.exceptions.DuplicateError:
            raise DataError("Frame: a column name occurs twice; column names must differ.") from None
        except TypeError as err:
            raise not_a_frame(native) from err
        _refuse_duplicates(names)
        return cls(_to_polars(frame), str(frame.implementation.name).lower())

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self.table.columns)

    @property
    def n_records(self) -> int:
        """Number of rows."""
        return self.table.height

    def native(self) -> Any:
        """The table as the kind of dataframe it came as."""
        if self.kind == "pandas":
            pandas = need("pandas", extra="labelled", purpose="returning a pandas frame")
            return pandas.DataFrame({name: _to_pandas_values(self.table[name]) for name in self.names})
        if self.kind == "pyarrow":
            need("pyarrow", extra="arrow", purpose="returning an arrow table")
            return self.table.to_arrow()
        if self.kind == "duckdb":
            duckdb = need("duckdb", extra="duckdb", purpose="returning a DuckDB relation")
            return duckdb.from_arrow(self.table.to_arrow())
        return self.table.lazy() if self.kind == "polars-lazy" else self.table

    def first_texts(self, name: str, n: int) -> tuple[str, ...]:
        """The first n values of a column as they are written; nothing for an empty one. Confidential."""
        return tuple("" if value is None else str(value) for value in as_text(self.table[name].head(n)).to_list())

    def select(self, names: Sequence[str]) -> "Frame":
        """Only these columns, in this order."""
        return replace(self, table=self.table.select(list(names)))

    def take(self, rows: NDArray[np.int64]) -> "Frame":
        """Rows by position."""
        return replace(self, table=self.table[rows])

    def is_missing(self, name: str, missing: Sequence[str]) -> NDArray[np.bool_]:
        """Which values are null, not a number, or one of the missing codes."""
        column = self.table[name]
        if not (missing or column.null_count() or column.dtype.is_float()):
            return np.zeros(len(column), dtype=np.bool_)
        absent = column.is_null()
        if column.dtype.is_float():
            absent = absent | column.is_nan().fill_null(True)
        if missing:
            absent = absent | as_text(column).is_in(list(_spellings(missing, column.dtype))).fill_null(True)
        return np.asarray(absent.to_numpy(), dtype=np.bool_)

    def encode(
        self, name: str, *, missing: Sequence[str] = (), order: Sequence[str] = (), length: int | None = None
    ) -> Encoded:
        """Dictionary-encode a column; categories are in `order`, then in natural order (numbers by size).

        `length` is the number of records where each row stands for several: the codes are then those of all records.
        """
        column = self.table[name]
        if column.dtype.is_integer() and not missing and not order:
            dense = _encode_small_integers(column, len(column) if length is None else length)
            if dense is not None:
                return dense
        text = as_text(column)
        absent = self.is_missing(name, missing)
        known = set((text.filter(pl.Series(~absent)) if absent.any() else text).unique().to_list())
        first = [code for code in order if code in known]
        rest = natural_order(known.difference(first), numeric=column.dtype.is_numeric())
        categories = tuple(first + rest)
        codes = _places(text, categories)
        array = np.array(codes.fill_null(MISSING) if codes.null_count() else codes, dtype=np.int32)
        array[absent] = MISSING
        return Encoded(array, categories)

    def numbers(self, name: str, *, missing: Sequence[str] = ()) -> NDArray[np.float64]:
        """The column as numbers, missing values as NaN; text that is not a number is an error."""
        column = self.table[name]
        absent = self.is_missing(name, missing)
        if column.dtype.is_numeric() or column.dtype == pl.Boolean:
            values = column.cast(pl.Float64)
        else:
            values = (
                as_text(column).str.strip_chars().str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
            )
            bad = int((values.is_null() & ~pl.Series(absent)).sum())
            if bad:
                raise DataError(
                    f"Variable {name!r} should be numeric, but {bad} values are not numbers; declare it nominal, or give its "
                    "missing codes.",
                    variables=(name,),
                )
        array = np.array(values.fill_null(float("nan")).to_numpy(), dtype=np.float64)
        array[absent] = np.nan
        return array

    def numbers_differ_as_written(self, name: str, *, missing: Sequence[str] = ()) -> bool:
        """Whether values that are written differently are different numbers (whole numbers beyond 2⁵³ need not be)."""
        column = self.table[name]
        if column.dtype.is_float() or column.dtype == pl.Boolean:
            return True
        present = ~self.is_missing(name, missing)
        numbers = self.numbers(name, missing=missing)[present]
        return column.filter(pl.Series(present)).n_unique() == len(np.unique(numbers))

    def with_numbers(self, name: str, values: NDArray[np.float64]) -> "Frame":
        """Exchange a column for numbers (NaN becomes null; whole numbers stay whole where the column had them)."""
        column = pl.Series(name, values).fill_nan(None)
        was_integer = name in self.names and self.table[name].dtype.is_integer()
        if was_integer and bool(((column == column.round()) | column.is_null()).all()):
            whole = column.cast(pl.Int64, strict=False)
            column = whole if whole.null_count() == column.null_count() else column
        return replace(self, table=self.table.with_columns(column))

    def with_text(self, name: str, values: Sequence[str | None] | pl.Series) -> "Frame":
        """Exchange a column for text, as integers again where the column had integers and still can."""
        column = pl.Series(name, values, dtype=pl.String)
        if name in self.names and self.table[name].dtype.is_integer():
            whole = column.cast(pl.Int64, strict=False)
            same = (whole.cast(pl.String) == column).fill_null(False)
            if bool((same | column.is_null()).all()):
                column = (
                    whole.cast(self.table[name].dtype, strict=False) if _fits(whole, self.table[name].dtype) else whole
                )
        return replace(self, table=self.table.with_columns(column.alias(name)))

    def with_codes(
        self, name: str, codes: NDArray[np.int32], categories: Sequence[str], *, absent: pl.Series | str | None = None
    ) -> "Frame":
        """Exchange a column for coded categories; `absent` is what stands where the code is −1."""
        table = pl.Series(list(categories) + [None], dtype=pl.String)
        text = table.gather(pl.Series(np.where(codes < 0, len(categories), codes).astype(np.uint32)))
        if absent is not None:
            filler = (
                absent if isinstance(absent, pl.Series) else pl.repeat(absent, len(text), dtype=pl.String, eager=True)
            )
            text = text.zip_with(pl.Series(np.asarray(codes) >= 0), filler)
        return self.with_text(name, text)

    def without(self, names: Sequence[str]) -> "Frame":
        """The table without some columns."""
        return replace(self, table=self.table.drop(list(names)))

    def detached(self) -> "Frame":
        """A copy that holds its own values and nothing else.

        A column of texts points into buffers that it shares with the column it was taken from, a categorical one into a
        list of all codes, and a number that became null may stay below the null: all of it leaves with a frame that is
        pickled or saved in a format of memory.
        """
        return replace(self, table=self.table.select([_detached(self.table[name]) for name in self.names]))


def as_text(column: pl.Series) -> pl.Series:
    """Values as code text: whole numbers without a decimal point, everything else as written.

    The text of a value does not depend on the values of others: what was 20 stays 20 when the only 88.5 is blanked.
    """
    if column.dtype == pl.String:
        return column
    if column.dtype.is_float():
        column = column.fill_nan(None)
        return column.cast(pl.Int64).cast(pl.String) if _all_whole(column) else _without_point(column)
    return column.cast(pl.String)


def _all_whole(column: pl.Series) -> bool:
    """Whether all values that are there are whole numbers that a float has exactly."""
    there = column.drop_nulls()
    return bool((there == there.round()).all() and (there.abs() < 2**53).all())


def _without_point(column: pl.Series) -> pl.Series:
    text = column.cast(pl.String)
    whole = (column == column.round()) & (column.abs() < 2**53)
    return text.zip_with(~whole.fill_null(False), text.str.strip_suffix(".0"))


def natural_order(codes: set[str] | frozenset[str], *, numeric: bool) -> list[str]:
    """Sort codes: by size where all are numbers of a numeric column, else as text."""
    if numeric:
        return sorted(codes, key=lambda code: (float(code), code))
    return sorted(codes)


def _spellings(missing: Sequence[str], dtype: pl.DataType) -> set[str]:
    """The ways a missing code can look in a column: numbers may carry a decimal point or leading zeros."""
    spellings = set(missing)
    if dtype.is_numeric():
        for code in missing:
            try:
                value = float(code)
            except ValueError:
                continue
            spellings.update({str(value), str(int(value)) if value.is_integer() else str(value)})
    return spellings


def _places(text: pl.Series, categories: tuple[str, ...]) -> pl.Series:
    """The place of each text among the categories; null where it is none of them."""
    if len(categories) <= MOST_ENUM:
        return text.cast(pl.Enum(categories), strict=False).to_physical().cast(pl.Int32)
    place = pl.DataFrame({"text": categories, "code": np.arange(len(categories), dtype=np.int32)})
    return pl.DataFrame({"text": text}).join(place, on="text", how="left", maintain_order="left")["code"]


def _encode_small_integers(column: pl.Series, length: int) -> Encoded | None:
    """Integers of a small range need no dictionary: code = value − smallest value."""
    if column.null_count() or len(column) == 0:
        return None
    low, high = int(column.min()), int(column.max())  # type: ignore[arg-type]
    span = high - low + 1
    if span > 2 * length + 1000 or span > 2**20:
        return None
    dtype = np.int8 if span <= 127 else np.int16 if span <= 32767 else np.int32
    codes = column.to_numpy()
    if low:
        codes = codes - codes.dtype.type(low)
    return Encoded(codes.astype(dtype), tuple(map(str, range(low, high + 1))))


def _fits(column: pl.Series, dtype: pl.DataType) -> bool:
    return column.cast(dtype, strict=False).null_count() == column.null_count()


def _detached(column: pl.Series) -> pl.Series:
    """A column made again from its values, of a type that follows from them alone.

    The type that it had says more: whole numbers of a type with decimals, or with room for large ones, have or had a record
    that needs it.
    """
    dtype = pl.String if column.dtype in (pl.Categorical, pl.Enum) else column.dtype
    if dtype.is_numeric() and not dtype.is_decimal():
        column = _plain_numbers(column)
        values = pl.Series(column.name, np.array(column.fill_null(0).to_numpy()), dtype=column.dtype)
        return values.set(column.is_null(), None) if column.null_count() else values
    return pl.Series(column.name, column.cast(dtype).to_list(), dtype=dtype)


def _plain_numbers(column: pl.Series) -> pl.Series:
    """Whole numbers as 64-bit integers; others stay as they are, because each type of float writes them in its own way."""
    if column.dtype.is_float():
        there = column.fill_nan(None)
        return there.cast(pl.Int64) if _all_whole(there) else column
    return column.cast(pl.Int64) if _fits(column, pl.Int64()) else column


def _refuse_duplicates(names: Sequence[str]) -> None:
    for name in names:
        if list(names).count(name) > 1:
            raise DataError(f"Frame: column {name!r} occurs twice; column names must differ.", variables=(str(name),))


def _to_polars(frame: nw.DataFrame[Any]) -> pl.DataFrame:
    try:
        return frame.to_polars()
    except ImportError:  # pandas to polars wants pyarrow; go through lists without it
        return pl.DataFrame({name: frame[name].to_list() for name in frame.columns}, strict=False)
    except UNREADABLE:  # their own words may show values
        name = next((name for name in frame.columns if not _readable(frame.select(name))), "?")
    raise DataError(
        f"Frame: column {name!r} holds values that cannot be read (of several kinds, or neither texts nor numbers); "
        "make them all texts or all numbers.",
        variables=(name,),
    )


def _readable(frame: nw.DataFrame[Any]) -> bool:
    try:
        frame.to_polars()
    except UNREADABLE:
        return False
    return True


def _collected(lazy: pl.LazyFrame) -> pl.DataFrame:
    try:
        return lazy.collect()
    except (*UNREADABLE, OSError) as err:
        reason = type(err).__name__
    raise DataError(f"Frame: the lazy frame cannot be collected ({reason}); collect it yourself to see why.")


def _to_pandas_values(column: pl.Series) -> Any:
    if column.dtype == pl.String or (column.null_count() and not column.dtype.is_float()):
        return np.array(column.to_list(), dtype=object)
    return column.to_numpy()


def from_columns(columns: Mapping[str, Any], *, kind: str = "polars") -> Frame:
    """A frame from lists or arrays."""
    return Frame(pl.DataFrame(columns), kind)
