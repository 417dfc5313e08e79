# SPDX-License-Identifier: Apache-2.0
"""Counting where the data are: key combinations are grouped by the engine that holds them, only the counts come back.

One narwhals group-by serves every engine: a DuckDB relation becomes SQL inside DuckDB, a polars LazyFrame one streaming
query, pandas and arrow are grouped in memory. What comes back has one row per combination, so it fits one machine even
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
from reticent.frames.engines.seam import Word, packing, unpacked
from reticent.frames.frame import MISSING, Encoded, Frame, not_a_frame

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
    columns = [_encoded(table[name], (missing or {}).get(name, ())) for name in keys]
    packed, words = _packed([column.codes for column in columns], [len(column.categories) + 1 for column in columns])
    sums = [pl.col(_COUNT).cast(pl.Int64)]
    if weight is not None:
        sums.append(pl.col(_WEIGHT).cast(pl.Float64))  # before they are sorted: an engine may give wider numbers
    names = [f"w{at}" for at in range(len(packed))]
    coded = table.select(sums).with_columns(
        pl.Series(name, values) for name, values in zip(names, packed, strict=True)
    )  # fmt: skip
    if any((missing or {}).values()):
        coded = coded.group_by(names).agg(pl.all().sum())
    joined = coded.sort(names)
    codes = unpacked([joined[name].to_numpy() for name in names], words, len(keys))
    weights = None if weight is None else joined[_WEIGHT].to_numpy()
    categories = tuple(column.categories for column in columns)
    return KeyCounts(keys, codes, categories, joined[_COUNT].to_numpy(), weights)


def _encoded(column: pl.Series, missing: Sequence[str]) -> Encoded:
    """Encode the different values, then look each record up: texts are handled once each."""
    name = column.name
    if column.dtype == pl.String:
        different = column.drop_nulls().unique()
        each = Frame(different.to_frame()).encode(name, missing=missing)
        place = column.cast(pl.Enum(different)).to_physical().cast(pl.UInt32).fill_null(len(different))
        return Encoded(np.append(each.codes, MISSING).astype(np.int32)[place.to_numpy()], each.categories)
    if column.dtype.is_integer() and not column.null_count() and not missing:
        return Frame(column.to_frame()).encode(name)
    different = column.unique()
    each = Frame(different.to_frame()).encode(name, missing=missing, length=len(column))
    codes = pl.DataFrame({name: different, "code": np.asarray(each.codes, dtype=np.int32)})
    found = column.to_frame().join(codes, on=name, how="left", nulls_equal=True, maintain_order="left")["code"]
    return Encoded(found.to_numpy(), each.categories)


def _packed(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> tuple[list[NDArray[np.int64]], list[Word]]:
    """The codes of each row as few whole numbers that sort as the codes do."""
    words = packing(sizes)
    packed = []
    for word in words:
        total = np.zeros(len(columns[0]), dtype=np.int64)
        for at, _, size in word:
            total *= size
            total += columns[at]
            total += 1
        packed.append(total)
    return packed, words


def _grouped(native: Any, keys: tuple[str, ...], weight: str | None) -> pl.DataFrame:
    """The group-by, done by the engine that holds the data."""
    try:
        lazy = nw.from_native(native.table if isinstance(native, Frame) else native).lazy()
    except TypeError as err:
        raise not_a_frame(native) from err
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
