# SPDX-License-Identifier: Apache-2.0
"""Tables in the output formats of tau-ARGUS: CSV, pivot, code-value, SBS, intermediate.

With added status (AS+) tau-ARGUS writes the true values of hidden cells beside their status; so does this, and such a
file is confidential. Without it hidden cells are `x` and empty ones `-`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.data.published_table import plain
from reticent.data.table import Dimension

EMPTY_STATUS = 14
FREQUENCY = "Freq"
COUNT = "Count"
"""The column of an intermediate file with the values of a frequency table; with weights they are not the respondents."""


@dataclass(frozen=True, eq=False)
class ArgusCells:
    """The cells of a table with tau-ARGUS's status numbers, in reading order, empty ones included."""

    dimensions: tuple[Dimension, ...]
    codes: NDArray[np.int32]
    values: NDArray[np.float64]
    status: NDArray[np.int64]
    decimals: int
    response: str
    counts: NDArray[np.int64] | None = None
    top: NDArray[np.float64] | None = None
    lower: NDArray[np.float64] | None = None
    upper: NDArray[np.float64] | None = None
    original: NDArray[np.float64] | None = None
    shares: NDArray[np.float64] | None = None
    suffix: str = ""
    holdings: NDArray[np.int64] | None = None
    holding_top: NDArray[np.float64] | None = None
    attack_low: NDArray[np.float64] | None = None
    attack_high: NDArray[np.float64] | None = None
    listed: tuple[NDArray[np.bool_], ...] = ()
    shadow: str | None = None
    further: tuple[tuple[str, NDArray[np.float64], int], ...] = ()
    """Other numbers of the cells (the shadow variable, a cost) with their decimals."""

    def nodes(self, at: int) -> list[int]:
        """The nodes of a dimension that are listed (all, unless said otherwise)."""
        return np.flatnonzero(self.listed[at]).tolist() if self.listed else list(range(len(self.dimensions[at])))

    @cached_property
    def rows(self) -> list[int]:
        """The cells that are listed."""
        shown = np.ones(len(self.values), dtype=bool)
        for at, nodes in enumerate(self.listed):
            shown &= nodes[self.codes[:, at]]
        return [int(cell) for cell in np.flatnonzero(shown)]

    @property
    def hidden(self) -> NDArray[np.bool_]:
        """Cells that are not published."""
        return np.asarray((self.status >= 3) & (self.status != 10) & (self.status < 13)) & (self.original is None)

    def code(self, cell: int, at: int) -> str:
        """The code of a cell in one dimension."""
        return self.dimensions[at].codes[int(self.codes[cell, at])]

    def number(self, value: float) -> str:
        """A value as it is written."""
        return plain(value, self.decimals)

    def text(self, cell: int, *, show: bool) -> str:
        """What stands for a cell: its value, x (hidden) or - (empty)."""
        if self.status[cell] >= 13:
            return "-"
        return "x" if self.hidden[cell] and not show else self.number(float(self.values[cell]))


def cell_lines(
    cells: ArgusCells, *, status: bool, skip_empty: bool, names: bool, quotes: bool
) -> list[str]:  # fmt: skip
    """Code-value and pivot format: one line per cell, its codes, its value, perhaps its status."""
    mark = '"' if quotes else ""
    lines = []
    if names:
        head = [f"{mark}{d.name}{mark}" for d in cells.dimensions]
        head.append(f"{mark}{cells.response}{cells.suffix}{mark}")
        if status:
            head.append(f"{mark}{cells.response}_Orig{mark}" if cells.original is not None else f"{mark}Status{mark}")
        lines.append(",".join(head))
    for cell in cells.rows:
        if skip_empty and cells.status[cell] >= 13:
            continue
        row = [f"{mark}{cells.code(cell, at)}{mark}" for at in range(len(cells.dimensions))]
        row.append(cells.text(cell, show=status))
        if status:
            original = cells.original
            row.append(str(int(cells.status[cell])) if original is None else cells.number(float(original[cell])))
        lines.append(",".join(row))
    return lines


def csv_lines(cells: ArgusCells, *, quotes: bool) -> list[str]:
    """CSV: a block of rows by columns for each combination of the further dimensions."""
    mark = '"' if quotes else ""
    place = {tuple(row): number for number, row in enumerate(cells.codes.tolist())}
    rows, columns = cells.dimensions[0], cells.dimensions[1] if len(cells.dimensions) > 1 else None
    layers = _layers([cells.nodes(at) for at in range(2, len(cells.dimensions))])
    across = cells.nodes(1) if columns is not None else [0]
    lines = []
    for layer in layers:
        if layer:
            lines.append(
                ",".join(f"{mark}{d.codes[n]}{mark}" for d, n in zip(cells.dimensions[2:], layer, strict=True))
            )
        lines.append(",".join(["", *(f"{mark}{columns.codes[c]}{mark}" for c in across)]) if columns else "")
        for row in cells.nodes(0):
            line = [f"{mark}{rows.codes[row]}{mark}"]
            for column in across:
                cell = place.get((row, column, *layer) if columns is not None else (row,))
                line.append("-" if cell is None else cells.text(cell, show=False))
            lines.append(",".join(line))
    return lines


def _layers(dimensions: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    layers: list[tuple[int, ...]] = [()]
    for nodes in dimensions:
        layers = [(*layer, node) for layer in layers for node in nodes]
    return layers


def sbs_lines(cells: ArgusCells, *, levels: bool) -> list[str]:
    """SBS: codes, perhaps levels, value, respondents, letter (A few, B or C dominance, D secondary, V safe), share."""
    lines = []
    for cell in cells.rows:
        if cells.status[cell] >= 13:
            continue
        row = []
        for at, dimension in enumerate(cells.dimensions):
            row.append(f'"{cells.code(cell, at)}"')
            if levels:
                row.append(str(int(dimension.levels[cells.codes[cell, at]])))
        row.append(cells.number(float(cells.values[cell])))
        row.append("" if cells.counts is None else str(int(cells.counts[cell])))
        row.append(_letter(cells, cell))
        row.append("" if cells.shares is None else f"{cells.shares[cell]:.1f}")
        lines.append(",".join(row))
    return lines


def _letter(cells: ArgusCells, cell: int) -> str:
    status = int(cells.status[cell])
    if status in (5, 4, 6):
        return "A"
    if status in (3, 9):
        one = cells.counts is not None and cells.counts[cell] == 1
        return "B" if one or cells.shares is None or cells.shares[cell] > 50 else "C"
    return "D" if status in (11, 12) else "V"


def intermediate_lines(cells: ArgusCells, *, skip_empty: bool, status_only: bool, quotes: bool) -> list[str]:
    """Intermediate: all that is needed to read the table back: value, other numbers, count, top, status, levels.

    Where they are given, holdings and what the attacker concludes follow; an open end of an interval is left blank.
    """
    mark = '"' if quotes else ""
    lines = []
    for cell in range(len(cells.values)):
        empty = cells.status[cell] >= 13
        if skip_empty and empty:
            continue
        row = [f"{mark}{cells.code(cell, at)}{mark}" for at in range(len(cells.dimensions))]
        row.append(cells.number(0.0 if empty else float(cells.values[cell])))
        if not status_only:
            row += [plain(float(numbers[cell]), decimals) for _, numbers, decimals in cells.further]
            row += _contributions(cells, cell)
        status = int(cells.status[cell])
        row.append("P" if status == 10 else "M" if status in (11, 12) else "U" if 3 <= status < 10 else "S")
        if not status_only and cells.lower is not None and cells.upper is not None:
            row += [f"{float(level[cell]):.{cells.decimals + 2}f}" for level in (cells.lower, cells.upper)]
        for ends in (cells.attack_low, cells.attack_high):
            if not status_only and ends is not None:
                row.append(cells.number(float(ends[cell])) if np.isfinite(ends[cell]) else "")
        lines.append(";".join(row))
    return lines


def _contributions(cells: ArgusCells, cell: int) -> list[str]:
    row = []
    for counts, top in ((cells.counts, cells.top), (cells.holdings, cells.holding_top)):
        if counts is not None:
            row.append(str(int(counts[cell])))
        if top is not None:
            row += [cells.number(float(x)) for x in top[cell]]
    return row


def intermediate_rda(cells: ArgusCells, trees: Sequence[str | None], *, status_only: bool) -> list[str]:
    """The metadata of an intermediate file; `trees` are the names of its hierarchy files."""
    lines = ['<SEPARATOR> ";"', '<SAFE> "S"', '<UNSAFE> "U"', '<PROTECT> "P"']
    for dimension, tree in zip(cells.dimensions, trees, strict=True):
        absent = f' "{dimension.codes[dimension.missing]}"' if dimension.missing >= 0 else ""
        lines += [f"{dimension.name}{absent}", "  <RECODEABLE>", f'  <TOTCODE> "{dimension.codes[0]}"']
        if tree is not None:
            lines += ["  <HIERARCHICAL>", f'  <HIERCODELIST> "{tree}"', '  <HIERLEADSTRING> "@"']
    # a frequency table has its respondents in a column of that name, too
    if cells.response == FREQUENCY and (status_only or cells.counts is None):
        lines += [FREQUENCY, "  <NUMERIC> <FREQUENCY>"]
    else:
        value = COUNT if cells.response == FREQUENCY else cells.response
        lines += [value, "  <NUMERIC>", f"  <DECIMALS> {cells.decimals}"]
    if not status_only:
        for name, _, decimals in cells.further:
            lines += [name, f"  <NUMERIC>{' <SHADOW>' if name == cells.shadow else ''}", f"  <DECIMALS> {decimals}"]
        if cells.counts is not None:
            lines += [FREQUENCY, "  <NUMERIC> <FREQUENCY>"]
        for place in range(0 if cells.top is None else cells.top.shape[1]):
            lines += [f"Top{place + 1}", "  <NUMERIC> <MAXSCORE>"]
        if cells.holdings is not None:
            lines += ["HoldFreq", "  <NUMERIC> <HOLDING>"]
        for place in range(0 if cells.holding_top is None else cells.holding_top.shape[1]):
            lines += [f"HoldTop{place + 1}", "  <NUMERIC> <HOLDING>"]
    lines += ["Status", "  <STATUS>"]
    if not status_only and cells.lower is not None:
        lines += ["LowerPL", "  <NUMERIC> <LOWERPL>", "UpperPL", "  <NUMERIC> <UPPERPL>"]
    if not status_only and cells.attack_low is not None:
        lines += ["AttackLow", "  <NUMERIC>", "AttackHigh", "  <NUMERIC>"]
    return lines
