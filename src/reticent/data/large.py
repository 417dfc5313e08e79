# SPDX-License-Identifier: Apache-2.0
"""`LargeFile`: records that stay in an engine, with their schema. What leaves it are combinations, cells and blocks.

A combination of keys comes back once, with the number of its records: as rows of a `Microdata` that stand for several
records each. Everything that judges combinations then works on it as on a file in memory, and gives the same.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import did_you_mean
from reticent.base.errors import DataError
from reticent.base.progress import Progress, part, silent
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, with_digit_trees
from reticent.frames.columns import decoded, frame_of, null_row, series, unique_ids
from reticent.frames.engines.seam import CodeMap, Grouped, View, whole
from reticent.frames.frame import Encoded, Frame
from reticent.frames.marks import NO_MARKS, Marks

MOST_VALUES = 20_000_000
"""Different values of one variable up to which it can be a key."""
BLOCK = 1_000_000
"""Records of a block."""


@dataclass(frozen=True, eq=False)
class LargeFile:
    """Confidential records in an engine, and their schema. `columns` has each variable's values once, as they are shown.

    `marks` are those of the text files that the records came from.
    """

    view: View = field(repr=False)
    schema: Schema
    n_records: int
    marks: Marks = NO_MARKS
    _columns: dict[str, Microdata] = field(default_factory=dict, repr=False)
    _values: dict[str, Frame] = field(default_factory=dict, repr=False)
    _exact: dict[str, bool] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, view: View, schema: Schema, marks: Marks = NO_MARKS) -> "LargeFile":
        """Bind a source to its schema; what the schema asks of records is checked in the engine."""
        check_names(tuple(view.expressions), schema)
        n_records = view.n_records()
        if n_records == 0:
            raise DataError("the data have no records.")
        kept = View(view.connection, {name: view.expressions[name] for name in schema.names})
        file = cls(kept, schema, n_records, marks)._with_digit_trees()
        file._check_weight()
        return file

    def __repr__(self) -> str:
        engine = self.view.connection.name
        return f"<LargeFile {self.n_records} records × {len(self.schema.variables)} variables in {engine}>"

    def column(self, name: str, *, progress: Progress = silent) -> Microdata:
        """One variable as a file of its different values; each row stands for the records that have it."""
        if name not in self._columns:
            found = self.view.distinct(name, progress=progress)
            if len(found.counts) > MOST_VALUES:
                raise DataError(
                    f"Variable {name!r} has more than {MOST_VALUES:,} different values, too many for a key; recode it, or "
                    "leave it out of the keys.",
                    variables=(name,),
                )
            self._values[name] = found.frame
            only = Schema((self.schema[name],))
            ids = np.arange(len(found.counts), dtype=np.uint64)
            self._columns[name] = Microdata(found.frame, only, ids, copies=found.counts)
        return self._columns[name]

    def categories(self, name: str) -> tuple[str, ...]:
        """The text of each code of a variable."""
        return self.column(name).categories(name)

    def code_map(self, name: str) -> CodeMap:
        """Which code each value of a variable has."""
        data = self.column(name)
        encoded = data.encoded(name)
        return CodeMap(self._values[name], encoded.codes, len(encoded.categories))

    def row_map(self, name: str) -> CodeMap:
        """Which row of its `column` each value of a variable is."""
        self.column(name)
        values = self._values[name]
        return CodeMap(values, np.arange(values.n_records), values.n_records, absent=null_row(values, name))

    def with_column(self, data: Microdata) -> "LargeFile":
        """The file with one variable shown otherwise: `data` has a row for each row of its `column`, in that order."""
        name = data.schema.names[0]
        if data.n_rows != self.column(name).n_rows:
            raise DataError(f"Variable {name!r}: each of its values must be shown by one value.", variables=(name,))
        schema = self.schema.replace(data.schema[name])
        return replace(self, schema=schema, _columns={**self._columns, name: data}, _exact=dict(self._exact))

    def grouped(self, names: Sequence[str], sums: dict[str, str], *, progress: Progress = silent) -> Grouped:
        """The combinations of some variables, counted in the engine."""
        maps = []
        for at, name in enumerate(names):
            self.column(name, progress=part(progress, 0.3 * at / len(names), 0.3 * (at + 1) / len(names)))
            maps.append(self.code_map(name))
        return self.view.grouped(maps, sums, progress=part(progress, 0.3, 1.0))

    def patterns(self, names: Sequence[str], *, progress: Progress = silent) -> Microdata:
        """The combinations of some variables that occur, in the order of their codes, with the sum of weights of each."""
        names = tuple(names)
        self.schema.require(names, owner="counting")
        weight = self.schema.weight
        sums = {} if weight is None or weight in names else {weight: self.sum_text(weight)}
        found = self.grouped(names, sums, progress=progress)
        return self.pattern_file(names, found, weight if sums else None)

    def pattern_file(self, names: tuple[str, ...], found: Grouped, weight: str | None) -> Microdata:
        """Combinations as rows of a file; each stands for its records."""
        encoded = {
            name: Encoded(np.ascontiguousarray(found.codes[:, at]), self.categories(name))
            for at, name in enumerate(names)
        }
        columns = [
            decoded(name, one.codes, one.categories, self.column(name).frame.table[name])
            for name, one in encoded.items()
        ]
        if weight is not None:
            columns.append(series(self.scaled_back(weight, found.sums[weight])).alias(weight))
        kept = tuple(self.schema[name] for name in (*names, *(() if weight is None else (weight,))))
        ids = np.arange(len(found.counts), dtype=np.uint64)
        return Microdata(frame_of(columns), Schema(kept), ids, encoded, found.counts)

    def number_text(self, name: str) -> str:
        """A number as the engine reads it: missing codes and what is not a number are missing."""
        text = self.view.connection.quote(name)
        codes = [number for number in map(_number, self.schema[name].missing) if number is not None]
        listed = ", ".join(map(str, codes))
        known = f"(CASE WHEN {text} IN ({listed}) THEN NULL ELSE {text} END)" if listed else text
        return f"(CASE WHEN isnan({known}) THEN NULL ELSE {known} END)" if self.view.dtype(name).is_float() else known

    def sum_text(self, name: str) -> str:
        """What is added up of a number: a whole number where its decimals are known, else the number (to a tolerance)."""
        text = self.number_text(name)
        return whole(text, self.schema[name].decimals) if self.is_exact(name) else text

    def scaled_back(self, name: str, sums: NDArray[Any]) -> NDArray[np.float64]:
        """Sums in the unit of the data again; each is rounded once."""
        scale = 10 ** self.schema[name].decimals if self.is_exact(name) else 1
        return np.asarray(sums, dtype=np.float64) / scale

    def is_exact(self, name: str) -> bool:
        """Whether all values of a number have the decimals that the schema declares, so that sums are exact."""
        if name not in self._exact:
            text = self.number_text(name)
            scale = 10 ** self.schema[name].decimals
            off = f"ROUND({text} * {scale}) / {scale} <> {text} OR ABS({text} * {scale}) >= 9007199254740992"
            self._exact[name] = not self.view.facts(n=f"SUM(CASE WHEN {off} THEN 1 ELSE 0 END)")["n"]
        return self._exact[name]

    def blocks(self, *, rows: int = BLOCK, ids: str | None = None) -> Iterator[Microdata]:
        """The records in blocks, keyed by the identifier `ids` (none: by nothing that draws may use)."""
        for frame in self.view.blocks(self.schema.names, rows=rows):
            found = None if ids is None else unique_ids(frame.table[ids])
            own = np.arange(frame.n_records, dtype=np.uint64) if found is None else found
            yield Microdata(frame, self.schema, own)

    def coded_blocks(
        self, maps: Sequence[CodeMap], names: Sequence[str], ids: str, *, rows: int = BLOCK, where: str = ""
    ) -> Iterator[tuple[NDArray[np.int32], Microdata]]:
        """Codes of the records in blocks, and some variables, keyed by the identifier `ids` (which must be unique).

        With `where` only records for which this SQL holds.
        """
        schema = Schema(tuple(self.schema[name] for name in names))
        for codes, frame in self.view.coded_blocks(maps, names, rows=rows, where=where):
            own = unique_ids(frame.table[ids])
            assert own is not None
            yield codes, Microdata(frame, schema, own)

    def is_one_of(self, name: str, rows: NDArray[np.int64]) -> str:
        """Whether a value is one of those in some rows of its `column`, in SQL."""
        self.column(name)
        return self.is_listed(name, self._literals(self._values[name], name, rows))

    def literals(self, name: str, block: Microdata, rows: NDArray[np.int64]) -> list[str]:
        """Values of some rows of a block as SQL writes them."""
        return self._literals(block.frame, name, rows)

    def _literals(self, frame: Frame, name: str, rows: NDArray[np.int64]) -> list[str]:
        values = frame.table[name][rows.tolist()].drop_nulls()
        return [str(one) if values.dtype.is_numeric() else self.view.connection.text(str(one)) for one in values]

    def is_listed(self, name: str, literals: Sequence[str]) -> str:
        """Whether a value is one of these, in SQL: one list, because an engine looks a long list up by its hash."""
        return f"{self.view.connection.quote(name)} IN ({', '.join(literals)})" if literals else "1 = 0"

    def refuse_infinite(self, names: Sequence[str]) -> None:
        """Refuse numbers that arithmetic cannot hold."""
        kept = [n for n in names if self.schema[n].kind is Kind.NUMERIC and self.view.dtype(n).is_float()]
        above = [f"ABS({self.number_text(name)}) = CAST('infinity' AS DOUBLE)" for name in kept]
        asked = {f"n{at}": f"SUM(CASE WHEN {text} THEN 1 ELSE 0 END)" for at, text in enumerate(above)}
        for name, count in zip(kept, self.view.facts(**asked).values(), strict=True):
            if count:
                raise DataError(
                    f"Variable {name!r} has infinite values; correct them, or give them a missing code.",
                    variables=(name,),
                )

    def with_schema(self, schema: Schema) -> "LargeFile":
        """The same records under another schema of the same variables."""
        return LargeFile.of(View(self.view.connection, dict(self.view.expressions)), schema, self.marks)

    def _with_digit_trees(self) -> "LargeFile":
        schema = with_digit_trees(self.schema, self.categories)
        return self if schema is self.schema else replace(self, schema=schema, _columns={})

    def _check_weight(self) -> None:
        weight = self.schema.weight
        if weight is None:
            return
        text = self.number_text(weight)
        bad = self.view.facts(n=f"SUM(CASE WHEN {text} > 0 THEN 0 ELSE 1 END)")["n"]
        if bad:
            raise DataError(
                f"Weight {weight!r}: {int(bad)} records have a missing or non-positive weight; every weight must be "
                "above 0.",
                variables=(weight,),
            )

    def unique_identifier(self) -> str | None:
        """The first identifier without a missing or repeated value; None if there is none."""
        for name in self.schema.with_role(Role.IDENTIFIER):
            text = self.view.connection.quote(name)
            facts = self.view.facts(present=f"COUNT({text})", different=f"COUNT(DISTINCT {text})")
            if facts["present"] == facts["different"] == self.n_records:
                return name
        return None


def _number(code: str) -> float | int | None:
    """A missing code as a number; None if it is none."""
    try:
        value = float(code)
    except ValueError:
        return None
    return None if not math.isfinite(value) else int(value) if value.is_integer() else value


def check_names(names: Sequence[str], schema: Schema) -> None:
    """Refuse variables without a column, and columns that nobody has described."""
    absent = [name for name in schema.names if name not in names]
    if absent:
        kind = "identifier column" if schema[absent[0]].role is Role.IDENTIFIER else "column"
        raise DataError(
            f"the data have no {kind} {absent[0]!r} that the schema describes."
            + (did_you_mean(absent[0], names) or f" Columns: {', '.join(names)}."),
            variables=tuple(absent),
        )
    extra = [name for name in names if name not in schema.names]
    if extra:
        raise DataError(
            f"the schema does not describe the column {extra[0]!r}"
            f"{f' and {len(extra) - 1} more' if len(extra) > 1 else ''}; add it to the schema or drop it from the data.",
            variables=tuple(extra),
        )


__all__ = ["BLOCK", "LargeFile", "check_names"]
