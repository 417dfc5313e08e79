# SPDX-License-Identifier: Apache-2.0
"""Linked tables as one system: cells of the same records are one cell, and all relations hold together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.base.errors import DataError
from reticent.data.relations import Relations
from reticent.data.table import OUTSIDE, Dimension, Nodes, Table
from reticent.kernels.grouping import group_columns
from reticent.tabulation.equations import relations_of
from reticent.tabulation.stack import stack_respondents


@dataclass(frozen=True, eq=False)
class System:
    """All cells of one or more tables. `members[t]` is the number in `table` of each cell of the t-th table."""

    table: Table
    relations: Relations
    parts: tuple[Table, ...]
    members: tuple[Ints, ...]


def link(tables: Sequence[Table]) -> System:
    """One system of linked tables; they must add up the same variable in the same way."""
    first = tables[0]
    if len(tables) == 1:
        return System(first, relations_of(first), (first,), (np.arange(first.n_cells),))
    for table in tables[1:]:
        if (table.response, table.weighted) != (first.response, first.weighted):
            raise DataError("linked tables: all tables must have the same response and weighting.")
        if (table.records is None) != (first.records is None):
            raise DataError("linked tables: all tables must be judged by the same kind of respondent.")
    names = tuple(dict.fromkeys(name for table in tables for name in table.names))
    dimensions = tuple(
        common_dimension(name, [d for t in tables for d in t.dimensions if d.name == name]) for name in names
    )
    columns = [np.concatenate([column_in(dimension, table) for table in tables]) for dimension in dimensions]
    number, n_cells = group_columns(columns, [len(d) for d in dimensions])
    starts = np.concatenate(([0], np.cumsum([t.n_cells for t in tables])))
    members = tuple(number[starts[t] : starts[t + 1]] for t in range(len(tables)))
    joint = _joint(tables, members, n_cells, dimensions, columns, number)
    _check_same_values(tables, members, joint)
    return System(joint, _relations(tables, members, n_cells), tuple(tables), members)


def common_dimension(name: str, dimensions: Sequence[Dimension]) -> Dimension:
    """One dimension that has the nodes of all; a code stands for the same records wherever it occurs."""
    if len(dimensions) == 1:
        return dimensions[0]
    codes = tuple(dict.fromkeys(code for dimension in dimensions for code in dimension.codes))
    totals = {dimension.codes[0] for dimension in dimensions}
    if len(totals) > 1:
        raise DataError(
            f"linked tables: dimension {name!r} has several totals; use one code for it.", variables=(name,)
        )
    place = {code: position for position, code in enumerate(codes)}
    trees: list[Nodes] = []
    for dimension in dimensions:
        for tree in dimension.trees:
            wide = np.full(len(codes), OUTSIDE, dtype=np.int32)
            for node, parent in enumerate(tree.tolist()):
                if parent >= -1:
                    wide[place[dimension.codes[node]]] = -1 if parent < 0 else place[dimension.codes[parent]]
            if not any(np.array_equal(wide, known) for known in trees):
                trees.append(wide)
    missing = max((d.missing for d in dimensions), key=lambda node: node >= 0)
    source = next(d for d in dimensions if d.missing == missing)
    declared = {code for d in dimensions for code in d.codes if code not in d.from_records}
    found = place[source.codes[missing]] if missing >= 0 else -1
    return Dimension(name, codes, tuple(trees), (), found, frozenset(codes) - declared)


def column_in(dimension: Dimension, table: Table) -> NDArray[np.int32]:
    """The node of each cell of a table in the common dimension; the total where the table does not have it."""
    if dimension.name not in table.names:
        return np.zeros(table.n_cells, dtype=np.int32)
    at = table.names.index(dimension.name)
    image = np.array([dimension.index[code] for code in table.dimensions[at].codes], dtype=np.int32)
    return image[table.codes[:, at]]


def _joint(
    tables: Sequence[Table],
    members: Sequence[Ints],
    n_cells: int,
    dimensions: tuple[Dimension, ...],
    columns: Sequence[NDArray[np.int32]],
    number: Ints,
) -> Table:
    """The cells of all tables, numbered by first appearance: later tables only add what is new."""
    first = np.empty(n_cells, dtype=np.int64)
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1)
    codes = np.column_stack([column[first] for column in columns]).astype(np.int32)
    joint = tables[0]
    seen = joint.n_cells
    for table, mine in zip(tables[1:], members[1:], strict=True):
        new = np.flatnonzero(mine >= seen)
        new = new[np.argsort(mine[new])]
        joint = _appended(joint, table.take(new))
        seen += len(new)
    return replace(joint, dimensions=dimensions, codes=codes)


def _appended(one: Table, other: Table) -> Table:
    """The cells of two tables, one behind the other (their codes are set by the caller)."""
    width = one.codes.shape[1]
    return replace(
        one,
        codes=np.zeros((one.n_cells + other.n_cells, width), dtype=np.int32),
        values=np.concatenate((one.values, other.values)),
        respondents=stack_respondents(one.respondents, other.respondents),
        records=None if one.records is None or other.records is None else stack_respondents(one.records, other.records),
        notes=tuple(dict.fromkeys(one.notes + other.notes)),
        cell_keys=_both(one.cell_keys, other.cell_keys),
    )


def _both(one: NDArray[np.float64] | None, other: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    return None if one is None or other is None else np.concatenate((one, other))


def _check_same_values(tables: Sequence[Table], members: Sequence[Ints], joint: Table) -> None:
    size = 1e-9 * float(np.abs(joint.values).max(initial=1.0))
    for table, mine in zip(tables, members, strict=True):
        wrong = np.flatnonzero(np.abs(joint.values[mine] - table.values) > size)
        if len(wrong):
            raise DataError(
                f"linked tables: {len(wrong)} cells have different values in two tables, the first is "
                f"{table.name_of(int(wrong[0]))}; the tables must come from the same records."
            )


def _relations(tables: Sequence[Table], members: Sequence[Ints], n_cells: int) -> Relations:
    joint: Relations | None = None
    for table, mine in zip(tables, members, strict=True):
        own = relations_of(table)
        moved = Relations.from_arrays(n_cells, own.indptr, mine[own.cells], own.coefs)
        joint = moved if joint is None else joint.with_rows(moved)
    assert joint is not None
    return joint
