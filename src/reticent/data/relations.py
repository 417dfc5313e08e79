# SPDX-License-Identifier: Apache-2.0
"""Additive relations between cells, sparse: Σ coefficient · value = right-hand side, one row each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.base.errors import DataError


@dataclass(frozen=True, eq=False)
class Relations:
    """Rows in compressed form: row r has the cells `cells[indptr[r]:indptr[r+1]]` with coefficients `coefs[…]`.

    The convention of tables is +1 for the parts and −1 for the total; any small integers but 0 may stand here, and a
    cell stands at most once in a row.
    """

    n_cells: int
    indptr: NDArray[np.int64]
    cells: NDArray[np.int32]
    coefs: NDArray[np.int32]
    rhs: NDArray[np.float64]

    def __post_init__(self) -> None:
        if len(self.indptr) < 1 or self.indptr[0] != 0 or self.indptr[-1] != len(self.cells):
            raise DataError("Relations: indptr must start at 0 and end at the number of entries.")
        if np.any(np.diff(self.indptr) < 0) or len(self.coefs) != len(self.cells) or len(self.rhs) != self.n_rows:
            raise DataError("Relations: indptr, cells, coefs and rhs do not fit together.")
        if len(self.cells) and (self.cells.min() < 0 or self.cells.max() >= self.n_cells):
            raise DataError(f"Relations: cell numbers must be from 0 to {self.n_cells - 1}.")

    def __repr__(self) -> str:
        return f"<Relations: {self.n_rows} rows over {self.n_cells} cells>"

    @property
    def n_rows(self) -> int:
        """Number of relations."""
        return len(self.indptr) - 1

    @classmethod
    def from_rows(
        cls, n_cells: int, rows: Iterable[tuple[Sequence[int], Sequence[int]]], rhs: Sequence[float] | None = None
    ) -> "Relations":
        """Make relations of (cells, coefficients) pairs."""
        pairs = list(rows)
        lengths = [len(cells) for cells, _ in pairs]
        if any(len(coefs) != length for (_, coefs), length in zip(pairs, lengths, strict=True)):
            raise DataError("Relations: every row needs as many coefficients as cells.")
        indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64)
        cells = np.array([c for row, _ in pairs for c in row], dtype=np.int32)
        coefs = np.array([c for _, row in pairs for c in row], dtype=np.int32)
        return cls(n_cells, indptr, cells, coefs, _right_hand_side(rhs, len(pairs)))

    @classmethod
    def from_arrays(
        cls,
        n_cells: int,
        indptr: NDArray[np.integer],
        cells: NDArray[np.integer],
        coefs: NDArray[np.integer],
        rhs: Sequence[float] | None = None,
    ) -> "Relations":
        """Make relations of compressed arrays of any integer type."""
        return cls(
            n_cells,
            np.asarray(indptr, dtype=np.int64),
            np.asarray(cells, dtype=np.int32),
            np.asarray(coefs, dtype=np.int32),
            _right_hand_side(rhs, len(indptr) - 1),
        )

    @cached_property
    def _matrix(self) -> sparse.csr_array:
        shape = (self.n_rows, self.n_cells)
        return sparse.csr_array((self.coefs.astype(np.float64), self.cells.astype(np.int64), self.indptr), shape=shape)

    def matrix(self) -> sparse.csr_array:
        """The coefficients as a scipy matrix, one row per relation (shared: do not change it)."""
        return self._matrix

    @cached_property
    def by_cell(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """The same entries cell by cell: (indptr over cells, relation numbers, coefficients)."""
        order = np.argsort(self.cells, kind="stable")
        row_of = np.repeat(np.arange(self.n_rows, dtype=np.int32), np.diff(self.indptr))
        indptr = np.zeros(self.n_cells + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.cells, minlength=self.n_cells), out=indptr[1:])
        return indptr, row_of[order], self.coefs[order]

    def row(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Cells and coefficients of one relation."""
        part = slice(int(self.indptr[number]), int(self.indptr[number + 1]))
        return self.cells[part], self.coefs[part]

    def residuals(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far each relation is from holding: Σ coef·value − rhs."""
        return np.asarray(self.matrix() @ values) - self.rhs

    def components(self, mask: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Number the groups of masked cells that hang together through relations; −1 for cells outside."""
        chosen = np.flatnonzero(mask)
        labels = np.full(self.n_cells, -1, dtype=np.int32)
        if len(chosen) == 0:
            return labels
        keep = mask[self.cells]
        row_of = np.repeat(np.arange(self.n_rows), np.diff(self.indptr))[keep]
        # rows and cells are the two sides of one graph: cells are numbered behind the rows
        size = self.n_rows + self.n_cells
        ends = (row_of, self.n_rows + self.cells[keep].astype(np.int64))
        graph = sparse.coo_array((np.ones(len(row_of)), ends), shape=(size, size))
        found = np.asarray(connected_components(graph, directed=False)[1])[self.n_rows + chosen]
        labels[chosen] = np.unique(found, return_inverse=True)[1].astype(np.int32)
        return labels

    def restrict(self, mask: NDArray[np.bool_]) -> "Restriction":
        """Keep only the masked cells (the others are known), renumbered; relations left empty are dropped."""
        chosen = np.flatnonzero(mask).astype(np.int32)
        number = np.full(self.n_cells, -1, dtype=np.int32)
        number[chosen] = np.arange(len(chosen), dtype=np.int32)
        keep = mask[self.cells]
        row_of = np.repeat(np.arange(self.n_rows), np.diff(self.indptr))[keep]
        counts = np.bincount(row_of, minlength=self.n_rows)
        rows = np.flatnonzero(counts).astype(np.int32)
        indptr = np.concatenate(([0], np.cumsum(counts[rows]))).astype(np.int64)
        inner = Relations(len(chosen), indptr, number[self.cells[keep]], self.coefs[keep], np.zeros(len(rows)))
        return Restriction(inner, chosen, rows)

    def without(self, mask: NDArray[np.bool_]) -> "Relations":
        """Only the relations that none of the masked cells is in, over the same cells."""
        row_of = np.repeat(np.arange(self.n_rows), np.diff(self.indptr))
        kept = np.bincount(row_of[mask[self.cells]], minlength=self.n_rows) == 0
        inside = kept[row_of]
        indptr = np.concatenate(([0], np.cumsum(np.diff(self.indptr)[kept]))).astype(np.int64)
        return Relations(self.n_cells, indptr, self.cells[inside], self.coefs[inside], self.rhs[kept])

    def with_rows(self, extra: "Relations") -> "Relations":
        """These relations and further ones over the same cells (or over cells appended behind)."""
        return Relations(
            max(self.n_cells, extra.n_cells),
            np.concatenate((self.indptr, self.indptr[-1] + extra.indptr[1:])),
            np.concatenate((self.cells, extra.cells)),
            np.concatenate((self.coefs, extra.coefs)),
            np.concatenate((self.rhs, extra.rhs)),
        )


@dataclass(frozen=True, eq=False)
class Restriction:
    """Relations among some cells only: `cells` and `rows` are their numbers in the whole.

    The right-hand sides are 0: the restriction speaks of changes against the true values.
    """

    relations: Relations
    cells: NDArray[np.int32]
    rows: NDArray[np.int32]


def _right_hand_side(rhs: Sequence[float] | None, n_rows: int) -> NDArray[np.float64]:
    return np.zeros(n_rows) if rhs is None else np.asarray(rhs, dtype=np.float64)
