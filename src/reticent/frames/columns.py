"""Small column helpers that need the dataframe library: truth columns, repeated text, stable record ids."""

import hashlib

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reticent.frames.frame import as_text


def series(values: NDArray[np.bool_]) -> pl.Series:
    """A truth column."""
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
