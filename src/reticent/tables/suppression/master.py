# SPDX-License-Identifier: Apache-2.0
"""The master program: the cheapest pattern that satisfies all cuts found so far.

Four families of rows. Bridges: a hidden cell needs another hidden cell in each of its relations (else it is
published by subtraction). Circles: the same for a few relations together. Capacities of single relations, also against
sole respondents of a cell. Cuts: what attacks on earlier patterns have shown. Its relaxation and its bound are lower
bounds of the suppression problem: every row holds for some optimal pattern.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.base import clock
from reticent.base.arrays import Floats, Mask
from reticent.base.errors import InfeasibleError
from reticent.solve.highs import HighsSession
from reticent.solve.model import LinearModel, Solution, Status
from reticent.tables.attack.insiders import single_respondents
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.capacity import capacity_rows, insider_rows
from reticent.tables.suppression.circles import Circles
from reticent.tables.suppression.cuts import Cut
from reticent.tables.suppression.demands import demands_of
from reticent.tables.suppression.proof import exact_bound

_NO_PATTERN = "Suppression: no pattern protects all primaries; too many cells may not be hidden."
_BATCH = 400  # columns of an integer program below which independent parts are put together


class Master:
    """Rows, the warm linear relaxation, and integer solves with some cells fixed."""

    def __init__(self, problem: SuppressionProblem, cost: Floats, *, singletons: bool = False) -> None:
        self.problem = problem
        self.cost = np.where(problem.forced, 0.0, cost)
        positive = self.cost[problem.candidates & (self.cost > 0)]
        self._scale = float(np.median(positive)) if len(positive) else 1.0
        self.lower = problem.forced.astype(np.float64)
        self.upper = (problem.forced | problem.candidates).astype(np.float64)
        self._entry_row = np.repeat(
            np.arange(problem.relations.n_rows, dtype=np.int64), np.diff(problem.relations.indptr)
        )
        # a secondary that was demanded from outside may well be alone in a relation
        self._bridged = problem.primary | problem.candidates
        self._have_bridge = np.zeros(len(self._entry_row), dtype=bool)
        single = [capacity_rows(problem, demands_of(problem))]
        if singletons:
            single.append(insider_rows(problem, single_respondents(problem)))
        self._single = sparse.csr_array(sparse.vstack(single, format="csr"))
        self._have_single = np.zeros(self._single.shape[0], dtype=bool)
        self._circles: Circles | None = None
        self._rows: list[sparse.csr_array] = []
        self._right: list[Floats] = []
        n = problem.n_cells
        empty = sparse.csr_array((0, n), dtype=np.float64)
        model = LinearModel(self.cost / self._scale, self.lower, self.upper, empty, np.zeros(0), np.zeros(0))
        self._session = HighsSession(model, algorithm="dual")
        self.bound = 0.0
        self.x: Floats = self.lower.copy()
        self.reduced_costs: Floats = self.cost.copy()

    @property
    def n_rows(self) -> int:
        """Number of rows found so far."""
        return sum(int(r.shape[0]) for r in self._rows)

    def _add(self, matrix: sparse.csr_array, right: Floats) -> None:
        self._rows.append(matrix)
        self._right.append(right)
        self._session.add_rows(matrix, right, np.full(len(right), np.inf))

    def add_cuts(self, cuts: list[Cut]) -> None:
        """Append cuts; one that nothing can satisfy proves that there is no safe pattern."""
        for cut in cuts:
            if float(cut.coefs @ self.upper[cut.cells]) < 1 - 1e-9:
                raise InfeasibleError(_NO_PATTERN, cells=(cut.demand.cell,))
        if not cuts:
            return
        indptr = np.concatenate(([0], np.cumsum([len(c.cells) for c in cuts])))
        cells = np.concatenate([c.cells for c in cuts]).astype(np.int64)
        coefs = np.concatenate([c.coefs for c in cuts])
        matrix = sparse.csr_array((coefs, cells, indptr), shape=(len(cuts), self.problem.n_cells))
        self._add(matrix, np.ones(len(cuts)))

    def add_simple_rows(self, x: Floats) -> int:
        """Append the bridges and the other rows of single relations that x violates; returns how many."""
        wrong = np.flatnonzero(~self._have_single & (self._single @ x < 1 - 1e-6))
        if len(wrong):
            self._have_single[wrong] = True
            self._add(sparse.csr_array(self._single[wrong]), np.ones(len(wrong)))
        return len(wrong) + self._add_bridges(x)

    @property
    def circular(self) -> bool:
        """Whether relations that close circles were found."""
        return self._circles is not None and self._circles.any

    def add_circles(self, x: Floats, *, until: float) -> int:
        """Append rows of relations that close a circle (`circles`) and that x violates; returns how many."""
        if self._circles is None:
            self._circles = Circles(self.problem)
        matrix, right = self._circles.rows(x, until=until)
        if len(right):
            self._add(matrix, right)
        return len(right)

    def _add_bridges(self, x: Floats, *, margin: float = 1e-6) -> int:
        relations = self.problem.relations
        if relations.n_rows == 0:
            return 0
        sums = np.add.reduceat(np.append(x[relations.cells], 0.0), relations.indptr[:-1])
        sums[np.diff(relations.indptr) == 0] = 0.0
        wrong = 2 * x[relations.cells] - sums[self._entry_row] > margin
        entries = np.flatnonzero(wrong & ~self._have_bridge & self._bridged[relations.cells])
        self._append_bridges(entries)
        return len(entries)

    def _append_bridges(self, entries: NDArray[np.int64]) -> None:
        if len(entries) == 0:
            return
        relations = self.problem.relations
        self._have_bridge[entries] = True
        rows = self._entry_row[entries]
        lengths = np.diff(relations.indptr)[rows]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        at = np.repeat(relations.indptr[rows] - indptr[:-1], lengths) + np.arange(int(indptr[-1]))
        cells = relations.cells[at].astype(np.int64)
        coefs = np.where(at == np.repeat(entries, lengths), -1.0, 1.0)
        matrix = sparse.csr_array((coefs, cells, indptr), shape=(len(entries), self.problem.n_cells))
        self._add(matrix, np.zeros(len(entries)))

    def relax(self) -> Floats:
        """Solve the linear relaxation with all bridges; its value is a lower bound."""
        while True:
            found = self._session.solve()
            if found.status is Status.INFEASIBLE:
                raise InfeasibleError(_NO_PATTERN)
            self.x = np.clip(found.values, 0.0, 1.0)
            self.reduced_costs = found.reduced_costs * self._scale
            self.bound = max(self.bound, found.objective * self._scale)
            if self.add_simple_rows(self.x) == 0:
                return self.x

    def exact_bound(self) -> Fraction:
        """What the relaxation with all rows so far proves, in exact arithmetic; in cost units."""
        found = self._session.solve()
        matrix, right = self.rows()
        model = LinearModel(self.cost, self.lower, self.upper, matrix, right, np.full(len(right), np.inf))
        return exact_bound(model, found.row_duals * self._scale)

    def integer(
        self,
        *,
        time_limit: float = math.inf,
        relative_gap: float = 0.0,
        fixed_out: Mask | None = None,
        fixed_in: Mask | None = None,
        start: Floats | None = None,
    ) -> Solution:
        """The cheapest integer pattern of the rows so far (objective and bound in cost units).

        `fixed_in` cells stay hidden, `fixed_out` cells stay published: with either, the bound is that of the rest only.
        """
        lower, upper = self.lower.copy(), self.upper.copy()
        if fixed_in is not None:
            lower[fixed_in] = upper[fixed_in]
        if fixed_out is not None:
            upper[fixed_out & (lower == 0)] = 0.0
        matrix, right = self.rows()
        model, cells = _shrink(self.cost / self._scale, lower, upper, matrix, right)
        values, bound = lower.copy(), float(self.cost @ lower)
        status = Status.OPTIMAL
        end = clock.now() + time_limit
        batches = _batches(model)
        for number, (part, columns) in enumerate(batches):
            # what is left of the time is shared by the parts still to do
            share = max(0.2, (end - clock.now()) / min(4, len(batches) - number))
            first = None if start is None else start[cells[columns]]
            found = _solve_integer(part, share, relative_gap, first)
            if not found.feasible:
                return Solution(found.status, math.inf, bound, np.zeros(0))
            status = status if found.status is Status.OPTIMAL else found.status
            values[cells[columns]] = np.rint(found.values)
            bound += found.bound * self._scale
        return Solution(status, float(self.cost @ values), bound, values)

    def greedy(self, pattern: Mask) -> Mask:
        """Satisfy all rows by adding, row by row, the cells that help most for their cost."""
        matrix, right = self.rows()
        x = np.maximum(pattern.astype(np.float64), self.lower)
        for _ in range(self.problem.n_cells):
            wrong = np.flatnonzero(matrix @ x < right - 1e-9)
            if len(wrong) == 0:
                break
            before = x.sum()
            clock.check()
            for row in wrong.tolist():
                part = slice(matrix.indptr[row], matrix.indptr[row + 1])
                cells, coefs = matrix.indices[part], matrix.data[part]
                lacking = right[row] - float(coefs @ x[cells])
                usable = (coefs > 0) & (x[cells] == 0) & (self.upper[cells] > 0)
                order = np.argsort(self.cost[cells[usable]] / np.minimum(coefs[usable], max(lacking, 1e-12)))
                for at in order.tolist():
                    if lacking <= 1e-9:
                        break
                    x[cells[usable][at]] = 1.0
                    lacking -= float(coefs[usable][at])
            if x.sum() == before:
                break
        return x > 0.5

    def rows(self) -> tuple[sparse.csr_array, Floats]:
        """All rows found so far."""
        n = self.problem.n_cells
        if not self._rows:
            return sparse.csr_array((0, n), dtype=np.float64), np.zeros(0)
        return sparse.csr_array(sparse.vstack(self._rows, format="csr")), np.concatenate(self._right)


def _shrink(
    cost: Floats, lower: Floats, upper: Floats, matrix: sparse.csr_array, right: Floats
) -> tuple[LinearModel, NDArray[np.int64]]:
    """Take fixed columns out and drop rows that hold anyway."""
    cells = np.flatnonzero(upper > lower)
    rest = right - matrix @ lower
    reach = matrix[:, cells]
    # the least the free part of a row can be: its negative entries at one
    least = -np.asarray(abs(reach).sum(axis=1) - reach.sum(axis=1)).ravel() / 2
    keep = np.flatnonzero(least < rest - 1e-9)
    inner = sparse.csr_array(reach[keep])
    n = len(cells)
    model = LinearModel(
        cost[cells], np.zeros(n), np.ones(n), inner, rest[keep], np.full(len(keep), np.inf), np.ones(n, dtype=bool)
    )
    return model, cells


def _batches(model: LinearModel) -> list[tuple[LinearModel, NDArray[np.int64]]]:
    """Split a model into independent parts; tiny ones are put together. Columns in no row go by their cost alone."""
    matrix = model.matrix
    rows, cols = matrix.shape
    ends = (np.repeat(np.arange(rows), np.diff(matrix.indptr)), rows + matrix.indices.astype(np.int64))
    graph = sparse.coo_array((np.ones(len(matrix.indices)), ends), shape=(rows + cols, rows + cols))
    labels = np.asarray(connected_components(graph, directed=False)[1])
    row_label, col_label = labels[:rows], labels[rows:]
    used = np.zeros(cols, dtype=bool)
    used[matrix.indices] = True
    names, sizes = np.unique(col_label[used], return_counts=True)
    batch_of = np.full(int(labels.max(initial=0)) + 1, -1, dtype=np.int64)
    batch_of[names] = np.cumsum(sizes) // _BATCH
    result = []
    for batch in np.unique(batch_of[names]).tolist():
        columns = np.flatnonzero(used & (batch_of[col_label] == batch))
        inside = np.flatnonzero(batch_of[row_label] == batch)
        n = len(columns)
        part = LinearModel(
            model.cost[columns],
            np.zeros(n),
            np.ones(n),
            sparse.csr_array(matrix[inside][:, columns]),
            model.row_lower[inside],
            model.row_upper[inside],
            np.ones(n, dtype=bool),
        )
        result.append((part, columns))
    return result


def _solve_integer(model: LinearModel, time_limit: float, relative_gap: float, start: Floats | None) -> Solution:
    session = HighsSession(model)
    session.set_option("mip_rel_gap", relative_gap)
    session.set_option("mip_abs_gap", 1e-7)
    if start is not None:
        session.start_from(start)
    return session.solve(time_limit=time_limit)
