"""Counting where the data are: key combinations are grouped by the engine that holds them, only the counts come back.

One narwhals group-by serves every engine: a DuckDB relation becomes SQL inside DuckDB, a polars LazyFrame one streaming
query, pandas and arrow are grouped in memory. What comes back has one row a combination, so it fits one machine even
where the records do not; it is dictionary-encoded here as `Microdata.patterns` is, and everything after that (risk,
unsafe combinations, tables) works on combinations and does not know where they were counted.

A Spark cluster enters through the same door: `narwhals.from_native` accepts a `pyspark.sql.DataFrame` as a lazy frame
and turns the expressions below into a Spark aggregation; `collect` brings the combinations to the driver. Nothing here
names an engine, so the only thing to add for Spark is the extra that installs it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from reticent.base.checks import did_you_mean
from reticent.base.errors import DataError
from reticent.frames.frame import Frame

_COUNT, _WEIGHT = "__count", "__weight"


@dataclass(frozen=True)
class KeyCounts:
    """The combinations of some keys that occur: a code row each (−1: missing), how often, and the sum of weights."""

    keys: tuple[str, ...]
    codes: NDArray[np.int32]
    categories: tuple[tuple[str, ...], ...]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def n_records(self) -> int:
        """Number of records counted."""
        return int(self.counts.sum())


def count(
    native: Any,
    keys: Sequence[str],
    *,
    missing: Mapping[str, Sequence[str]] | None = None,
    weight: str | None = None,
) -> KeyCounts:
    """Count the combinations of `keys` in a dataframe of any engine; empty values are a category of their own.

    `missing` has the codes of each key that mean "not known"; they count together with empty values.

    >>> import polars as pl
    >>> found = count(pl.LazyFrame({"sex": ["f", None, "f"], "age": [1, 2, 1]}), ("sex", "age"))
    >>> found.codes.tolist(), found.counts.tolist()
    ([[-1, 1], [0, 0]], [1, 2])
    """
    keys = tuple(keys)
    table = _grouped(native, keys, weight)
    frame = Frame(table)
    columns = [frame.encode(name, missing=(missing or {}).get(name, ())) for name in keys]
    codes = np.column_stack([column.codes.astype(np.int32) for column in columns])
    counts = table[_COUNT].cast(pl.Int64).to_numpy()
    weights = None if weight is None else table[_WEIGHT].cast(pl.Float64).to_numpy()
    codes, counts, weights = _merged(codes, counts, weights)
    return KeyCounts(keys, codes, tuple(column.categories for column in columns), counts, weights)


def _grouped(native: Any, keys: tuple[str, ...], weight: str | None) -> pl.DataFrame:
    """The group-by, done by the engine that holds the data."""
    try:
        lazy = nw.from_native(native.table if isinstance(native, Frame) else native).lazy()
    except TypeError as err:
        raise DataError(
            f"Frame: a {type(native).__name__} is not a dataframe reticent knows; give pandas, polars, arrow or DuckDB."
        ) from err
    names = lazy.collect_schema().names()
    wanted = (*keys, weight) if weight is not None else keys
    for name in wanted:
        if name not in names:
            hint = did_you_mean(name, names) or f" Columns: {', '.join(names)}."
            raise DataError(f"Counting: there is no column {name!r}.{hint}", variables=(name,))
    if not keys:
        raise DataError("Counting: there must be at least one key.")
    sums = [nw.len().alias(_COUNT)]
    if weight is not None:
        sums.append(nw.col(weight).sum().alias(_WEIGHT))
    grouped = lazy.select(*dict.fromkeys(wanted)).group_by(*keys, drop_null_keys=False).agg(*sums)
    return _to_polars(grouped.collect())


def _to_polars(collected: Any) -> pl.DataFrame:
    return Frame.of(nw.to_native(collected)).table


def _merged(
    codes: NDArray[np.int32], counts: NDArray[np.int64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64] | None]:
    """Sort the combinations, and join those that missing codes made equal."""
    rows, place = np.unique(codes, axis=0, return_inverse=True)
    place = place.ravel()
    total = np.zeros(len(rows), dtype=np.int64)
    np.add.at(total, place, counts)
    return rows, total, None if weights is None else np.bincount(place, weights, len(rows)).astype(np.float64)
