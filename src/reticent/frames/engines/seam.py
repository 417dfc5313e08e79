# SPDX-License-Identifier: Apache-2.0
"""What an engine is to the rest: a connection that runs SQL over one lazy source and gives polars tables back.

Both engines speak SQL, so one text serves them; what they spell differently is a method of the connection. Only
combinations, cells and blocks of records leave an engine, never all records at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reticent.base.errors import DataError
from reticent.base.progress import Progress, silent
from reticent.frames.frame import Frame

SOURCE = "reticent_source"
"""The name of the source's view in each engine."""
WORD = 2**62
"""Codes are packed into whole numbers below this."""
UNPACKED = 2**14
"""Numbers that are unpacked at a time: they stay in the cache over all keys."""


@dataclass(frozen=True)
class EngineSettings:
    """What an engine may take: memory ("2GB"), threads, a folder to spill to and how much of it; none: its own choice."""

    memory: str | None = None
    threads: int | None = None
    spill: Path | None = None
    spill_limit: str | None = None


@dataclass(frozen=True)
class Files:
    """The files of a source, all of one format (`parquet` or `csv`); a `database` is one file with a query."""

    paths: tuple[Path, ...]
    format: str
    separator: str = ","
    query: str | None = None


class Connection(Protocol):
    """One engine at work on one source."""

    name: str

    def open(self, files: Files) -> dict[str, pl.DataType]:
        """Make the view `reticent_source` of the files, and say its columns; texts of CSV files stay texts."""
        ...

    def fetch(
        self, sql: str, *, small: Mapping[str, pl.DataFrame] | None = None, progress: Progress = silent
    ) -> pl.DataFrame:
        """Run a query; `small` are tables that it may join by name."""
        ...

    def stream(self, sql: str, *, rows: int, small: Mapping[str, pl.DataFrame] | None = None) -> Iterator[pl.DataFrame]:
        """Run a query and give its rows in blocks, in any order; `small` are tables that it may join by name."""
        ...

    def keep(
        self, name: str, sql: str, *, small: Mapping[str, pl.DataFrame] | None = None, progress: Progress = silent
    ) -> None:
        """Run a query and keep its rows in the engine under a name, in place of what had it."""
        ...

    def drop(self, name: str) -> None:
        """Let go what was kept."""
        ...

    def quote(self, name: str) -> str:
        """A column name as the engine writes it."""
        ...

    def text(self, value: str) -> str:
        """A text as the engine writes it."""
        ...

    def matches(self, expression: str, pattern: str) -> str:
        """Whether a text holds a regular expression."""
        ...

    def trimmed(self, expression: str, characters: str) -> str:
        """A text without some characters at both ends."""
        ...

    def time_text(self, expression: str, digits: int) -> str:
        """A time as text: 2020-01-31 10:20:30 and this many decimals of the second."""
        ...

    def wide(self, expression: str) -> str:
        """A whole number of at least 38 digits, so that sums and products of others do not overflow."""
        ...

    def largest(self, expression: str, n: int) -> str:
        """An aggregate: the list of the n largest values, falling."""
        ...

    def close(self) -> None:
        """End the work; what was spilled goes."""
        ...


@dataclass(frozen=True)
class Distinct:
    """Each value of a column once (a frame of that one column), and how often it occurs."""

    frame: Frame
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class CodeMap:
    """Which code each value of a column has (−1: missing), how many codes there are, and the code of no value."""

    values: Frame
    codes: NDArray[Any]
    size: int
    absent: int = -1

    @property
    def column(self) -> str:
        """The name of the column."""
        return self.values.names[0]


@dataclass(frozen=True)
class Grouped:
    """Combinations of codes in rising order, and one column of sums for each that was asked for."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    sums: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class View:
    """The source with each column as an expression: what codes and numbers are read as."""

    connection: Connection
    expressions: Mapping[str, str]

    def select(self, names: Sequence[str]) -> str:
        """The SQL text of some columns."""
        quote = self.connection.quote
        listed = ", ".join(f"{self.expressions[name]} AS {quote(name)}" for name in names)
        return f"SELECT {listed or '1 AS one'} FROM {SOURCE}"

    def dtype(self, name: str) -> pl.DataType:
        """What the engine holds a column as."""
        return self.connection.fetch(f"{self.select((name,))} LIMIT 0").schema[name]

    def is_whole(self, name: str) -> bool:
        """Whether the engine holds a column as whole numbers."""
        return self.dtype(name).is_integer()

    def n_records(self) -> int:
        """Number of records."""
        return int(self.connection.fetch(f"SELECT COUNT(*) AS n FROM {SOURCE}")["n"][0])

    def facts(self, **expressions: str) -> dict[str, Any]:
        """Some aggregates over all records, by name."""
        if not expressions:
            return {}
        listed = ", ".join(f"{text} AS {name}" for name, text in expressions.items())
        row = self.connection.fetch(f"SELECT {listed} FROM ({self.select(tuple(self.expressions))}) s")
        return dict(row.row(0, named=True))

    def distinct(self, name: str, *, progress: Progress = silent) -> Distinct:
        """Each value of a column and how often it occurs, in the order of the values."""
        quote = self.connection.quote
        found = self.connection.fetch(
            f"SELECT {quote(name)} AS value, CAST(COUNT(*) AS BIGINT) AS n FROM ({self.select((name,))}) s "
            f"GROUP BY {quote(name)}",
            progress=progress,
        ).sort("value", nulls_last=True)
        return Distinct(Frame(found.select(pl.col("value").alias(name))), found["n"].to_numpy())

    def grouped(self, maps: Sequence[CodeMap], sums: Mapping[str, str], *, progress: Progress = silent) -> Grouped:
        """Count the combinations of codes, and add up the expressions of `sums` over the columns of the view.

        Codes are looked up by joins with small tables and packed into few whole numbers, so that the engine groups by
        numbers and no text comes back.
        """
        words = packing([one.size + 1 for one in maps])
        small, joins = lookup_joins(self.connection, maps)
        packed = ", ".join(f"{packed_word(word, maps)} AS w{at}" for at, word in enumerate(words))
        names = ", ".join(f"w{at}" for at in range(len(words)))
        inner = "".join(f", {text} AS s{at}" for at, text in enumerate(sums.values()))
        outer = "".join(f", {_total(text, at)} AS s{at}" for at, text in enumerate(sums.values()))
        table = self.connection.fetch(
            f"SELECT {names}, CAST(COUNT(*) AS BIGINT) AS n{outer} FROM (SELECT {packed}{inner} "
            f"FROM ({self.select(tuple(self.expressions))}) s {joins}) p GROUP BY {names}",
            small=small,
            progress=progress,
        ).sort([f"w{at}" for at in range(len(words))])
        codes = unpacked([table[f"w{at}"].to_numpy() for at in range(len(words))], words, len(maps))
        found = {name: table[f"s{at}"].to_numpy() for at, name in enumerate(sums)}
        return Grouped(codes, table["n"].to_numpy(), found)

    def group_sizes(self, maps: Sequence[CodeMap], names: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many combinations of codes (by `maps`) and of values of other columns have how many records.

        Records without a value of one of the other columns are left out. Two numbers per size come back, no value.
        """
        words = packing([one.size + 1 for one in maps])
        small, joins = lookup_joins(self.connection, maps)
        quoted = [f"s.{self.connection.quote(name)}" for name in names]
        listed = [f"{packed_word(word, maps)} AS w{at}" for at, word in enumerate(words if maps else ())]
        listed += [f"{text} AS v{at}" for at, text in enumerate(quoted)]
        by = ", ".join(text.rsplit(" ", 1)[1] for text in listed)
        there = " AND ".join(f"{text} IS NOT NULL" for text in quoted) or "1 = 1"
        inner = f"SELECT {', '.join(listed)} FROM ({self.select(tuple(self.expressions))}) s {joins} WHERE {there}"
        counted = f"SELECT COUNT(*) AS size FROM ({inner}) p GROUP BY {by}"
        table = self.connection.fetch(
            f"SELECT CAST(size AS BIGINT) AS size, CAST(COUNT(*) AS BIGINT) AS n FROM ({counted}) g GROUP BY size",
            small=small,
        )
        return table["size"].to_numpy(), table["n"].to_numpy()

    def blocks(self, names: Sequence[str], *, rows: int) -> Iterator[Frame]:
        """The records in blocks, in any order."""
        for table in self.connection.stream(self.select(names), rows=rows):
            yield Frame(table)

    def coded_blocks(
        self, maps: Sequence[CodeMap], names: Sequence[str], *, rows: int, where: str = ""
    ) -> Iterator[tuple[NDArray[np.int32], Frame]]:
        """The records in blocks, in any order: codes by `maps` (−1: missing), and some columns as they are."""
        words = packing([one.size + 1 for one in maps])
        small, joins = lookup_joins(self.connection, maps)
        packed = "".join(f"{packed_word(word, maps)} AS reticent_w{at}, " for at, word in enumerate(words))
        own = ", ".join(f"s.{self.connection.quote(name)}" for name in names)
        inner = self.select(tuple(dict.fromkeys((*(one.column for one in maps), *names))))
        sql = f"SELECT {packed}{own} FROM (SELECT * FROM ({inner}) q{f' WHERE {where}' if where else ''}) s {joins}"
        for table in self.connection.stream(sql, rows=rows, small=small):
            columns = [table[f"reticent_w{at}"].to_numpy() for at in range(len(words))]
            codes = unpacked(columns, words, len(maps)) if maps else np.zeros((len(table), 0), dtype=np.int32)
            yield codes, Frame(table.select(names))


WHOLE = "CAST(ROUND("
"""How expressions begin whose sums are whole numbers."""


def whole(expression: str, decimals: int) -> str:
    """A number with this many decimals as a whole number."""
    scaled = f"({expression}) * {10**decimals}" if decimals else expression
    return f"{WHOLE}{scaled}) AS BIGINT)"


def _total(expression: str, at: int) -> str:
    """The sum of a column of `grouped`; whole numbers stay whole, and too large ones are an error of the engine."""
    return f"CAST(SUM(s{at}) AS BIGINT)" if expression.startswith(WHOLE) else f"SUM(s{at})"


Word = tuple[tuple[int, int, int], ...]
"""What one packed number holds: (position of the key, its factor, its number of codes with "missing")."""


def packing(sizes: Sequence[int]) -> list[Word]:
    """Which keys go into which number, the last key of each number counting ones, so that numbers sort as codes do."""
    words: list[list[int]] = [[]]
    product = 1
    for at, size in enumerate(sizes):
        if product * size >= WORD:
            words.append([])
            product = 1
        words[-1].append(at)
        product *= size
    return [_word(word, sizes) for word in words if word]


def _word(keys: Sequence[int], sizes: Sequence[int]) -> Word:
    factor = 1
    placed = []
    for at in reversed(keys):
        placed.append((at, factor, sizes[at]))
        factor *= sizes[at]
    return tuple(reversed(placed))


def packed_word(word: Word, maps: Sequence[CodeMap]) -> str:
    """The SQL text of one packed number; codes count from 1, and 0 is missing."""
    return " + ".join(
        f"COALESCE(m{at}.code, CAST({maps[at].absent + 1} AS BIGINT)) * {factor}" for at, factor, _ in word
    )


def unpacked(columns: Sequence[NDArray[np.int64]], words: Sequence[Word], n_keys: int) -> NDArray[np.int32]:
    """The codes of each key (−1: missing) from the packed numbers."""
    codes = np.empty((n_keys, len(columns[0])), dtype=np.int32).T  # key by key: each is written and read as a whole
    for start in range(0, len(codes), UNPACKED):
        part = slice(start, start + UNPACKED)
        for column, word in zip(columns, words, strict=True):
            rest = column[part]
            for at, factor, _ in word:
                code = rest // factor
                codes[part, at] = code - 1
                rest = rest - code * factor
                if factor < 2**31 and rest.dtype != np.int32:  # what is left is below the factor
                    rest = rest.astype(np.int32)
    return codes


def coded_rows(view: View, maps: Sequence[CodeMap], own: Mapping[str, str]) -> str:
    """The records: codes packed into w0, w1, …, and expressions over the columns of the view by name, in SQL."""
    listed = ", ".join(
        [
            *(view.connection.quote(one.column) for one in maps),
            *(f"{text} AS reticent_{name}" for name, text in own.items()),
        ]
    )
    packed = "".join(
        f"{packed_word(word, maps)} AS w{at}, " for at, word in enumerate(packing([one.size + 1 for one in maps]))
    )
    kept = ", ".join(f"s.reticent_{name} AS {name}" for name in own) or "1 AS here"
    _, joins = lookup_joins(view.connection, maps)
    inner = f"SELECT {listed or '1 AS here'} FROM ({view.select(tuple(view.expressions))}) r"
    return f"SELECT {packed}{kept} FROM ({inner}) s {joins}"


def lookup_joins(connection: Connection, maps: Sequence[CodeMap]) -> tuple[dict[str, pl.DataFrame], str]:
    """Small tables from value to code (from 1 on; 0 is missing), and the joins that look them up."""
    small, joins = {}, []
    for at, one in enumerate(maps):
        values = one.values.table[one.column]
        if values.dtype == pl.Null:
            raise DataError(
                f"Column {one.column!r} has no value in any record; drop it, or check that this is the right file.",
                variables=(one.column,),
            )
        table = pl.DataFrame({"value": values, "code": np.asarray(one.codes, dtype=np.int64) + 1})
        small[f"m{at}"] = table.filter(pl.col("value").is_not_null())
        joins.append(f"LEFT JOIN m{at} ON s.{connection.quote(one.column)} = m{at}.value")
    return small, " ".join(joins)
