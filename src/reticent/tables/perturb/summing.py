# SPDX-License-Identifier: Apache-2.0
"""Which inner cells each cell of a table is the sum of, and what links tables that have no inner cells in common."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from reticent.base.arrays import Ints
from reticent.base.errors import DataError
from reticent.data.relations import Relations

OWNER = "additivity"


@dataclass(frozen=True, eq=False)
class Summing:
    """Cells as sums of inner ones: `matrix` has a row for each cell and a column for each of the `inner` cells.

    `links` are combinations of inner cells that must be 0: totals that linked tables reach in different ways.
    """

    inner: Ints
    matrix: sparse.csr_array
    links: sparse.csr_array

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.matrix.shape[0])


_KNOWN: WeakKeyDictionary[Relations, Summing] = WeakKeyDictionary()
"""Additivity, proofs and enumeration ask for the same relations; those of millions of cells take seconds."""


def summing(relations: Relations) -> Summing:
    """Express every cell by the cells that are no total. Relations must say that a total is the sum of its parts."""
    found = _KNOWN.get(relations)
    if found is None:
        found = _KNOWN[relations] = _summed(relations)
    return found


def _summed(relations: Relations) -> Summing:
    rows, totals = _total_rows(relations)
    inner = np.setdiff1d(np.arange(relations.n_cells), totals)
    level, chosen = _levels(relations, rows, totals)
    matrix = sparse.csr_array(
        (np.ones(len(inner)), (inner, np.arange(len(inner)))), shape=(relations.n_cells, len(inner))
    )
    signed = relations.matrix()
    for step in range(1, int(level.max(initial=0)) + 1):
        now = np.flatnonzero(level == step)
        parts = sparse.csr_array(signed[chosen[now]])
        keep = parts.data > 0
        row_of = np.repeat(np.arange(len(now)), np.diff(parts.indptr))
        placed = sparse.csr_array(
            (parts.data[keep], (now[row_of[keep]], parts.indices[keep])), shape=(relations.n_cells, relations.n_cells)
        )
        matrix = sparse.csr_array(matrix + placed @ matrix)
    left = sparse.csr_array(signed @ matrix)
    left.eliminate_zeros()
    held = np.flatnonzero(np.diff(left.indptr) > 0)
    return Summing(inner, matrix, sparse.csr_array(left[held]))


def _total_rows(relations: Relations) -> tuple[Ints, Ints]:
    """The relations, and the total of each: the cell with −1."""
    row_of = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    minus = relations.coefs < 0
    single = np.bincount(row_of[minus], minlength=relations.n_rows)
    # x = y says that two cells have the same records: either may stand for the total
    if bool((single != 1).any()) or bool((np.abs(relations.coefs) != 1).any()) or bool(relations.rhs.any()):
        raise DataError(f"{OWNER}: each relation must say that one total is the sum of its parts.")
    return row_of[minus], relations.cells[minus].astype(np.int64)


def _levels(relations: Relations, rows: Ints, totals: Ints) -> tuple[Ints, Ints]:
    """For each total how many steps it stands above inner cells, and the shortest relation that gives it."""
    length = np.diff(relations.indptr)[rows]
    order = np.lexsort((length, totals))
    first = np.concatenate(([True], np.diff(totals[order]) != 0)) if len(order) else np.zeros(0, dtype=bool)
    chosen = np.full(relations.n_cells, -1, dtype=np.int64)
    chosen[totals[order][first]] = rows[order][first]
    level = np.where(chosen >= 0, -1, 0)
    signed = sparse.csr_array(relations.matrix())
    while bool((level < 0).any()):
        waiting = np.flatnonzero(level < 0)
        unknown = (level < 0).astype(np.float64)
        parts = sparse.csr_array(signed[chosen[waiting]])
        parts.data = np.where(parts.data > 0, parts.data, 0.0)
        ready = waiting[parts @ unknown == 0]
        if not len(ready):
            raise DataError(f"{OWNER}: the relations go round in a circle, so that no cell is an inner one.")
        depth = sparse.csr_array(signed[chosen[ready]])
        tops = np.maximum.reduceat(np.where(depth.data > 0, level[depth.indices], 0), depth.indptr[:-1])
        level[ready] = tops + 1
    return level, chosen
