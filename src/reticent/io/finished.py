# SPDX-License-Identifier: Apache-2.0
"""Read a finished table: a CSV file with one row per cell, totals included."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reticent.base.checks import did_you_mean
from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.table_plan import FinishedOptions
from reticent.frames.marks import Marks
from reticent.io.argus_text import Notes
from reticent.io.delimited import read_delimited, separator_of
from reticent.tables.apriori import Entry
from reticent.tabulation.finished import CellColumns

ABSENT = ("", "-", ".")
Trees = tuple[Hierarchy, ...]


@dataclass(frozen=True, eq=False)
class FinishedFile:
    """What a file of cells says: the cells, and what it declares about them."""

    columns: CellColumns
    entries: tuple[Entry, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CellLayout:
    """What a file of cells has: dimensions with their trees (which may be made from the codes), totals and missing codes,
    the response, the column of the shadow variable, and `others` that are read too."""

    names: Sequence[str]
    trees: Sequence[Trees | Callable[[tuple[str, ...]], Trees]]
    totals: Sequence[str]
    response: str | None
    missing: Sequence[str | None] = ()
    shadow: str | None = None
    others: Sequence[str] = ()


def read_finished(
    path: Path, layout: CellLayout, options: FinishedOptions, *, header: Sequence[str] | None = None
) -> FinishedFile:
    """Read the cells; `header` are the column names where the file has none."""
    names, shadow = layout.names, layout.shadow
    notes = Notes()
    frame = read_delimited(path, separator=options.separator, names=header, notes=notes)
    wanted = [*names, options.value, *options.top, *layout.others]
    wanted += [n for n in (options.count, options.status, options.cost, shadow) if n is not None]
    wanted += [n for n in (options.lower_protection, options.upper_protection) if n is not None]
    for name in wanted:
        if name not in frame.columns:
            raise DataError(
                f"{path.name}: there is no column {name!r}.{did_you_mean(name, frame.columns)} "
                f"Columns: {', '.join(frame.columns)}.",
                variables=(name,),
            )
    codes = tuple(tuple(_code(text) for text in frame[name].to_list()) for name in names)
    rows = _Rows(frame, path, 1 if header is not None else 2)
    rows.check_given(options.value)
    grown = tuple(
        tree(tuple(dict.fromkeys(listed))) if callable(tree) else tree
        for tree, listed in zip(layout.trees, codes, strict=True)
    )
    columns = CellColumns(
        tuple(names), codes, grown, tuple(layout.totals), rows.numbers(options.value),
        None if options.count is None else _whole(rows.numbers(options.count), options.count, path),
        np.column_stack([rows.numbers(name) for name in options.top]) if options.top else None,
        layout.response, tuple(layout.missing), None if shadow is None else (shadow, rows.numbers(shadow)),
        tuple((name, rows.numbers(name)) for name in layout.others), rows.marks(options),
    )  # fmt: skip
    entries = tuple(_entries(rows, codes, options))
    return FinishedFile(columns, entries, tuple(notes))


def _code(text: str | None) -> str:
    return "" if text is None else text.strip()


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of the file as text, and where the first of them stands."""

    frame: pl.DataFrame
    path: Path
    first_line: int

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as numbers; a point or a comma before the decimals, absent ones are 0."""
        text = self.frame[name].cast(pl.String).fill_null("").str.strip_chars().str.replace(",", ".", literal=True)
        values = text.cast(pl.Float64, strict=False)
        bad = values.is_null() & ~text.is_in(list(ABSENT))
        self._refuse(bad, name, "entries that are not numbers; this is the first.")
        endless = (values.is_infinite() | values.is_nan()).fill_null(False)
        self._refuse(endless, name, "numbers that are not finite, this is the first; write finite numbers.")
        return np.array(values.fill_null(0.0).to_numpy(), dtype=np.float64)

    def marks(self, options: FinishedOptions) -> Marks:
        """The separator of the file, and the decimal mark of its values."""
        commas = self.frame[options.value].cast(pl.String).str.contains(",", literal=True).any()
        return Marks(options.separator or separator_of(self.path), "," if commas else None)

    def _refuse(self, wrong: pl.Series, name: str, what: str) -> None:
        """Name the first line that is wrong, and how many are."""
        if bool(wrong.any()):
            first = int(wrong.arg_max() or 0) + self.first_line
            raise DataError(
                f"{self.path.name}, line {first}: column {name!r} has {int(wrong.sum())} {what}", variables=(name,)
            )

    def check_given(self, name: str) -> None:
        """Refuse rows without a value: a blank that is read as 0 would be protected, and published, as an empty cell."""
        blank = (self.frame[name].cast(pl.String).fill_null("").str.strip_chars() == "").to_numpy()
        if bool(blank.any()):
            first = int(blank.argmax()) + self.first_line
            raise DataError(
                f"{self.path.name}, line {first}: column {name!r} has {int(blank.sum())} blank entries; this is the first: "
                "write the true value (of hidden cells too), or 0 or - for a cell without anybody in it.",
                variables=(name,),
            )


def _whole(values: NDArray[np.float64], name: str, path: Path) -> NDArray[np.int64]:
    if bool(((values < 0) | (values != np.rint(values))).any()):
        raise DataError(f"{path.name}: column {name!r} must hold whole numbers of respondents.", variables=(name,))
    return values.astype(np.int64)


def _entries(rows: _Rows, codes: tuple[tuple[str, ...], ...], options: FinishedOptions) -> list[Entry]:
    frame, path, first_line = rows.frame, rows.path, rows.first_line
    cells = list(zip(*codes))
    entries: list[Entry] = []

    def add(row: int, action: str, *numbers: float) -> None:
        entries.append(Entry(cells[row], action, numbers, f"{path.name}, line {row + first_line}"))

    if options.status is not None:
        actions = {options.unsafe: "U", options.hidden: "M", options.frozen: "P"}
        known = {letter.lower(): action for letter, action in actions.items()}
        quiet = (options.safe.lower(), "", "v")
        for row, letter in enumerate(frame[options.status].to_list()):
            word = _code(letter).lower()
            if word in known:
                add(row, known[word])
            elif word not in quiet:
                raise DataError(
                    f"{path.name}, line {row + first_line}: unknown status {word!r}; it must be {options.safe}, "
                    f"{options.unsafe}, {options.hidden} or {options.frozen}."
                )
    if options.lower_protection is not None or options.upper_protection is not None:
        zeros = np.zeros(frame.height)
        low = zeros if options.lower_protection is None else rows.numbers(options.lower_protection)
        high = zeros if options.upper_protection is None else rows.numbers(options.upper_protection)
        for row in range(frame.height):
            add(row, "PL", float(low[row]), float(high[row]))
    if options.cost is not None:
        for row, cost in enumerate(rows.numbers(options.cost).tolist()):
            add(row, "C", cost)
    return entries
