# SPDX-License-Identifier: Apache-2.0
"""Rows from relations that close a circle: codes that are added up in more than one way along one dimension.

A movement is zero on a flat of the relations' matroid, so a pattern without idle cells hides the complement of a flat
in any set of relations. In a tree of totals the bridges say all of that. Where groupings overlap (a+b=d, b+c=e,
d+c=f), the flats of the few cells concerned are listed, and a point outside the hull of their complements is cut off
by a small linear program (local cuts, Applegate, Bixby, Chvátal and Cook 2001).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.base import clock
from reticent.base.arrays import Floats, Ints
from reticent.data.relations import Relations
from reticent.kernels.elimination import PRIME, power
from reticent.kernels.flats import flats
from reticent.solve.highs import HighsSession
from reticent.solve.model import LinearModel, Status
from reticent.tables.problem import SuppressionProblem

_CELLS = 16  # of a circle at most: the sets of its cells are counted by bits
_PATTERNS = 1_500  # flats of a circle at most
_LARGEST = 5_000  # cells of a table beyond which no circles are looked for
_CIRCLES = 2_000
_DEEP = 1e-4  # how far outside a hull a point is to be for a cut
_GRID = 2.0**20  # coefficients are multiples of its inverse, so that sums of them are exact


@dataclass(eq=False)
class _Circle:
    """Cells that a method may hide, and every way to hide some of them (a row each) that leaves none idle."""

    cells: NDArray[np.int64]
    patterns: Floats
    session: HighsSession | None = None

    def cut(self, x: Floats) -> tuple[Floats, float] | None:
        """a and b with a·p ≥ b for all patterns and a·x < b, |a| ≤ 1, as far apart as possible."""
        point = x[self.cells]
        if point.max(initial=0.0) < _DEEP:
            return None
        size = len(self.cells)
        columns = np.arange(size + 1, dtype=np.int32)
        cost = np.append(-point, 1.0)
        if self.session is None:
            rows = sparse.csr_array(np.column_stack((self.patterns, -np.ones(len(self.patterns)))))
            ends = np.append(np.ones(size), float(size))
            zeros, most = np.zeros(len(self.patterns)), np.full(len(self.patterns), np.inf)
            self.session = HighsSession(LinearModel(cost, -ends, ends, rows, zeros, most, maximise=True))
        else:
            self.session.set_cost(columns, cost)
        found = self.session.solve()
        if found.status is not Status.OPTIMAL or found.objective < _DEEP:
            return None
        coefs = np.rint(found.values[:size] * _GRID) / _GRID
        right = float((self.patterns @ coefs).min())
        return (coefs, right) if right - float(coefs @ point) > _DEEP / 2 else None


class Circles:
    """The circles of a problem; asked for rows again and again while the relaxation becomes tighter."""

    def __init__(self, problem: SuppressionProblem) -> None:
        self._n_cells = problem.n_cells
        self._circles = _circles(problem) if problem.n_cells <= _LARGEST else []

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self._circles)

    def rows(self, x: Floats, *, until: float) -> tuple[sparse.csr_array, Floats]:
        """Rows·x ≥ right that x violates and some optimal pattern does not, as many as there is time for."""
        cells: list[NDArray[np.int64]] = []
        coefs: list[Floats] = []
        right: list[float] = []
        for circle in self._circles:
            if clock.now() > until:
                break
            found = circle.cut(x)
            if found is not None:
                cells.append(circle.cells)
                coefs.append(found[0])
                right.append(found[1])
        if not cells:
            return sparse.csr_array((0, self._n_cells), dtype=np.float64), np.zeros(0)
        indptr = np.concatenate(([0], np.cumsum([len(c) for c in cells])))
        shape = (len(cells), self._n_cells)
        matrix = sparse.csr_array((np.concatenate(coefs), np.concatenate(cells), indptr), shape=shape)
        return matrix, np.array(right)


def _circles(problem: SuppressionProblem) -> list[_Circle]:
    known: dict[bytes, Ints] = {}
    found = []
    for cells in _groups(problem.relations):
        clock.check()
        system = _inside(problem.relations, cells)
        # Hadamard: minors are smaller than the product of the longest rows, so that modulo PRIME they are zero only if they are
        if np.prod(np.sort(np.linalg.norm(system, axis=1))[-len(cells) :]) >= PRIME:
            continue
        key = system.tobytes() + bytes([len(cells)])
        if key not in known:
            known[key] = flats(_kernel(system), _PATTERNS)
        circle = _circle(problem, cells, known[key])
        if circle is not None:
            found.append(circle)
    return found


def _circle(problem: SuppressionProblem, cells: Ints, closed: Ints) -> _Circle | None:
    """The patterns of some cells: flats that hold all cells that are always published, and no primary."""
    zero = (closed[:, None] >> np.arange(len(cells)) & 1).astype(bool)
    open_cells = problem.candidates | problem.forced
    fits = zero[:, ~open_cells[cells]].all(axis=1) & ~zero[:, problem.primary[cells]].any(axis=1)
    free = problem.candidates[cells]
    # a secondary that was demanded from outside is hidden whether it moves or not
    patterns = np.unique(~zero[fits][:, free], axis=0).astype(np.float64)
    return _Circle(cells[free], patterns) if len(patterns) > 1 else None


def _groups(relations: Relations) -> list[Ints]:
    """The cells of relations that close a circle of three, or share two cells, with all relations that these determine.

    Relations along different dimensions of a table meet in one cell, and no third one meets both elsewhere.
    """
    lengths = np.diff(relations.indptr)
    short = np.flatnonzero((lengths > 1) & (lengths <= _CELLS))
    incidence = sparse.csr_array(abs(relations.matrix())[short]).astype(bool).astype(np.int64)
    by_cell = sparse.csc_array(incidence)
    found: dict[bytes, Ints] = {}
    home: dict[int, int] = {}
    for first, second in _seeds(incidence):
        clock.check()
        if first in home and home[first] == home.get(second):
            continue
        parts = [incidence.indices[incidence.indptr[r] : incidence.indptr[r + 1]] for r in (first, second)]
        grown = _grown(incidence, by_cell, np.union1d(*parts).astype(np.int64))
        if grown is not None:
            home[first] = home[second] = len(found)
            within = incidence[:, grown].sum(axis=1) == lengths[short]
            home.update(dict.fromkeys(np.flatnonzero(within).tolist(), len(found)))
            found.setdefault(grown.tobytes(), grown)
        if len(found) == _CIRCLES:
            break
    return _merged(incidence, by_cell, list(found.values()))


def _merged(incidence: sparse.csr_array, by_cell: sparse.csc_array, groups: list[Ints]) -> list[Ints]:
    """Groups that share two cells put together, as long as they do not become too large."""
    while groups:
        clock.check()
        indptr = np.concatenate(([0], np.cumsum([len(cells) for cells in groups])))
        member = sparse.csr_array(
            (np.ones(indptr[-1]), np.concatenate(groups), indptr), shape=(len(groups), incidence.shape[1])
        )
        label = np.asarray(connected_components(member @ member.T > 1, directed=False)[1])
        found: dict[bytes, Ints] = {}
        for number in range(int(label.max()) + 1):
            parts = [groups[at] for at in np.flatnonzero(label == number).tolist()]
            whole = _grown(incidence, by_cell, np.unique(np.concatenate(parts)))
            for cells in parts if whole is None else [whole]:
                found.setdefault(cells.tobytes(), cells)
        if found.keys() == {cells.tobytes() for cells in groups}:
            break
        groups = list(found.values())
    return groups


def _seeds(incidence: sparse.csr_array) -> list[tuple[int, int]]:
    """Pairs of relations that share two cells, or each a cell with a third that is not the one they share."""
    shared = sparse.csr_array(incidence @ incidence.T)
    shared.setdiag(0)
    shared.eliminate_zeros()
    touching = sparse.csr_array(shared.astype(bool).astype(np.int64))
    thirds = sparse.coo_array((touching @ touching).multiply(touching))
    # through a cell of k relations, two of them have k − 2 common neighbours that prove nothing
    at_cell = np.asarray(incidence.sum(axis=0)).ravel()
    through = incidence @ sparse.diags_array(at_cell - 2.0).astype(np.int64) @ incidence.T
    expected = np.asarray(through.tocsr()[thirds.row, thirds.col]).ravel()
    twice = sparse.coo_array(shared > 1)
    rows = np.concatenate((thirds.row[thirds.data > expected], twice.row))
    cols = np.concatenate((thirds.col[thirds.data > expected], twice.col))
    one_way = rows < cols
    return list(zip(rows[one_way].tolist(), cols[one_way].tolist(), strict=True))


def _grown(incidence: sparse.csr_array, by_cell: sparse.csc_array, cells: Ints) -> Ints | None:
    """Some cells with all relations that have two cells among them, and pairs of relations that lead out and back.

    None if these are too many.
    """
    while len(cells) <= _CELLS:
        around = [by_cell.indices[by_cell.indptr[c] : by_cell.indptr[c + 1]] for c in cells.tolist()]
        rows, first, times = np.unique(np.concatenate(around), return_index=True, return_counts=True)
        foot = np.repeat(cells, [len(part) for part in around])[first]
        parts = [incidence.indices[incidence.indptr[r] : incidence.indptr[r + 1]] for r in rows.tolist()]
        ends = np.column_stack((np.concatenate(parts), np.repeat(foot, [len(part) for part in parts])))
        met, often = np.unique(np.unique(ends[~np.isin(ends[:, 0], cells)], axis=0)[:, 0], return_counts=True)
        back = met[often > 1]
        inside = [part for part, n in zip(parts, times.tolist(), strict=True) if n > 1 or np.isin(part, back).any()]
        larger = np.unique(np.concatenate((cells, *inside))).astype(np.int64)
        if len(larger) == len(cells):
            return larger
        cells = larger
    return None


def _inside(relations: Relations, cells: Ints) -> Ints:
    """The relations that lie within some cells, as a small matrix over these."""
    matrix = relations.matrix()[:, cells]
    whole = np.diff(sparse.csr_array(matrix).indptr) == np.diff(relations.indptr)
    rows = np.asarray(matrix.tocsr()[np.flatnonzero(whole & (np.diff(relations.indptr) > 0))].todense())
    return np.unique(rows.astype(np.int64), axis=0)


def _kernel(system: Ints) -> Ints:
    """A basis of the movements of a small system modulo PRIME, a row for each cell."""
    rows = system % PRIME
    n = rows.shape[1]
    pivots: list[int] = []
    for column in range(n):
        below = np.flatnonzero(rows[len(pivots) :, column])
        if len(below) == 0:
            continue
        at = len(pivots)
        rows[[at, at + below[0]]] = rows[[at + below[0], at]]
        rows[at] = rows[at] * power(int(rows[at, column]), PRIME - 2) % PRIME
        others = np.flatnonzero(rows[:, column])
        others = others[others != at]
        rows[others] = (rows[others] - rows[others, column][:, None] * rows[at]) % PRIME
        pivots.append(column)
        if len(pivots) == len(rows):
            break
    free = np.setdiff1d(np.arange(n), pivots)
    kernel = np.zeros((n, len(free)), dtype=np.int64)
    kernel[free, np.arange(len(free))] = 1
    kernel[pivots] = -rows[: len(pivots)][:, free] % PRIME
    return kernel
