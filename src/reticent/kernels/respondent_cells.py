# SPDX-License-Identifier: Apache-2.0
"""Respondents with several units: what each gives to a cell of any level, without a list of all pairs.

A unit that is the first of its respondent in a cell adds up what the respondent's later units give to the same cell; the sum
enters the lists of the cell. Cells thus meet respondents in the order of their first units.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Narrow
from reticent.kernels.topn import enter


class Places(NamedTuple):
    """Where units stand: nodes (n × d), where the units of each respondent start, and the nodes above each node.

    Dimension d has its row pointers at `indptr[offsets[d] + node]`; `strides` make a number of a cell's nodes, which
    `cells` maps to the cell's place in the result.
    """

    nodes: Narrow
    starts: Ints
    offsets: Ints
    indptr: Ints
    above: Narrow
    strides: Ints
    cells: Narrow


@njit(cache=True, nogil=True, inline="always")
def _keys(places: Places, unit: int, keys: Ints) -> int:
    """Numbers of all cells above a unit, the first dimension running fastest; how many there are."""
    size = 1
    keys[0] = 0
    for d in range(places.nodes.shape[1]):
        row = places.offsets[d] + places.nodes[unit, d]
        low, high = places.indptr[row], places.indptr[row + 1]
        for a in range(high - 1, low - 1, -1):  # the first node last: it writes over what the others start from
            step = places.above[a] * places.strides[d]
            for k in range(size):
                keys[(a - low) * size + k] = keys[k] + step
        size *= high - low
    return size


@njit(cache=True, nogil=True)
def number_cells(places: Places, found: Ints) -> int:
    """Number the cells that have a unit by first appearance; `found` gets their keys. O(n · cells of a unit)."""
    keys = np.empty(64, np.int64)
    n_cells = 0
    for i in range(places.nodes.shape[0]):
        for k in range(_keys(places, i, keys)):
            if places.cells[keys[k]] < 0:
                places.cells[keys[k]] = n_cells
                found[n_cells] = keys[k]
                n_cells += 1
    return n_cells


@njit(cache=True, nogil=True, inline="always")
def _common(places: Places, one: int, other: int) -> np.uint64:
    """Which cells above a unit another unit is below as well: a bit for each, in the order of `_keys`."""
    word = np.uint64(1)
    size = 1
    for d in range(places.nodes.shape[1]):
        row, beside = places.offsets[d] + places.nodes[one, d], places.offsets[d] + places.nodes[other, d]
        low, high = places.indptr[row], places.indptr[row + 1]
        wider = np.uint64(0)
        for a in range(low, high):
            for b in range(places.indptr[beside], places.indptr[beside + 1]):
                if places.above[a] == places.above[b]:
                    wider |= word << np.uint64((a - low) * size)
                    break
        word = wider
        size *= high - low
    return word


@njit(cache=True, nogil=True)
def sum_up(places: Places, values: Floats, order: Ints, totals: Floats) -> None:
    """What the respondent of each unit gives to the cells above it; NaN where an earlier unit of it is in the cell too.

    Units come respondent after respondent (`starts`), each one's in their order; `order` is the place of each in the
    file, `totals` (n × cells of a unit) is in the order of the file. O(Σ units of a respondent² · cells of a unit).
    """
    for r in range(places.starts.size - 1):
        start, end = places.starts[r], places.starts[r + 1]
        for i in range(start, end):
            own = totals[order[i]]
            own[:] = values[i]
            for j in range(start, end):
                if j == i:
                    continue
                word = _common(places, i, j)
                for k in range(own.size):
                    if (word >> np.uint64(k)) & np.uint64(1):
                        own[k] = own[k] + values[j] if j > i else np.nan


@njit(cache=True, nogil=True)
def add_respondents(
    places: Places,
    totals: Floats,
    units: Ints,
    weights: Floats,
    counts: Floats,
    sums: Floats,
    top: Floats,
    top_units: Ints,
    top_weights: Floats,
) -> None:
    """Add what each respondent (`units`) gives to each cell, from `sum_up`; arguments as in `topn.accumulate`.

    `counts` (cells × 2, or empty) gets respondents and their weights. O(n · cells of a unit).
    """
    keys = np.empty(64, np.int64)
    for i in range(places.nodes.shape[0]):
        weight = weights[i] if weights.size else 1.0
        for k in range(_keys(places, i, keys)):
            if np.isnan(totals[i, k]):
                continue
            cell = places.cells[keys[k]]
            if counts.size:
                counts[cell, 0] += 1.0
                counts[cell, 1] += weight
            enter(cell, totals[i, k], weight, units[i], sums, top, top_units, top_weights)
