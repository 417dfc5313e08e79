# SPDX-License-Identifier: Apache-2.0
"""The relations of a table: in every subtable a parent cell is the sum of its children. Sparse, from the cells alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.data.relations import Relations
from reticent.data.table import Dimension, Nodes, Table
from reticent.kernels.grouping import group_columns


def relations_of(table: Table) -> Relations:
    """All relations among the cells that are there; absent children are empty and add nothing."""
    return relations_over(table.dimensions, table.codes)


def relations_over(dimensions: Sequence[Dimension], codes: Nodes) -> Relations:
    """One relation for each dimension, tree and parent cell: children (+1) less the parent (−1) is zero."""
    pieces = []
    for position, dimension in enumerate(dimensions):
        seen: dict[int, list[frozenset[int]]] = {}
        for tree in dimension.trees:
            new = _new_families(tree, seen)
            pieces.append(_pieces_of(dimensions, codes, position, np.where(new[np.maximum(tree, 0)], tree, -2)))
    return _assemble(len(codes), pieces)


def _new_families(tree: Nodes, seen: dict[int, list[frozenset[int]]]) -> NDArray[np.bool_]:
    """Parents whose children are not already those of an earlier tree."""
    new = np.zeros(len(tree), dtype=bool)
    for parent in np.unique(tree[tree >= 0]).tolist():
        family = frozenset(np.flatnonzero(tree == parent).tolist())
        if family not in seen.setdefault(parent, []):
            seen[parent].append(family)
            new[parent] = True
    return new


def _pieces_of(
    dimensions: Sequence[Dimension], codes: Nodes, position: int, tree: NDArray[np.int32]
) -> tuple[Ints, Ints]:
    """Parent and child cell of every parent-child pair along one tree of one dimension."""
    child = np.flatnonzero(tree[codes[:, position]] >= 0)
    n = len(codes)
    columns = []
    for at in range(len(dimensions)):
        below = codes[child, at]
        columns.append(np.concatenate((codes[:, at], tree[below].astype(np.int32) if at == position else below)))
    # groups are numbered by first appearance, so a parent's group number is its cell number; larger: it is not there
    parent = group_columns(columns, [len(d) for d in dimensions])[0][n:]
    there = parent < n
    return parent[there], child[there]


def _assemble(n_cells: int, pieces: Sequence[tuple[Ints, Ints]]) -> Relations:
    rows, cells, coefs = [], [], []
    start = 0
    for parent, child in pieces:
        parents, number = np.unique(parent, return_inverse=True)
        rows += [start + number, start + np.arange(len(parents))]
        cells += [child, parents]
        coefs += [np.ones(len(child), dtype=np.int8), np.full(len(parents), -1, dtype=np.int8)]
        start += len(parents)
    row = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    order = np.argsort(row, kind="stable")
    indptr = np.zeros(start + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=start), out=indptr[1:])
    cell = np.concatenate(cells) if cells else np.zeros(0, dtype=np.int64)
    coef = np.concatenate(coefs) if coefs else np.zeros(0, dtype=np.int8)
    return Relations.from_arrays(n_cells, indptr, cell[order], coef[order])
