# SPDX-License-Identifier: Apache-2.0
"""The rows of facts above those of watched sums, in whole numbers: by row and by class, without copies of the whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import SolverError

ROOM = 2.0**61


@dataclass(frozen=True, eq=False)
class Stack:
    """Rows of facts (`told`), then rows of watched sums, over the same classes."""

    told: sparse.csr_array
    watched: sparse.csr_array

    @property
    def n_told(self) -> int:
        """Number of rows of facts."""
        return int(self.told.shape[0])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.n_told + int(self.watched.shape[0])

    def asking(self, sight: int) -> "Stack":
        """The facts and one watched sum."""
        return Stack(self.told, self.watched[[sight]])

    @property
    def plain(self) -> "Stack":
        """The facts alone."""
        return Stack(self.told, self.watched[:0])

    @cached_property
    def told_by_class(self) -> sparse.csc_array:
        """The facts in columns."""
        return self.told.tocsc()

    @cached_property
    def _watched_by_class(self) -> sparse.csc_array:
        return self.watched.tocsc()

    @cached_property
    def entries(self) -> Ints:
        """In how many rows each class is."""
        return np.diff(self.told_by_class.indptr) + np.diff(self._watched_by_class.indptr)

    def columns(self, classes: Ints) -> sparse.csc_array:
        """The columns of some classes."""
        parts = (self.told_by_class[:, classes], self._watched_by_class[:, classes])
        return sparse.csc_array(sparse.vstack(parts, format="csc"))

    def chosen(self, rows: Sequence[int]) -> sparse.csr_array:
        """Some rows, in their order."""
        places, n = np.array(rows, dtype=np.int64), self.n_told
        parts = (self.told[places[places < n]], self.watched[places[places >= n] - n])
        stacked = sparse.csr_array(sparse.vstack(parts, format="csr"))
        back = np.argsort(np.argsort(places >= n, kind="stable"), kind="stable")
        return sparse.csr_array(stacked[back])

    def combined(self, factors: Floats) -> Floats:
        """The sum of all rows, each times its factor; most factors are 0."""
        n, used = self.n_told, np.flatnonzero(factors)
        told, watched = used[used < n], used[used >= n]
        own = np.asarray(self.told[told].T @ factors[told], dtype=np.float64)
        return own + np.asarray(self.watched[watched - n].T @ factors[watched], dtype=np.float64)

    def change(self, movement: Ints) -> Ints:
        """By how much a movement, a step per class, changes each row of facts."""
        moved = np.flatnonzero(movement)
        return exact_product(self.told_by_class[:, moved], movement[moved])


def exact_product(matrix: sparse.csr_array | sparse.csc_array, point: Ints) -> Ints:
    """The products in whole numbers; what could leave 62 bits is an error."""
    if matrix.shape[0] == 0:
        return np.zeros(0, dtype=np.int64)
    most = float(np.abs(matrix.data).max(initial=0)) * float(np.abs(point).max(initial=0)) * matrix.shape[1]
    if most >= ROOM and _largest(matrix, point) >= ROOM:
        raise SolverError("releases: sums leave 61 bits; declare fewer decimals.")
    return np.asarray(matrix @ point, dtype=np.int64)


def _largest(matrix: sparse.csr_array | sparse.csc_array, point: Ints) -> float:
    """No partial sum of a product is larger."""
    return float(np.asarray(abs(matrix).astype(np.float64) @ np.abs(point).astype(np.float64)).max(initial=0.0))
