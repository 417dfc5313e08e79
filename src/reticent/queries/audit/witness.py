# SPDX-License-Identifier: Apache-2.0
"""Whole-number witnesses: a solver's floating-point vector counts only if it fits the released rows exactly.

A linear program proposes a direction; its entries are brought to a small common denominator and multiplied out in whole
numbers. Only a direction that changes no released row at all is believed, so that no verdict "safe" rests on rounding.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.arrays import Floats
from reticent.queries.audit.bits import Measured
from reticent.releases.rows import Proposal
from reticent.releases.rowspace import RowSpace

Whole = NDArray[np.object_]
DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 12, 60, 840)
NEAR = 1e-4
FINEST = 1_000
MOST_BITS = 120
MOST_ROWS, MOST_CLASSES = 60, 300
MOST_DENSE = 400_000
GRID = 64
ROOM = 2.0**62


@dataclass(frozen=True)
class ExactRows:
    """The released rows and the proposed one over the classes, in whole numbers."""

    matrix: sparse.csr_array

    @classmethod
    def of(cls, space: RowSpace, proposal: Proposal) -> "ExactRows":
        """All rows as they would be after the release."""
        places = proposal.partition.representative
        rows = (*space.rows(), proposal.row)
        entries = [row.coefficients(places) for row in rows]
        columns = [np.flatnonzero(entry) for entry in entries]
        number = np.repeat(np.arange(len(rows)), [len(column) for column in columns])
        amounts = np.concatenate([entry[column] for entry, column in zip(entries, columns)])
        shape = (len(rows), len(places))
        return cls(sparse.csr_array((amounts, (number, np.concatenate(columns))), shape=shape))

    @property
    def floats(self) -> sparse.csr_array:
        """The rows for a solver, which may round them."""
        return self.matrix.astype(np.float64)

    @property
    def largest(self) -> int:
        """The largest weight, without its sign."""
        return int(abs(self.matrix).max()) if self.matrix.nnz else 0

    def without_heavy(self, most: int) -> "ExactRows":
        """The rows with weights up to a limit, also those that other rows make so light; the others are left out."""
        heavy = np.asarray(abs(self.matrix).max(axis=1).toarray() > most, dtype=bool).reshape(-1)
        kept = [self.matrix[np.flatnonzero(~heavy)]]
        if self.matrix.shape[0] * self.matrix.shape[1] <= MOST_DENSE:
            measured = Measured(np.ones(self.matrix.shape[1]), 1.0)
            for row in kept[0].toarray():
                measured.add(row)
            for row in self.matrix[np.flatnonzero(heavy)].toarray():
                less = measured.lighter(row)
                measured.add(less)
                if int(np.abs(less).max(initial=0)) <= most:
                    kept.append(sparse.csr_array(less[None, :]))
        return ExactRows(sparse.csr_array(sparse.vstack(kept)))

    def vanish(self, vector: Whole) -> bool:
        """Whether every row gives exactly 0."""
        m = self.matrix
        largest = max((abs(v) for v in vector.tolist()), default=0)
        reach = float(abs(m).max() if m.nnz else 0) * float(largest) * max(m.shape[1], 1)
        if reach < ROOM:
            return not bool((m @ vector.astype(np.int64)).any())
        products = [int(a) * v for a, v in zip(m.data.tolist(), vector[m.indices].tolist())]
        starts = m.indptr.tolist()
        return not any(sum(products[a:b]) for a, b in pairwise(starts))


def fractions_of(vector: Floats) -> Iterator[tuple[Whole, int]]:
    """Whole numbers and a common denominator that a floating-point vector may stand for, the simplest first."""
    for denominator in DENOMINATORS:
        scaled = vector * denominator
        whole = np.rint(scaled)
        if float(np.abs(scaled - whole).max(initial=0.0)) < NEAR:
            yield np.array([int(v) for v in whole.tolist()], dtype=object), denominator
    found = [Fraction(v).limit_denominator(FINEST) for v in vector.tolist()]
    common = lcm(1, *{f.denominator for f in found})
    if common.bit_length() <= MOST_BITS:
        yield np.array([int(f * common) for f in found], dtype=object), common


def candidates(rows: ExactRows, vector: Floats, room: Floats) -> Iterator[tuple[Whole, int]]:
    """Directions near a solver's that may fit exactly: simple fractions of it, then (small systems) one repaired.

    `room` says how far each entry may be moved; entries without room keep their nearest whole number.
    """
    yield from fractions_of(vector)
    if rows.matrix.shape[0] <= MOST_ROWS and rows.matrix.shape[1] <= MOST_CLASSES:
        found = _repaired(rows, vector, room)
        if found is not None:
            common = lcm(1, *{f.denominator for f in found})
            yield np.array([int(f * common) for f in found], dtype=object), common


def _repaired(rows: ExactRows, vector: Floats, room: Floats) -> list[Fraction] | None:
    """The vector on a grid, then moved where there is most room so that every row gives exactly 0 (elimination)."""
    grid = np.where(room > 0, np.rint(vector * GRID) / GRID, np.rint(vector))
    start = [Fraction(v) for v in grid.tolist()]
    dense = rows.matrix.toarray().tolist()
    usable = [int(j) for j in np.argsort(-room, kind="stable") if room[j] > 0]
    table = []
    for row in dense:
        miss = sum((int(a) * v for a, v in zip(row, start) if a), Fraction(0))
        table.append([Fraction(int(row[j])) for j in usable] + [-miss])
    pivots: list[int] = []
    for place in range(len(usable)):
        chosen = next((i for i in range(len(pivots), len(table)) if table[i][place]), None)
        if chosen is None:
            continue
        here = len(pivots)
        table[here], table[chosen] = table[chosen], table[here]
        table[here] = [v / table[here][place] for v in table[here]]
        for i, other in enumerate(table):
            if i != here and other[place]:
                table[i] = [v - other[place] * w for v, w in zip(other, table[here])]
        pivots.append(place)
    if any(row[-1] for row in table[len(pivots) :]):
        return None
    for i, place in enumerate(pivots):
        start[usable[place]] += table[i][-1]
    return start
