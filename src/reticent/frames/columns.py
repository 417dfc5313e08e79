# SPDX-License-Identifier: Apache-2.0
"""Small column helpers that need the dataframe library: truth columns, repeated text, stable record ids."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reticent.frames.frame import Frame, as_text


def series(values: NDArray[Any]) -> pl.Series:
    """A column of truth values or numbers."""
    return pl.Series(values)


def repeat_text(value: str | None, n: int) -> pl.Series:
    """The same text n times."""
    return pl.repeat(value, n, dtype=pl.String, eager=True)


def unique_ids(column: pl.Series) -> NDArray[np.uint64] | None:
    """A stable 64-bit id per record from an identifier column, or None if its values are not unique."""
    if column.null_count() or column.n_unique() != len(column):
        return None
    if column.dtype.is_integer():
        return column.cast(pl.Int64).to_numpy().astype(np.int64).view(np.uint64)
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in as_text(column).to_list())
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def decoded(name: str, codes: NDArray[Any], categories: Sequence[str], like: pl.Series) -> pl.Series:
    """A column of coded values, of the kind that another column has; −1 is null. Texts are kept once each."""
    place = pl.Series(np.where(codes < 0, len(categories), codes).astype(np.uint32))
    if like.dtype.is_numeric():
        return pl.Series([*categories, None], dtype=pl.String).cast(like.dtype).gather(place).alias(name)
    return pl.Series([*categories, None], dtype=pl.Enum(list(categories))).gather(place).alias(name)


def frame_of(columns: Sequence[pl.Series]) -> Frame:
    """A frame of columns."""
    return Frame(pl.DataFrame(list(columns)))


def stacked(frames: Sequence[Frame]) -> Frame:
    """The rows of several tables of the same columns, one below the other."""
    return replace(frames[0], table=pl.concat([frame.table for frame in frames], how="vertical_relaxed"))


def with_rows_of(frame: Frame, name: str, other: Frame, rows: NDArray[Any]) -> Frame:
    """The frame with a column from rows of another one."""
    return replace(frame, table=frame.table.with_columns(other.table[name].gather(pl.Series(rows)).alias(name)))


def blanked(frame: Frame, name: str, where: NDArray[np.bool_], blank: str | None) -> Frame:
    """The frame with some values of a column made missing: null, or the missing code where there is one."""
    column = frame.table[name]
    text = pl.Series([blank], dtype=pl.String)
    filler = text.cast(column.dtype, strict=False) if column.dtype != pl.String else text
    if filler.null_count() != text.null_count():  # a missing code that this column cannot hold
        column, filler = as_text(column), text
    made = column.zip_with(pl.Series(~where), filler.new_from_index(0, len(column)))
    return replace(frame, table=frame.table.with_columns(made.alias(name)))


def null_row(frame: Frame, name: str) -> int:
    """The place of the missing value in a column of different values; −1 if there is none."""
    places = frame.table[name].is_null().arg_true()
    return int(places[0]) if len(places) else -1


def as_decimal_numbers(frame: Frame, names: Sequence[str]) -> Frame:
    """The frame with some numeric columns as decimal numbers, so that all blocks of a file have one type."""
    return replace(frame, table=frame.table.with_columns(pl.col(list(names)).cast(pl.Float64)))
