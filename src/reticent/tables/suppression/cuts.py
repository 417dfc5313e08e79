"""Cuts: inequalities Σ coef·x ≥ 1 that every safe pattern satisfies, found by attacking an unsafe one.

For any combination y of relations, the movement of a primary p equals Σ dᵢ·zᵢ with d = e_p − yᵀM, so a pattern must
hide cells whose rooms, weighted by |dᵢ|, add up to the need (Fischetti and Salazar, Management Science 47, 2001).
The attacker's program on a (possibly fractional) pattern yields the y of the most violated one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.data.relations import Relations
from reticent.solve.highs import HighsSession
from reticent.solve.model import LinearModel, Status
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.demands import Demand, Kind, rooms

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
_NOISE = 1e-7
_WHOLE_TABLE = 4000  # tables up to this size are attacked as a whole, larger ones near the cell


@dataclass(frozen=True, eq=False)
class Cut:
    """Σ coefs·x[cells] ≥ 1 for every safe pattern; `blocking` are never-hidden cells that would have helped."""

    cells: NDArray[np.int32]
    coefs: Floats
    demand: Demand
    blocking: NDArray[np.int32]


class Separator:
    """Finds cuts for one problem; `cost` steers them away from cheap cells, which makes them strong."""

    def __init__(self, problem: SuppressionProblem, cost: Floats) -> None:
        self.problem = problem
        self.usable = problem.candidates | problem.forced
        middle = float(np.median(cost[problem.candidates])) if problem.candidates.any() else 1.0
        ratio = max(middle, 1e-12) / np.maximum(cost, 1e-3 * max(middle, 1e-12))
        self._trace = 1e-3 * np.clip(ratio, 0.05, 20.0)
        self._whole = problem.n_cells <= _WHOLE_TABLE

    def separate(self, x: Floats, demand: Demand) -> Cut | None:
        """A cut that the pattern x violates, or None when the demand is met."""
        coefs = np.zeros(self.problem.n_cells)
        for sign in _signs(demand.kind):
            found = self._one_direction(x, demand, sign)
            if found is None:
                return None
            coefs = np.maximum(coefs, found) if demand.kind is Kind.MOVE else coefs + found
        return self._finish(x, demand, coefs)

    def _one_direction(self, x: Floats, demand: Demand, sign: int) -> Floats | None:
        down, up = rooms(self.problem, demand)
        for depth in (None,) if self._whole else (2, 5, 12, None):
            part = self._near(demand.cell, x, depth)
            for cap in (demand.need, np.inf):
                found = self._dual(part, x, demand, sign, np.minimum(down, cap), np.minimum(up, cap))
                if found is None:
                    continue
                weights = np.where(found > 0, found * _finite(up), -found * _finite(down))
                weights = np.where(found == 0, 0.0, np.minimum(weights, demand.need))
                weights[demand.cell] = 0.0
                if float(weights[self.usable] @ x[self.usable]) < demand.need * (1 - 1e-6):
                    return weights
        return None

    def _near(self, cell: int, x: Floats, depth: int | None) -> tuple[NDArray[np.int32], Relations]:
        """Relations within `depth` steps of a cell over hidden cells (all of them if None): any part gives valid cuts."""
        relations = self.problem.relations
        if depth is None and self._whole:
            rows = np.arange(relations.n_rows)
        else:
            rows = _ball(relations, cell, x > 1e-9, depth)
        return _rows_of(relations, rows, self.usable)

    def _dual(
        self,
        part: tuple[NDArray[np.int32], Relations],
        x: Floats,
        demand: Demand,
        sign: int,
        down: Floats,
        up: Floats,
    ) -> Floats | None:
        """The vector d of the attacker's program for one direction, over all cells; None if it reaches the need."""
        cells, inner = part
        scale = demand.need
        share = np.minimum(1.0, x[cells] + self._trace[cells])
        cost = np.zeros(len(cells))
        place = int(np.searchsorted(cells, demand.cell))
        cost[place] = float(sign)
        low, high = -np.minimum(down[cells] / scale, 1e4) * share, np.minimum(up[cells] / scale, 1e4) * share
        low[place], high[place] = -2.0, 2.0
        zeros = np.zeros(inner.n_rows)
        model = LinearModel(cost, low, high, inner.matrix(), zeros, zeros, maximise=True)
        found = HighsSession(model, algorithm="dual", presolve=False).solve()
        if found.status is not Status.OPTIMAL:
            return None
        d = np.zeros(self.problem.n_cells)
        d[cells] = cost - np.asarray(inner.matrix().T @ found.row_duals)
        d[np.abs(d) < _NOISE] = 0.0
        if abs(d[demand.cell]) > 0.5:
            return None
        return d

    def _finish(self, x: Floats, demand: Demand, weights: Floats) -> Cut | None:
        problem = self.problem
        given = float(weights[problem.forced].sum())
        rest = demand.need - given
        if rest <= demand.need * 1e-9:
            return None
        cells = np.flatnonzero(problem.candidates & (weights > 0)).astype(np.int32)
        coefs = np.minimum(1.0, weights[cells] / rest)
        if float(coefs @ x[cells]) >= 1 - 1e-6:
            return None
        blocking = np.flatnonzero(~self.usable & (weights > 0)).astype(np.int32)
        return Cut(cells, coefs, demand, blocking)


def _signs(kind: Kind) -> tuple[int, ...]:
    return {Kind.UP: (1,), Kind.DOWN: (-1,), Kind.SLIDE: (1, -1), Kind.MOVE: (1, -1)}[kind]


def _finite(room: Floats) -> Floats:
    return np.minimum(room, 1e30)


def _ball(relations: Relations, cell: int, support: Mask, depth: int | None) -> NDArray[np.int64]:
    """Numbers of the relations reached from a cell in `depth` steps over cells of the support."""
    indptr, rows_by_cell, _ = relations.by_cell
    seen_rows: set[int] = set()
    seen_cells = {cell}
    front = [cell]
    step = 0
    while front and (depth is None or step < depth):
        fresh: list[int] = []
        for item in front:
            for row in rows_by_cell[indptr[item] : indptr[item + 1]].tolist():
                if row not in seen_rows:
                    seen_rows.add(row)
                    inside = relations.cells[relations.indptr[row] : relations.indptr[row + 1]]
                    fresh.extend(inside[support[inside]].tolist())
        front = [c for c in dict.fromkeys(fresh) if c not in seen_cells]
        seen_cells.update(front)
        step += 1
    return np.array(sorted(seen_rows), dtype=np.int64)


def _rows_of(relations: Relations, rows: NDArray[np.int64], usable: Mask) -> tuple[NDArray[np.int32], Relations]:
    """Some relations over the usable cells in them, renumbered; the cells come sorted."""
    lengths = np.diff(relations.indptr)[rows]
    starts = relations.indptr[rows]
    at = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) + np.arange(int(lengths.sum()))
    keep = usable[relations.cells[at]]
    row_of = np.repeat(np.arange(len(rows)), lengths)[keep]
    cells, number = np.unique(relations.cells[at][keep], return_inverse=True)
    counts = np.bincount(row_of, minlength=len(rows))
    indptr = np.concatenate(([0], np.cumsum(counts)))
    inner = Relations.from_arrays(len(cells), indptr, number, relations.coefs[at][keep])
    return cells.astype(np.int32), inner
