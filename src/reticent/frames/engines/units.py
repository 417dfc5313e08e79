# SPDX-License-Identifier: Apache-2.0
"""Units of a table in an engine: records or respondents with their finest cell, their numbers and their weight.

All numbers are whole, so that sums do not depend on the order in which an engine adds them up. What comes back are finest
cells with sums and largest contributions, and the respondents that are in several of them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reticent.base.progress import Progress, silent
from reticent.frames.engines.seam import CodeMap, View, Word, coded_rows, lookup_joins, packing, unpacked

PAIRS, SEVERAL = "reticent_pairs", "reticent_several"
"""Names of what is kept in the engine: respondents with their finest cells, and those that have several."""
JUDGED = "judged"
"""The mark of units that have not waived protection."""
GIVING = " giving"
"""The value that is above 0 where a unit has a value of the response; there if some have none."""
Who = Literal["all", "giving", "judged"]
"""Which units are meant: all, those that have a value of the response, those among them without a waiver."""


@dataclass(frozen=True)
class UnitRows:
    """What is read of each record, as SQL over the columns of the view: whole numbers, all but the unit.

    `numbers` are columns x0, x1, …, `marks` are 0 or 1 by name, and `values` are what is added up, as SQL over these. With
    `combined`, records of one unit are combined first, and a mark of one record is one of its unit. Ties between equal
    contributions go to the least unit.
    """

    maps: tuple[CodeMap, ...]
    numbers: tuple[str, ...]
    values: Mapping[str, str]
    unit: str = "0"
    weight: str | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    combined: bool = False


@dataclass(frozen=True)
class FoundList:
    """Sums (Σ w·x, Σ w·|x|, least and greatest x) and largest contributions of one value over the cells."""

    sums: NDArray[np.float64]
    top: NDArray[np.float64]
    units: NDArray[np.int64]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class FoundCells:
    """Finest cells: their codes (−1: missing), number of units and sum of weights, and lists by value."""

    codes: NDArray[np.int32]
    counts: NDArray[np.float64]
    lists: Mapping[str, FoundList]


@dataclass(frozen=True)
class FoundPairs:
    """What units gave to finest cells, one row for each unit and cell; `judged` says who has not waived protection."""

    codes: NDArray[np.int32]
    units: NDArray[np.int64]
    values: Mapping[str, NDArray[np.float64]]
    weights: NDArray[np.float64] | None
    judged: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class EngineUnits:
    """The units of one table at work in an engine; `close` lets go what it keeps there."""

    view: View
    rows: UnitRows
    several: int = 0

    @classmethod
    def opened(cls, view: View, rows: UnitRows, *, progress: Progress = silent) -> "EngineUnits":
        """Combine records to units where that is asked for; the engine keeps them."""
        made = cls(view, rows)
        if not rows.combined:
            return made
        small, _ = lookup_joins(view.connection, rows.maps)
        view.connection.keep(PAIRS, made._pairs_sql(), small=small, progress=progress)
        many = f"SELECT u FROM {PAIRS} GROUP BY u HAVING COUNT(*) > 1"
        view.connection.keep(SEVERAL, many)
        n = int(view.connection.fetch(f"SELECT CAST(COUNT(*) AS BIGINT) AS n FROM {SEVERAL}")["n"][0])
        return cls(view, rows, n)

    def close(self) -> None:
        """Let go what the engine keeps."""
        if self.rows.combined:
            self.view.connection.drop(PAIRS)
            self.view.connection.drop(SEVERAL)

    @cached_property
    def _words(self) -> list[Word]:
        return packing([one.size + 1 for one in self.rows.maps])

    @cached_property
    def _names(self) -> str:
        return ", ".join(f"w{at}" for at in range(len(self._words)))

    def _rows_sql(self) -> str:
        """The records: packed cell, unit, numbers, weight and marks."""
        rows = self.rows
        own = {"u": rows.unit, "wt": rows.weight or "1", **{f"x{at}": text for at, text in enumerate(rows.numbers)}}
        return coded_rows(self.view, rows.maps, {**own, **rows.marks})

    def _pairs_sql(self) -> str:
        rows = self._rows_sql()
        marks = tuple(self.rows.marks)
        if marks:  # what one record of a unit says holds for all of them
            plain = ", ".join(["u", *(f"MAX({name}) AS {name}" for name in marks)])
            kept = ", ".join([*(f"t.{w}" for w in self._names.split(", ")), "t.u", "t.wt", *self._numbers("t.")])
            of = ", ".join(f"f.{name}" for name in marks)
            rows = (
                f"SELECT {kept}, {of} FROM ({rows}) t JOIN (SELECT {plain} FROM ({rows}) q GROUP BY u) f ON t.u = f.u"
            )
        sums = "".join(f", CAST(SUM({text}) AS BIGINT) AS v{at}" for at, text in enumerate(self.rows.values.values()))
        judged = f", MAX({JUDGED}) AS {JUDGED}" if JUDGED in marks else ""
        return (
            f"SELECT {self._names}, u, MIN(wt) AS wt, MAX(wt) AS most{sums}{judged} FROM ({rows}) p "
            f"GROUP BY {self._names}, u"
        )

    def _numbers(self, prefix: str) -> list[str]:
        return [f"{prefix}x{at}" for at in range(len(self.rows.numbers))]

    def _units_sql(self, who: Who) -> str:
        """Units that are in one finest cell only, each a row."""
        tests = [f"v{list(self.rows.values).index(GIVING)} > 0"] if who != "all" and GIVING in self.rows.values else []
        tests += [f"{JUDGED} = 1"] if who == "judged" and JUDGED in self.rows.marks else []
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        if not self.rows.combined:
            values = "".join(f", {text} AS v{at}" for at, text in enumerate(self.rows.values.values()))
            judged = f", {JUDGED}" if JUDGED in self.rows.marks else ""
            return f"SELECT * FROM (SELECT {self._names}, u, wt{values}{judged} FROM ({self._rows_sql()}) p) r{where}"
        if not self.several:
            return f"SELECT * FROM {PAIRS}{where}"
        alone = f"SELECT p.* FROM {PAIRS} p LEFT JOIN {SEVERAL} m ON p.u = m.u WHERE m.u IS NULL"
        return f"SELECT * FROM ({alone}) a{where}"

    def cells(self, tops: Mapping[str, int], named: Sequence[str], *, who: Who, progress: Progress) -> FoundCells:
        """Finest cells of units that are in one only. Values in `named` have lists with units, others the largest only."""
        connection = self.view.connection
        small, _ = lookup_joins(connection, self.rows.maps)
        place = {name: at for at, name in enumerate(self.rows.values)}
        sums = "".join(_sums_of(place[name]) for name in tops)
        first = ", MIN(u) AS first" if named else ""
        table = connection.fetch(
            f"SELECT {self._names}, CAST(COUNT(*) AS BIGINT) AS n, CAST(SUM(wt) AS BIGINT) AS ws{first}{sums} "
            f"FROM ({self._units_sql(who)}) a GROUP BY {self._names}",
            small=small,
            progress=progress,
        ).sort("first" if named else self._names.split(", "))  # the order decides who is named among equals
        lists = {}
        for name, k in tops.items():
            found = _sums(table, place[name])
            if name in named:
                lists[name] = self._list(table, found, place[name], k, who)
            else:
                largest = table[f"l{place[name]}"].to_numpy()[:, None].astype(np.float64)
                nobody = np.zeros((len(table), 1), dtype=np.int64)
                lists[name] = FoundList(found, largest, nobody, self._weights(table, 1))
        counts = np.column_stack((table["n"].to_numpy(), table["ws"].to_numpy())).astype(np.float64)
        return FoundCells(self._codes(table), counts, lists)

    def _weights(self, table: pl.DataFrame, k: int) -> NDArray[np.float64]:
        return np.zeros((len(table) if self.rows.weight is not None else 0, k))

    def _list(
        self, table: pl.DataFrame, sums: NDArray[np.float64], at: int, k: int, who: Who
    ) -> FoundList:  # fmt: skip
        """The largest contributions of each cell; among equal ones the least unit comes first."""
        small, _ = lookup_joins(self.view.connection, self.rows.maps)
        ranked = (
            f"SELECT {self._names}, u, wt, ABS(v{at}) AS size, ROW_NUMBER() OVER (PARTITION BY {self._names} "
            f"ORDER BY ABS(v{at}) DESC, u) AS place FROM ({self._units_sql(who)}) a"
        )
        found = self.view.connection.fetch(f"SELECT * FROM ({ranked}) t WHERE place <= {k}", small=small)
        keys = self._names.split(", ")
        rows = found.join(table.select(keys).with_row_index("cell"), on=keys)
        cell, place = rows["cell"].to_numpy(), rows["place"].to_numpy() - 1
        top, units = np.zeros((len(table), k)), np.full((len(table), k), -1, dtype=np.int64)
        top[cell, place] = rows["size"].to_numpy()
        units[cell, place] = unit_numbers(rows["u"])
        weights = self._weights(table, k)
        if self.rows.weight is not None:
            weights[cell, place] = rows["wt"].to_numpy()
        return FoundList(sums, top, units, weights)

    def pairs(self) -> FoundPairs | None:
        """What units that are in several finest cells gave to each; None if there are none."""
        if not self.several:
            return None
        table = self.view.connection.fetch(
            f"SELECT p.* FROM {PAIRS} p JOIN {SEVERAL} m ON p.u = m.u ORDER BY p.u, {self._names}"
        )
        values = {name: table[f"v{at}"].to_numpy().astype(np.float64) for at, name in enumerate(self.rows.values)}
        weights = None if self.rows.weight is None else table["wt"].to_numpy().astype(np.float64)
        judged = table[JUDGED].to_numpy() > 0 if JUDGED in table.columns else np.ones(len(table), dtype=bool)
        return FoundPairs(self._codes(table), unit_numbers(table["u"]), values, weights, judged)

    def unequal_weights(self) -> bool:
        """Whether the records of some unit have different weights."""
        if not self.rows.combined or self.rows.weight is None:
            return False
        off = f"SELECT u FROM {PAIRS} GROUP BY u HAVING MIN(wt) <> MAX(most) LIMIT 1"
        return len(self.view.connection.fetch(off)) > 0

    def _codes(self, table: pl.DataFrame) -> NDArray[np.int32]:
        columns = [table[f"w{at}"].to_numpy() for at in range(len(self._words))]
        return unpacked(columns, self._words, len(self.rows.maps))


def _sums_of(at: int) -> str:
    return (
        f", CAST(SUM(wt * v{at}) AS BIGINT) AS t{at}, CAST(SUM(wt * ABS(v{at})) AS BIGINT) AS a{at}"
        f", MIN(v{at}) AS lo{at}, MAX(v{at}) AS hi{at}, MAX(ABS(v{at})) AS l{at}"
    )


def _sums(table: pl.DataFrame, at: int) -> NDArray[np.float64]:
    return table.select(f"t{at}", f"a{at}", f"lo{at}", f"hi{at}").to_numpy().astype(np.float64)


def unit_numbers(names: pl.Series) -> NDArray[np.int64]:
    """A number of 0 or more for each unit, the same in each table: its own where it is one, else a hash of its text."""
    if names.dtype.is_integer():
        return names.cast(pl.Int64).to_numpy()
    texts = [text.encode() for text in names.cast(pl.String).to_list()]
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return (np.frombuffer(digests, dtype="<u8") >> np.uint64(1)).astype(np.int64)
