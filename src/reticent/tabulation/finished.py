# SPDX-License-Identifier: Apache-2.0
"""Tables that somebody else made: cells with their totals, checked that they add up."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.errors import AdditivityError, DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.relations import Relations
from reticent.data.table import Dimension, Measure, Respondents, Table
from reticent.frames.marks import NO_MARKS, Marks
from reticent.kernels.grouping import group_columns
from reticent.tabulation.cells import Cells, Lists, roll_up
from reticent.tabulation.dimensions import dimension_of_trees
from reticent.tabulation.equations import relations_of
from reticent.tabulation.tabulate import decimals_of

LISTED = 3
"""This many totals are in the message of an error; the error itself carries all of them."""


@dataclass(frozen=True, eq=False)
class CellColumns:
    """The columns of a finished table: codes per dimension, values, and what else is known of each cell.

    With a `shadow` (and its name) the rules look at it, and `top` are the largest contributions to it. `others` are
    further numbers of each cell, as costs; `marks` those of the file.
    """

    names: tuple[str, ...]
    codes: tuple[Sequence[str], ...]
    trees: tuple[tuple[Hierarchy, ...], ...]
    totals: tuple[str, ...]
    values: Floats
    counts: NDArray[np.int64] | None = None
    top: Floats | None = None
    response: str | None = None
    missing: tuple[str | None, ...] = ()
    shadow: tuple[str, Floats] | None = None
    others: tuple[tuple[str, Floats], ...] = ()
    marks: Marks = NO_MARKS


def finished_table(columns: CellColumns, *, tolerance: float | None = None, complete: bool = False) -> Table:
    """A table from its cells. Every total must be the sum of its parts within the tolerance; violations are listed.

    Without a tolerance half a unit of the last digit is allowed for each term, as rounding gives. `complete`: only the
    inner cells count, and totals are added up from them.
    """
    dimensions = tuple(_dimension(columns, at) for at in range(len(columns.names)))
    codes = np.column_stack(
        [
            np.array([dimension.position(code) for code in listed], dtype=np.int32)
            for dimension, listed in zip(dimensions, columns.codes, strict=True)
        ]
    )
    twice = _first_twice(codes)
    if twice is not None:
        words = " × ".join(listed[twice] for listed in columns.codes)
        raise DataError(f"table: the cell {words} occurs twice; each cell may occur once.")
    table = _table(columns, dimensions, codes)
    if complete:
        table = _completed(table)
    table = table.take(np.lexsort(table.codes.T[::-1]))
    return check_additive(table, tolerance=tolerance)


def _dimension(columns: CellColumns, at: int) -> Dimension:
    name, total = columns.names[at], columns.totals[at]
    missing = columns.missing[at] if columns.missing else None
    trees = columns.trees[at]
    if not trees:
        known = [code for code in dict.fromkeys(columns.codes[at]) if code not in (total, "", missing)]
        trees = (Hierarchy.flat(known, total=total),)
    unknown = [code for code in dict.fromkeys(columns.codes[at]) if code not in ("", missing)]
    unknown = [code for code in unknown if all(code not in tree.index for tree in trees)]
    if unknown:
        raise DataError(
            f"Dimension {name!r}: the table has {len(unknown)} codes that its hierarchy does not have, "
            f"the first is {unknown[0]!r}; add them to the hierarchy.",
            variables=(name,),
        )
    return dimension_of_trees(name, trees, missing=missing)


def _first_twice(codes: NDArray[np.int32]) -> int | None:
    _, first, counts = np.unique(codes, axis=0, return_index=True, return_counts=True)
    return int(first[counts > 1][0]) if (counts > 1).any() else None


def _table(columns: CellColumns, dimensions: tuple[Dimension, ...], codes: NDArray[np.int32]) -> Table:
    n = len(columns.values)
    values = np.asarray(columns.values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise DataError(f"table: {int((~np.isfinite(values)).sum())} cells have no value; each cell needs one.")
    none = np.zeros((n, 0))
    top = none if columns.top is None else columns.top
    name = columns.response or "value"
    named = {name: (values, top)}
    if columns.shadow is not None and columns.shadow[0] != name:
        named = {name: (values, none), columns.shadow[0]: (columns.shadow[1], top)}
    named |= {other: (numbers, none) for other, numbers in columns.others if other not in named}
    measures = {each: _measure(each, numbers, largest) for each, (numbers, largest) in named.items()}
    counts = columns.counts if columns.counts is not None else np.where(values != 0, 1, 0)
    view = Respondents(counts, counts.astype(np.float64), measures, counts, measures)
    return Table(
        dimensions, codes, values, view, columns.response, None if columns.shadow is None else columns.shadow[0],
        decimals=measures[name].decimals, counted=columns.counts is not None, marks=columns.marks,
    )  # fmt: skip


def _measure(name: str, values: Floats, top: Floats) -> Measure:
    """A measure of numbers that nobody saw the records of; each of the largest contributions is somebody else."""
    n, k = top.shape
    units = np.where(top > 0, np.arange(n)[:, None] * max(k, 1) + np.arange(k), -1)
    decimals = decimals_of(values)
    return Measure(
        name, values, np.abs(values), np.minimum(values, 0.0), np.maximum(values, 0.0), top, units.astype(np.int64),
        None, 6 if decimals is None else decimals,
    )  # fmt: skip


def _completed(table: Table) -> Table:
    """All totals added up from the inner cells."""
    inner = table.take(np.flatnonzero(table.is_inner))
    if inner.n_cells == 0:
        raise DataError("table: there is no inner cell from which totals could be added up.")
    counts = np.column_stack((inner.respondents.counts, inner.respondents.counts)).astype(np.float64)
    cells = roll_up(
        Cells(
            tuple(np.ascontiguousarray(inner.codes[:, at]) for at in range(inner.codes.shape[1])),
            counts,
            {name: _lists(measure) for name, measure in inner.respondents.measures.items()},
        ),
        inner.dimensions,
    )
    measures = {}
    for name, measure in inner.respondents.measures.items():
        rolled = cells.lists[name].measure(name, scale=1.0, weight_scale=1.0, decimals=measure.decimals)
        k = measure.top.shape[1]
        measures[name] = replace(rolled, top=rolled.top[:, :k], top_units=rolled.top_units[:, :k])
    total = cells.counts[:, 0].astype(np.int64)
    view = Respondents(total, cells.counts[:, 1], measures, total, measures)
    values = measures[table.response or "value"].totals
    rounded = np.round(values, table.decimals) if table.decimals < 6 else values
    return replace(
        inner, codes=np.column_stack(cells.columns).astype(np.int32), values=rounded, respondents=view
    )  # fmt: skip


def _lists(measure: Measure) -> Lists:
    """A measure as lists to be added up; lists need at least one place, which is cut off again."""
    n, k = measure.top.shape
    sums = np.column_stack((measure.totals, measure.magnitudes, measure.minimum, measure.maximum))
    top = measure.top if k else np.zeros((n, 1))
    units = measure.top_units if k else np.full((n, 1), -1, dtype=np.int64)
    return Lists(sums, top, units, np.zeros((0, top.shape[1])))


def check_additive(table: Table, *, tolerance: float | None = None) -> Table:
    """The table, with a note on what rounding explains; an error that carries every total that is further off.

    A total that is not there although it has parts is wrong as well: what it would tell is known to everybody.
    """
    absent = missing_totals(table)
    if absent and tolerance != np.inf:
        raise _incomplete(absent)
    if absent:
        words = f"{len(absent)} totals are not in the table; relations that need them are not attacked."
        table = replace(table, notes=(*table.notes, words))
    relations = relations_of(table)
    off = np.abs(relations.residuals(table.values))
    terms = np.diff(relations.indptr)
    noise = 1e-9 * max(1.0, float(np.abs(table.values).max(initial=0.0)))
    allowed = terms * 0.5 * 10.0**-table.decimals if tolerance is None else np.full(len(terms), tolerance)
    wrong = np.flatnonzero(off > allowed + noise)
    if len(wrong):
        raise _not_additive(table, relations, wrong, tolerance)
    inexact = np.flatnonzero(off > noise)
    if len(inexact) == 0:
        return table
    note = (
        f"{len(inexact)} totals differ from the sum of their parts by up to {off[inexact].max():.{table.decimals}f}; "
        "this was accepted as rounding."
    )
    return replace(table, notes=(*table.notes, note))


def missing_totals(table: Table) -> tuple[str, ...]:
    """Totals that the table does not have although they have parts that are not 0, one line each."""
    lines: dict[str, None] = {}
    filled = table.values != 0
    sizes = [len(d) for d in table.dimensions]
    for position, dimension in enumerate(table.dimensions):
        for tree in dimension.trees:
            child = np.flatnonzero((tree[table.codes[:, position]] >= 0) & filled)
            above = table.codes[child].copy()
            above[:, position] = tree[above[:, position]]
            both = np.concatenate((table.codes, above))
            # groups are numbered by first appearance, so larger numbers than the table has are cells it lacks
            group = group_columns([np.ascontiguousarray(column) for column in both.T], sizes)[0][table.n_cells :]
            lacking = np.flatnonzero(group >= table.n_cells)
            _, first, sizes_of = np.unique(group[lacking], return_index=True, return_counts=True)
            for row, size in zip(lacking[first].tolist(), sizes_of.tolist(), strict=True):
                codes = zip(table.dimensions, above[row].tolist(), strict=True)
                name = " × ".join(d.codes[node] for d, node in codes)
                lines[f"{name}: the total of its {size} parts along {dimension.name} is missing"] = None
    return tuple(lines)


def _incomplete(lines: tuple[str, ...]) -> AdditivityError:
    named = ", ".join(line.split(": the total of")[0] for line in lines[:LISTED])
    more = f" and {len(lines) - LISTED} more" if len(lines) > LISTED else ""
    return AdditivityError(
        f"table: {len(lines)} totals are not there although they have parts: {named}{more}. List them, or let them be "
        "added up (complete = true, <READTABLE> 1).",
        violations=lines,
    )


def _not_additive(
    table: Table, relations: Relations, wrong: NDArray[np.int64], tolerance: float | None
) -> AdditivityError:  # fmt: skip
    """The error for totals that are not the sums of their parts: all of them, the first in words."""
    off = relations.residuals(table.values)
    named, lines = [], []
    for row in wrong.tolist():
        cells, coefs = relations.row(row)
        parent = int(cells[coefs < 0][0])
        parts = table.codes[cells[coefs > 0]]
        along = [d.name for at, d in enumerate(table.dimensions) if (parts[:, at] != table.codes[parent, at]).any()]
        named.append(f"{table.name_of(parent)} (off by {abs(off[row]):.{table.decimals}f})")
        lines.append(
            f"{table.name_of(parent)}: the sum of its {len(parts)} parts along {' and '.join(along)} is "
            f"{'larger' if off[row] > 0 else 'smaller'} by {abs(off[row]):.{table.decimals}f}"
        )
    more = f" and {len(wrong) - LISTED} more" if len(wrong) > LISTED else ""
    limit = "what rounding explains" if tolerance is None else f"the tolerance {tolerance:g}"
    return AdditivityError(
        f"table: {len(wrong)} totals differ from the sum of their parts by more than {limit}: "
        f"{', '.join(named[:LISTED])}{more}. Correct them or raise the tolerance.",
        violations=tuple(lines),
    )
