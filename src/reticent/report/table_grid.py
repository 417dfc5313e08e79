# SPDX-License-Identifier: Apache-2.0
"""A table as a grid of its first two dimensions; above a thousand cells it folds by the tree of its rows and columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.words import amount, number
from reticent.data.cells import CellStatus
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.data.table import Dimension, Table
from reticent.report.page import Block, Fold, Grid, Picture, Text
from reticent.report.table_plots import heat_plot
from reticent.tables.result import ProtectedTable

WHOLE = 1_000
"""Grids up to this many cells are shown whole."""
MOST_CELLS = 20_000
"""This many cells a page lists; the file has all."""
FLAT = 50
"""Rows in one fold where a dimension has no tree."""
MAX_ROWS, MAX_COLUMNS = 80, 30
LEGEND = (
    ("safe", "published"), ("primary", "unsafe (primary)"), ("secondary", "hidden to protect others (secondary)"),
    ("exposed", "exposed: the attacker comes too close"), ("frozen", "never hidden"), ("empty", "empty"),
)  # fmt: skip
PUBLIC_LEGEND = ((PUBLISHED, PUBLISHED), (HIDDEN, HIDDEN), (EMPTY, EMPTY))
NAMES = {status.value: status.name.lower() for status in CellStatus}
Cell = tuple[str, str, str]


@dataclass(frozen=True)
class Axis:
    """The codes along one side of a grid: what they are called and how deep they stand below the total."""

    labels: tuple[str, ...]
    depths: tuple[int, ...]

    def heads(self, places: Sequence[int]) -> tuple[str, ...]:
        """Names of some codes, indented by their depth."""
        return tuple("\u2003" * self.depths[at] + self.labels[at] for at in places)

    def top(self) -> list[int]:
        """The codes of the first two levels; of a long flat axis only the total."""
        upper = [at for at, depth in enumerate(self.depths) if depth <= 1]
        return upper if len(upper) <= FLAT else [at for at, depth in enumerate(self.depths) if depth == 0][:1]

    def groups(self) -> list[tuple[str, list[int]]]:
        """Each code of the first level with all below it; without a tree this many codes at a time."""
        starts = [at for at, depth in enumerate(self.depths) if depth <= 1]
        if max(self.depths, default=0) <= 1:
            parts = [list(range(at, min(at + FLAT, len(self.depths)))) for at in range(0, len(self.depths), FLAT)]
            return [(f"{self.labels[part[0]]} to {self.labels[part[-1]]}", part) for part in parts]
        ends = [*starts[1:], len(self.depths)]
        return [
            (self.labels[start], list(range(start, end)))
            for start, end in zip(starts, ends, strict=True)
            if end - start > 1 or len(starts) > FLAT
        ]


def folded(
    rows: Axis, columns: Axis, cell: Callable[[int, int], Cell], legend: tuple[tuple[str, str], ...]
) -> list[Block]:
    """The whole grid, or its upper levels with a fold for each code of the first level."""

    def grid(down: Sequence[int], across: Sequence[int], caption: str = "") -> Grid:
        body = tuple(tuple(cell(row, column) for column in across) for row in down)
        heads = tuple(columns.labels[at] for at in across)
        return Grid(heads, rows.heads(down), body, caption, legend)

    every, across = range(len(rows.labels)), range(len(columns.labels))
    if len(every) * len(across) <= WHOLE:
        return [grid(every, across)]
    wide = list(across) if len(across) <= MAX_COLUMNS else columns.top()
    blocks: list[Block] = [grid(rows.top(), wide, "The upper levels; below, one part for each code.")]
    sides = [("", list(across))] if len(across) <= MAX_COLUMNS else columns.groups()
    shown = 0
    for name, down in rows.groups():
        if shown >= MOST_CELLS:
            blocks.append(Text(f"The first {number(shown)} cells are listed; the file has all of them."))
            break
        inner = tuple(grid(down, part, side) for side, part in sides)
        shown += len(down) * sum(len(part) for _, part in sides)
        blocks.append(Fold(f"{name} ({number(len(down))} rows)", inner))
    return blocks


def confidential_grid(result: ProtectedTable, part: int) -> tuple[Block, ...]:
    """True values with their status; further dimensions stand at their total."""
    table, members = result.system.parts[part], result.system.members[part]
    marks = np.where(
        np.isin(members, result.exposed), "exposed", np.array([NAMES[int(s)] for s in result.status[members]])
    )
    places = {tuple(codes): at for at, codes in enumerate(table.codes.tolist()) if not any(codes[2:])}
    rows = _axis(table.dimensions[0])
    columns = _axis(table.dimensions[1]) if len(table.dimensions) > 1 else Axis(("value",), (0,))

    def cell(row: int, column: int) -> Cell:
        at = places.get(_key(table, row, column))
        if at is None or marks[at] == "empty":
            return ("", "empty", "empty")
        hover = f"{marks[at]}; {table.respondents.counts[at]} respondents"
        if result.outcome.values is not None:
            hover += f"; published {amount(float(result.outcome.values[members[at]]), table.decimals)}"
        return (amount(float(table.values[at]), table.decimals), str(marks[at]), hover)

    blocks = folded(rows, columns, cell, LEGEND)
    if len(table.dimensions) > 2:
        blocks.insert(0, Text("The first two dimensions; the others are at their total."))
    return tuple(blocks) if len(table.dimensions) == 1 else (*blocks, _heat(table, marks, rows, columns))


def _heat(table: Table, marks: np.ndarray[tuple[int, ...], np.dtype[np.str_]], rows: Axis, columns: Axis) -> Picture:
    """The upper left of the table as colours."""
    down, across = min(len(rows.labels), MAX_ROWS), min(len(columns.labels), MAX_COLUMNS)
    heat, where = np.full((down, across), np.nan), [[""] * across for _ in range(down)]
    for at, codes in enumerate(table.codes.tolist()):
        if not any(codes[2:]) and codes[0] < down and codes[1] < across and marks[at] != "empty":
            heat[codes[0], codes[1]], where[codes[0]][codes[1]] = table.values[at], str(marks[at])
    flat = [mark for line in where for mark in line]
    counts = "; ".join(f"{name} {flat.count(name)}" for name in ("primary", "secondary", "exposed", "frozen"))
    cut = (down, across) != (len(rows.labels), len(columns.labels))
    caption = (
        "Dark cells carry most of the value; marks show which are unsafe, hidden beside these, exposed or frozen."
        + (f" The first {down} rows and {across} columns." if cut else "")
    )
    uri = heat_plot(heat, where, rows.heads(range(down)), columns.labels[:across])
    return Picture(uri, caption, f"Heat map of {down} rows by {across} columns. Marked cells: {counts}.")


def _key(table: Table, row: int, column: int) -> tuple[int, ...]:
    n = len(table.dimensions)
    return (row,) if n == 1 else (row, column, *(0,) * (n - 2))


def _axis(dimension: Dimension) -> Axis:
    n = len(dimension)
    return Axis(tuple(dimension.label(at) for at in range(n)), tuple(int(level) for level in dimension.levels))


def public_grid(table: PublishedTable) -> tuple[Block, ...]:
    """What is published, in the same form; built from the published table only."""
    place = {codes: row for row, codes in enumerate(table.codes)}
    down = list(dict.fromkeys(codes[0] for codes in table.codes))
    across = list(dict.fromkeys(codes[1] for codes in table.codes)) if len(table.dimensions) > 1 else [""]
    rest = tuple(table.codes[0][2:]) if table.codes else ()

    def cell(row: int, column: int) -> Cell:
        key = (down[row],) if len(table.dimensions) == 1 else (down[row], across[column], *rest)
        at = place.get(key)
        if at is None or table.status[at] == EMPTY:
            return ("", "empty", EMPTY)
        shown = table.status[at] == PUBLISHED
        return (amount(float(table.values[at]), table.decimals) if shown else "", table.status[at], table.status[at])

    columns = _public_axis(table, 1, across) if len(table.dimensions) > 1 else Axis(("value",), (0,))
    blocks = folded(_public_axis(table, 0, down), columns, cell, PUBLIC_LEGEND)
    if len(table.dimensions) > 2:
        blocks.insert(0, Text("The first two dimensions; the others are at their total."))
    return tuple(blocks)


def _public_axis(table: PublishedTable, at: int, codes: Sequence[str]) -> Axis:
    name = table.dimensions[at]
    labels, depths = table.labels.get(name, {}), table.depths.get(name, {})
    return Axis(tuple(labels.get(code, code) for code in codes), tuple(depths.get(code, 0) for code in codes))
