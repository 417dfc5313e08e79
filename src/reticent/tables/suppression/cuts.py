"""Cuts: inequalities Σ coef·x ≥ 1 that every safe pattern satisfies, found by attacking an unsafe one.

For any combination y of relations, the movement of a primary p equals Σ dᵢ·zᵢ with d = e_p − yᵀM, so a pattern must
hide cells whose rooms, weighted by |dᵢ|, add up to the need (Fischetti and Salazar, Management Science 47, 2001).
The attacker's program on a (possibly fractional) pattern yields the y of the most violated one.
"""

from collections.abc import Iterator
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
_WHOLE_TABLE = 300  # tables up to this size are attacked as a whole, larger ones near the cell


@dataclass(frozen=True, eq=False)
class Cut:
    """Σ coefs·x[cells] ≥ 1 for every safe pattern, from the combination of relations `rows` with weights `duals`."""

    cells: NDArray[np.int32]
    coefs: Floats
    demand: Demand
    rows: NDArray[np.int64]
    duals: Floats


@dataclass(frozen=True, eq=False)
class _Half:
    """One direction of a cut: how much each cell could help, and the relations it comes from."""

    cells: NDArray[np.int32]
    weights: Floats
    rows: NDArray[np.int64]
    duals: Floats
    symmetric: bool  # all cells concerned, also those without room this way, have as much room the other way


@dataclass(frozen=True, eq=False)
class _Part:
    """Some relations over the usable cells in them (sorted), renumbered."""

    cells: NDArray[np.int32]
    relations: Relations
    rows: NDArray[np.int64]


class Separator:
    """Finds cuts for one problem; `cost` steers them away from cheap cells, which makes them strong."""

    def __init__(self, problem: SuppressionProblem, cost: Floats) -> None:
        self.problem = problem
        self.usable = problem.candidates | problem.forced
        middle = float(np.median(cost[problem.candidates])) if problem.candidates.any() else 1.0
        ratio = max(middle, 1e-12) / np.maximum(cost, 1e-3 * max(middle, 1e-12))
        self._trace = 1e-3 * np.clip(ratio, 0.05, 20.0)
        self._whole: _Part | None = None
        if problem.n_cells <= _WHOLE_TABLE:
            self._whole = _rows_of(problem.relations, np.arange(problem.relations.n_rows), self.usable)
        self._rooms = {kind: rooms(problem, Demand(0, kind, 1.0)) for kind in Kind}

    def separate(self, x: Floats, demand: Demand) -> Cut | None:
        """A cut that the pattern x violates, or None when the demand is met."""
        halves: list[_Half] = []
        for sign in _signs(demand.kind):
            half = self._one_direction(x, demand, sign)
            if half is None:
                return None
            halves.append(half)
            if demand.kind is Kind.MOVE and half.symmetric:
                break
        return self._finish(x, demand, halves)

    def _one_direction(self, x: Floats, demand: Demand, sign: int) -> _Half | None:
        # A trace of room for published cells chooses strong cuts but hides slight failures: less of it, then none.
        for trace in (1.0, 1e-3, 0.0):
            for part in self._parts(demand.cell, x):
                half = self._in_part(part, x, demand, sign, trace)
                if half is not None:
                    return half
        return None

    def _in_part(self, part: _Part, x: Floats, demand: Demand, sign: int, trace: float) -> _Half | None:
        down, up = (room[part.cells] for room in self._rooms[demand.kind])
        if demand.known:
            known = np.isin(part.cells, demand.known)
            down[known] = up[known] = 0.0
        for cap in (demand.need,) if demand.kind is Kind.MOVE else (demand.need, np.inf):
            limits = (np.minimum(down, cap), np.minimum(up, cap))
            found = self._dual(part, x, demand, sign, limits, trace)
            if found is None:
                continue
            d, duals = found
            weights = np.where(d > 0, d * np.minimum(up, 1e30), -d * np.minimum(down, 1e30))
            weights = np.where(d == 0, 0.0, np.minimum(weights, demand.need))
            if demand.kind is Kind.MOVE:
                # however small its share in the combination, any cell with room can give some movement
                weights = (weights > 0).astype(np.float64)
            weights[part.cells == demand.cell] = 0.0
            if float(weights @ x[part.cells]) < demand.need * (1 - 1e-7):
                used = weights > 0
                active = np.abs(duals) > _NOISE
                symmetric = bool((down == up)[d != 0].all())
                return _Half(part.cells[used], weights[used], part.rows[active], duals[active], symmetric)
        return None

    def _parts(self, cell: int, x: Floats) -> Iterator[_Part]:
        """Growing neighbourhoods of a cell over hidden cells; any set of relations gives valid cuts."""
        if self._whole is not None:
            yield self._whole
            return
        before = -1
        for depth in (2, 4, 6, 9, 14, 30, None):
            rows = _ball(self.problem.relations, cell, x, depth)
            if len(rows) == before:
                return
            before = len(rows)
            yield _rows_of(self.problem.relations, rows, self.usable)

    def _dual(
        self, part: _Part, x: Floats, demand: Demand, sign: int, limits: tuple[Floats, Floats], trace: float
    ) -> tuple[Floats, Floats] | None:
        """d over the cells of the part and the duals y of its rows, from the attacker's program for one direction."""
        cells, matrix = part.cells, part.relations.matrix()
        share = np.minimum(1.0, x[cells] + trace * self._trace[cells])
        cost = np.zeros(len(cells))
        place = int(np.searchsorted(cells, demand.cell))
        cost[place] = float(sign)
        low = -np.minimum(limits[0] / demand.need, 1e4) * share
        high = np.minimum(limits[1] / demand.need, 1e4) * share
        low[place], high[place] = -2.0, 2.0
        zeros = np.zeros(part.relations.n_rows)
        model = LinearModel(cost, low, high, matrix, zeros, zeros, maximise=True)
        found = HighsSession(model, algorithm="choose", presolve=True).solve()
        if found.status is not Status.OPTIMAL:
            return None
        d = cost - np.asarray(matrix.T @ found.row_duals)
        d[np.abs(d) < _NOISE] = 0.0
        return None if abs(d[place]) > 0.5 else (d, found.row_duals)

    def _finish(self, x: Floats, demand: Demand, halves: list[_Half]) -> Cut | None:
        problem = self.problem
        all_cells = np.concatenate([h.cells for h in halves])
        cells, number = np.unique(all_cells, return_inverse=True)
        weights = np.zeros(len(cells))
        if demand.kind is Kind.MOVE:
            np.maximum.at(weights, number, np.concatenate([h.weights for h in halves]))
        else:
            np.add.at(weights, number, np.concatenate([h.weights for h in halves]))
        rest = demand.need - float(weights[problem.forced[cells]].sum())
        if rest <= demand.need * 1e-9:
            return None
        free = problem.candidates[cells]
        cells, coefs = cells[free], np.minimum(1.0, weights[free] / rest)
        if float(coefs @ x[cells]) >= 1 - 1e-7:
            return None
        rows = np.concatenate([h.rows for h in halves])
        return Cut(cells.astype(np.int32), coefs, demand, rows, np.concatenate([h.duals for h in halves]))


def blocking_cells(problem: SuppressionProblem, cut: Cut) -> NDArray[np.int32]:
    """Cells that would help the demand of a cut but may never be hidden."""
    combined = np.asarray(problem.relations.matrix()[cut.rows].T @ cut.duals)
    closed = ~(problem.candidates | problem.forced)
    return np.flatnonzero(closed & (np.abs(combined) > _NOISE)).astype(np.int32)


def _signs(kind: Kind) -> tuple[int, ...]:
    return {Kind.UP: (1,), Kind.DOWN: (-1,), Kind.SLIDE: (1, -1), Kind.MOVE: (1, -1)}[kind]


def _ball(relations: Relations, cell: int, x: Floats, depth: int | None) -> NDArray[np.int64]:
    """Numbers of the relations reached from a cell in `depth` steps over cells that x hides, if only in part."""
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
                    fresh.extend(inside[x[inside] > 1e-9].tolist())
        front = [c for c in dict.fromkeys(fresh) if c not in seen_cells]
        seen_cells.update(front)
        step += 1
    return np.array(sorted(seen_rows), dtype=np.int64)


def _rows_of(relations: Relations, rows: NDArray[np.int64], usable: Mask) -> _Part:
    lengths = np.diff(relations.indptr)[rows]
    starts = relations.indptr[rows]
    at = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) + np.arange(int(lengths.sum()))
    keep = usable[relations.cells[at]]
    row_of = np.repeat(np.arange(len(rows)), lengths)[keep]
    cells, number = np.unique(relations.cells[at][keep], return_inverse=True)
    counts = np.bincount(row_of, minlength=len(rows))
    indptr = np.concatenate(([0], np.cumsum(counts)))
    inner = Relations.from_arrays(len(cells), indptr, number, relations.coefs[at][keep])
    return _Part(cells.astype(np.int32), inner, rows)
