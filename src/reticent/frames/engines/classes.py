# SPDX-License-Identifier: Apache-2.0
"""Classes of records in an engine: who has the same codes and marks, and sums of whole numbers over each class.

Every answer comes in one order, that of the classes, so that columns which are asked for later stand beside those that are
there. Sums may be of any size: they come as texts where 64 bits could be too few.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reticent.frames.engines.seam import (
    CodeMap,
    View,
    Word,
    coded_rows,
    lookup_joins,
    packing,
    unpacked,
)
from reticent.frames.frame import Frame

Whole = NDArray[Any]
PLACE = "reticent_place"


@dataclass(frozen=True, eq=False)
class EngineClasses:
    """Records by their codes (`maps`) and by `marks`: SQL over the columns of the view that gives 0 or 1."""

    view: View
    maps: tuple[CodeMap, ...]
    marks: tuple[str, ...] = ()

    @cached_property
    def _words(self) -> list[Word]:
        return packing([one.size + 1 for one in self.maps])

    @cached_property
    def _names(self) -> list[str]:
        words = [f"w{at}" for at in range(len(self._words))]
        return [*words, *(f"g{at}" for at in range(len(self.marks)))] or ["one"]

    def _rows_sql(self, values: Mapping[str, str]) -> str:
        marks = {f"g{at}": text for at, text in enumerate(self.marks)}
        alone = {} if self.maps or self.marks else {"one": "1"}
        return coded_rows(self.view, self.maps, {**alone, **marks, **values})

    def _fetched(self, values: Mapping[str, str], aggregates: Mapping[str, str]) -> pl.DataFrame:
        """One row for each class: aggregates over some values of its records."""
        listed = "".join(f", {text} AS {name}" for name, text in aggregates.items())
        small, _ = lookup_joins(self.view.connection, self.maps)
        names = ", ".join(self._names)
        sql = f"SELECT {names}{listed} FROM ({self._rows_sql(values)}) p GROUP BY {names}"
        return self.view.connection.fetch(sql, small=small).sort(self._names)

    @cached_property
    def _classes(self) -> pl.DataFrame:
        return self._fetched({}, {"n": "CAST(COUNT(*) AS BIGINT)"})

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of records of each class."""
        return self._classes["n"].to_numpy()

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """The codes of each class (−1: missing)."""
        columns = [self._classes[f"w{at}"].to_numpy() for at in range(len(self._words))]
        return unpacked(columns, self._words, len(self.maps)) if columns else np.zeros((len(self.counts), 0), np.int32)

    def marked(self, at: int) -> NDArray[np.bool_]:
        """Which classes have a mark."""
        return np.asarray(self._classes[f"g{at}"].to_numpy() > 0)

    def sums(self, **values: str) -> dict[str, Whole]:
        """Σ of whole numbers, given as SQL, over each class; 0 where all are missing."""
        wide = self.view.connection.wide
        own = {name: wide(text) for name, text in values.items()}
        found = self._fetched(own, {f"s_{name}": f"CAST(SUM({name}) AS STRING)" for name in own})
        return {name: _whole(found[f"s_{name}"]) for name in own}

    def extremes(self, value: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least and the greatest whole number of each class; 0 where all are missing."""
        found = self._fetched({"v": value}, {"low": "MIN(v)", "high": "MAX(v)"})
        low, high = (found[name].cast(pl.Int64).fill_null(0).to_numpy() for name in ("low", "high"))
        return low, high

    def largest(self, value: str, n: int) -> NDArray[np.int64]:
        """The n largest whole numbers of each class, filled up with 0: shape (classes, n)."""
        found = self._fetched({"v": value}, {"top": self.view.connection.largest("v", n)})["top"]
        columns = [found.list.get(at, null_on_oob=True).cast(pl.Int64).fill_null(0).to_numpy() for at in range(n)]
        return np.column_stack(columns)

    def commonest(self, value: str, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """At most n different whole numbers of all records, those that most have first, and how many have each."""
        small, _ = lookup_joins(self.view.connection, self.maps)
        sql = (
            f"SELECT v, CAST(COUNT(*) AS BIGINT) AS n FROM ({self._rows_sql({'v': value})}) p WHERE v IS NOT NULL "
            f"GROUP BY v ORDER BY n DESC, v LIMIT {n}"
        )
        found = self.view.connection.fetch(sql, small=small)
        return found["v"].cast(pl.Int64).to_numpy(), found["n"].to_numpy()

    def blocks(self, names: Sequence[str], *, rows: int) -> Iterator[tuple[NDArray[np.int64], Frame]]:
        """The records in blocks, in any order: the class of each, and some columns."""
        quote = self.view.connection.quote
        own = {f"c{at}": quote(name) for at, name in enumerate(names)}
        small, _ = lookup_joins(self.view.connection, self.maps)
        places = self._classes.select(self._names).with_row_index(PLACE)
        for table in self.view.connection.stream(self._rows_sql(own), rows=rows, small=small):
            joined = table.join(places, on=self._names, how="left", maintain_order="left")
            frame = joined.select(pl.col(f"c{at}").alias(name) for at, name in enumerate(names))
            yield joined[PLACE].to_numpy().astype(np.int64), Frame(frame)

    def words(
        self, names: Sequence[str], draw: Callable[[Frame], NDArray[np.uint64]], *, rows: int
    ) -> NDArray[np.uint64]:
        """Σ modulo 2^64 over each class of words that are drawn for each record from some columns."""
        total: NDArray[np.uint64] | None = None
        for place, frame in self.blocks(names, rows=rows):
            drawn = draw(frame)
            if total is None:
                total = np.zeros((len(self.counts), drawn.shape[1]), dtype=np.uint64)
            order = np.argsort(place, kind="stable")
            starts = np.flatnonzero(np.diff(place[order], prepend=-1))
            total[place[order][starts]] += np.add.reduceat(drawn[order], starts, axis=0)
        assert total is not None
        return total


def _whole(texts: pl.Series) -> Whole:
    """Whole numbers from texts: 64 bits where every sum of them fits, else Python's own."""
    numbers = [int(text) for text in texts.fill_null("0")]
    fits = sum(map(abs, numbers)) < 2**62
    return np.array(numbers, dtype=np.int64 if fits else object)
