# SPDX-License-Identifier: Apache-2.0
"""Sums of whole numbers over the records of every cell, modulo 2^64: what cell keys are made of."""

from collections.abc import Sequence

import numpy as np

from reticent.base.arrays import Ints, Words
from reticent.data.microdata import Microdata
from reticent.data.table import Dimension, Nodes, Table, TableSpec
from reticent.kernels.grouping import group_columns
from reticent.kernels.rollup import spread
from reticent.tabulation.dimensions import build_dimension


def key_sums(data: Microdata, spec: TableSpec, table: Table, parts: Words) -> Words:
    """Σ parts over the records of each cell of the table (0 for cells without records); parts has a row per record.

    Exact for any order of the records, totals included: a total is added up from its records' parts like any cell.
    """
    built = [build_dimension(data, dimension) for dimension in spec.dimensions]
    columns = [np.asarray(nodes[data.encoded(d.name).codes], dtype=np.int32) for d, nodes in built]
    dimensions = [dimension for dimension, _ in built]
    columns, sums = add_up(columns, [len(d) for d in dimensions], np.arange(data.n_records), parts)
    return sums_of_cells(columns, sums, dimensions, table)


def sums_of_cells(columns: Sequence[Nodes], sums: Words, dimensions: Sequence[Dimension], table: Table) -> Words:
    """The sums of each cell of a table from those of its finest cells, given by a node column per dimension."""
    sizes = [len(d) for d in dimensions]
    for position, dimension in enumerate(dimensions):
        source, target = spread(columns[position], *dimension.ancestors)
        wide = [target if at == position else column[source] for at, column in enumerate(columns)]
        columns, sums = add_up(wide, sizes, source, sums)
    both = [np.concatenate((column, table.codes[:, at])) for at, column in enumerate(columns)]
    number, n_cells = group_columns(both, sizes)
    out = np.zeros((n_cells, sums.shape[1]), dtype=np.uint64)
    out[number[: len(sums)]] = sums
    return out[number[len(sums) :]]


def add_up(columns: Sequence[Nodes], sizes: Sequence[int], source: Ints, parts: Words) -> tuple[list[Nodes], Words]:
    """One row for each combination of codes, its parts added up (whole numbers wrap around)."""
    group, n_groups = group_columns(list(columns), list(sizes))
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_groups))
    if not n_groups:
        return [column[:0] for column in columns], parts[:0]
    return [column[order[starts]] for column in columns], np.add.reduceat(parts[source[order]], starts, axis=0)
