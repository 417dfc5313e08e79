"""Sums of whole numbers over the records of every cell, modulo 2^64: what cell keys are made of."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints, Words
from reticent.data.microdata import Microdata
from reticent.data.table import Table, TableSpec
from reticent.kernels.grouping import group_columns
from reticent.kernels.rollup import spread
from reticent.tabulation.dimensions import build_dimension


def key_sums(data: Microdata, spec: TableSpec, table: Table, parts: Words) -> Words:
    """Σ parts over the records of each cell of the table (0 for cells without records); parts has a row a record.

    Exact for any order of the records, totals included: a total is added up from its records' parts like any cell.
    """
    built = [build_dimension(data, dimension) for dimension in spec.dimensions]
    columns = [np.asarray(nodes[data.encoded(d.name).codes], dtype=np.int32) for d, nodes in built]
    dimensions = [dimension for dimension, _ in built]
    sizes = [len(d) for d in dimensions]
    columns, sums = _added(columns, sizes, np.arange(data.n_records), parts)
    for position, dimension in enumerate(dimensions):
        source, target = spread(columns[position], *dimension.ancestors)
        wide = [target if at == position else column[source] for at, column in enumerate(columns)]
        columns, sums = _added(wide, sizes, source, sums)
    both = [np.concatenate((column, table.codes[:, at])) for at, column in enumerate(columns)]
    number, n_cells = group_columns(both, sizes)
    out = np.zeros((n_cells, parts.shape[1]), dtype=np.uint64)
    out[number[: len(sums)]] = sums
    return out[number[len(sums) :]]


def _added(
    columns: Sequence[NDArray[np.int32]], sizes: Sequence[int], source: Ints, parts: Words
) -> tuple[list[NDArray[np.int32]], Words]:
    """One row for each combination of codes, its parts added up (whole numbers wrap around)."""
    group, n_groups = group_columns(list(columns), list(sizes))
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_groups))
    if not n_groups:
        return [column[:0] for column in columns], parts[:0]
    return [column[order[starts]] for column in columns], np.add.reduceat(parts[source[order]], starts, axis=0)
