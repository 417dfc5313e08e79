# SPDX-License-Identifier: Apache-2.0
"""Costs that grow with the distance from the unsafe cells, as <DISTANCE> of tau-ARGUS metadata asks for.

A cell in the same row as an unsafe one (the other codes equal, below the same total) and k codes away from it costs the
k-th number of that variable, from the fifth code on the last; of several such costs the least counts. Source: the
modular method of tau-ARGUS (HiTaS, `AMiscFunc.cpp`, simple distance function).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.data.table import Dimension, Nodes, Table
from reticent.kernels.grouping import group_columns


def distance_cost(table: Table, primary: Mask, steps: Mapping[str, Sequence[float]]) -> Floats:
    """What hiding each cell costs; `steps` has the numbers of each dimension that has them.

    Cells without an unsafe one in their row cost the largest number. The modular method never hides a total while
    something below will do; here all levels are in one system, so a total costs the largest number once more for
    each level that it stands above the inner cells.
    """
    far = max([1.0, *(max(numbers) for numbers in steps.values())])
    near = np.full(table.n_cells, far)
    for position, dimension in enumerate(table.dimensions):
        numbers = steps.get(dimension.name)
        if numbers is None:
            continue
        price = np.array([0.0, *numbers, far])
        for tree in dimension.trees:
            away = _codes_away(table, primary, position, tree)
            known = away >= 0
            near[known] = np.minimum(near[known], price[np.minimum(away[known], len(numbers))])
    height = np.zeros(table.n_cells)
    for position, dimension in enumerate(table.dimensions):
        height += _heights(dimension)[table.codes[:, position]]
    return near + far * height


def _codes_away(table: Table, primary: Mask, position: int, tree: Nodes) -> NDArray[np.int64]:
    """How many codes each cell is away from the nearest unsafe one in its row, −1 if there is none."""
    nodes = table.codes[:, position]
    inside = np.flatnonzero(tree[nodes] >= 0)
    columns = [table.codes[inside, at] if at != position else tree[nodes[inside]] for at in range(table.codes.shape[1])]
    row = group_columns(columns, [len(d) for d in table.dimensions])[0]
    rank = _ranks(tree)[nodes[inside]]
    away = np.full(table.n_cells, -1, dtype=np.int64)
    for direction in (1, -1):
        order = np.lexsort((direction * rank, row))
        at = np.where(primary[inside[order]], np.arange(len(order)), -1)
        last = np.maximum.accumulate(at) if len(at) else at
        same = (last >= 0) & (row[order[last]] == row[order])
        cells = inside[order[same]]
        found = np.abs(rank[order[same]] - rank[order[last[same]]])
        away[cells] = np.where(away[cells] < 0, found, np.minimum(away[cells], found))
    return away


def _ranks(tree: Nodes) -> NDArray[np.int64]:
    """The place of each node among the parts of its total, in reading order."""
    ranks = np.zeros(len(tree), dtype=np.int64)
    seen: dict[int, int] = {}
    for node, parent in enumerate(tree.tolist()):
        if parent >= 0:
            ranks[node] = seen[parent] = seen.get(parent, -1) + 1
    return ranks


def _heights(dimension: Dimension) -> NDArray[np.int64]:
    """How many levels stand below each node."""
    heights = np.zeros(len(dimension), dtype=np.int64)
    for tree in dimension.trees:
        for node in range(len(dimension) - 1, 0, -1):
            if tree[node] >= 0:
                heights[tree[node]] = max(heights[tree[node]], heights[node] + 1)
    return heights
