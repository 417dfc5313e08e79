# SPDX-License-Identifier: Apache-2.0
"""Cuts: inequalities Σ coef·x ≥ 1 that every safe pattern satisfies, found by attacking an unsafe one.

For any combination y of relations, the movement of a primary p equals Σ dᵢ·zᵢ with d = e_p − yᵀM, so a pattern must
hide cells whose rooms, weighted by |dᵢ|, add up to the need (Fischetti and Salazar, Management Science 47, 2001).
The attacker's program on a (possibly fractional) pattern yields the y of the most violated one.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base import clock
from reticent.base.arrays import Floats, Mask
from reticent.data.relations import Relations
from reticent.kernels.ball import ball
from reticent.solve.highs import HighsSession
from reticent.solve.model import LinearModel, Solution, Status
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.demands import Demand, Kind, rooms

_NOISE = 1e-7
_SMALL = 150  # columns of a program that is solved without presolve
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
class _Combination:
    """Σ d·z over `cells` (sorted) is zero for every movement, by the relations `rows` with weights `duals`."""

    cells: NDArray[np.int32]
    d: Floats
    rows: NDArray[np.int64]
    duals: Floats


@dataclass(frozen=True, eq=False)
class _Part:
    """Some relations over the usable cells in them (sorted), renumbered; `row_of` has the row of each entry."""

    cells: NDArray[np.int32]
    relations: Relations
    rows: NDArray[np.int64]
    row_of: NDArray[np.int64]

    def program(self, cost: Floats, low: Floats, high: Floats, place: int) -> LinearModel:
        """Movements within low and high; cells of one row only, except for `place`, are not columns but width of that row."""
        relations = self.relations
        shared = np.bincount(relations.cells, minlength=len(self.cells)) > 1
        shared[place] = True
        column = shared[relations.cells]
        own, row_of = relations.cells[~column], self.row_of[~column]
        ends = np.sort((relations.coefs[~column] * low[own], relations.coefs[~column] * high[own]), axis=0)
        least, most = (np.bincount(row_of, end, minlength=relations.n_rows).astype(np.float64) for end in ends)
        number = np.cumsum(shared) - 1
        indptr = np.concatenate(([0], np.cumsum(np.bincount(self.row_of[column], minlength=relations.n_rows))))
        entries = (relations.coefs[column].astype(np.float64), number[relations.cells[column]], indptr)
        matrix = sparse.csr_array(entries, shape=(relations.n_rows, int(shared.sum())))
        return LinearModel(cost[shared], low[shared], high[shared], matrix, -most, -least, maximise=True)


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
        self._recent: dict[int, list[_Combination]] = {}
        self._session: HighsSession | None = None

    def separate_all(self, x: Floats, demands: list[Demand], *, until: float = math.inf) -> list[Cut]:
        """Cuts that the pattern x violates, for as many demands as there is time for (one at least).

        A combination of relations that reveals one primary often reveals its neighbours: it is tried before a program.
        """
        cuts: list[Cut] = []
        self._recent = {}
        for demand in demands:
            if cuts and clock.now() > until:
                break
            cut = self.separate(x, demand)
            if cut is not None:
                cuts.append(cut)
        self._recent = {}
        return cuts

    def separate(self, x: Floats, demand: Demand) -> Cut | None:
        """A cut that the pattern x violates, or None when the demand is met."""
        halves: list[_Half] = []
        for sign in _signs(demand.kind):
            half = self._remembered(x, demand, sign) or self._one_direction(x, demand, sign)
            if half is None:
                return None
            halves.append(half)
            if demand.kind is Kind.MOVE and half.symmetric:
                break
        return self._finish(x, demand, halves)

    def _remembered(self, x: Floats, demand: Demand, sign: int) -> _Half | None:
        """A combination found for another demand of this round that serves this one too."""
        for found in self._recent.get(demand.cell, []):
            place = int(np.searchsorted(found.cells, demand.cell))
            factor = -sign / found.d[place]
            d = factor * found.d
            d[place] = 0.0
            half = self._half(found.cells, d, factor * found.duals, found.rows, x, demand)
            if half is not None:
                return half
        return None

    def _remember(self, part: _Part, d: Floats, duals: Floats, place: int, sign: int) -> None:
        """Keep a combination for the primaries in it."""
        whole = d.copy()
        whole[place] = -float(sign)
        used, active = whole != 0, np.abs(duals) > _NOISE
        found = _Combination(part.cells[used], whole[used], part.rows[active], duals[active])
        for cell in found.cells[self.problem.primary[found.cells]].tolist():
            self._recent.setdefault(cell, []).append(found)

    def _one_direction(self, x: Floats, demand: Demand, sign: int) -> _Half | None:
        # A trace of room for published cells chooses strong cuts but hides slight failures: less of it, then none.
        for trace in (1.0, 1e-3, 0.0):
            for part in self._parts(demand.cell, x):
                half = self._in_part(part, x, demand, sign, trace)
                if half is not None:
                    return half
        return None

    def _in_part(self, part: _Part, x: Floats, demand: Demand, sign: int, trace: float) -> _Half | None:
        down, up = self._room_for(part.cells, demand)
        # Rooms above the need add nothing to a cut (coefficients are cut at the need, Fischetti and Salazar 2001), but
        # the capped program may see no failure where the one with full rooms does.
        for cap in (demand.need,) if demand.kind is Kind.MOVE else (demand.need, np.inf):
            limits = (np.minimum(down, cap), np.minimum(up, cap))
            found = self._dual(part, x, demand, sign, limits, trace)
            if found is None:
                continue
            d, duals = found
            active = np.abs(duals) > _NOISE
            half = self._half(part.cells, d, duals[active], part.rows[active], x, demand)
            if half is not None:
                self._remember(part, d, duals, int(np.searchsorted(part.cells, demand.cell)), sign)
                return half
        return None

    def _room_for(self, cells: NDArray[np.int32], demand: Demand) -> tuple[Floats, Floats]:
        down, up = (room[cells] for room in self._rooms[demand.kind])
        if demand.known:
            known = np.isin(cells, demand.known)
            down[known] = up[known] = 0.0
        return down, up

    def _half(
        self, cells: NDArray[np.int32], d: Floats, duals: Floats, rows: NDArray[np.int64], x: Floats, demand: Demand
    ) -> _Half | None:
        """What the cells of a combination could add to the movement of the demand's cell, if that is too little."""
        down, up = self._room_for(cells, demand)
        weights = np.where(d > 0, d * np.minimum(up, 1e30), -d * np.minimum(down, 1e30))
        weights = np.where(d == 0, 0.0, np.minimum(weights, demand.need))
        if demand.kind is Kind.MOVE:
            # however small its share in the combination, any cell with room can give some movement
            weights = (weights > 0).astype(np.float64)
        weights[cells == demand.cell] = 0.0
        if float(weights @ x[cells]) >= demand.need * (1 - 1e-7):
            return None
        used = weights > 0
        symmetric = bool((down == up)[d != 0].all())
        return _Half(cells[used], weights[used], rows, duals, symmetric)

    def _parts(self, cell: int, x: Floats) -> Iterator[_Part]:
        """Growing neighbourhoods of a cell over hidden cells; any set of relations gives valid cuts."""
        if self._whole is not None:
            yield self._whole
            return
        relations = self.problem.relations
        by_cell, rows_of, _ = relations.by_cell
        hidden = x > 1e-9
        before = -1
        for depth in (2, 4, 6, 9, 14, 30, relations.n_rows):
            rows = ball(relations.indptr, relations.cells, by_cell, rows_of, hidden, cell, depth)
            if len(rows) == before:
                return
            before = len(rows)
            yield _rows_of(self.problem.relations, rows, self.usable)

    def _dual(
        self, part: _Part, x: Floats, demand: Demand, sign: int, limits: tuple[Floats, Floats], trace: float
    ) -> tuple[Floats, Floats] | None:
        """d over the cells of the part and the duals y of its rows, from the attacker's program for one direction."""
        cells, relations = part.cells, part.relations
        share = np.minimum(1.0, x[cells] + trace * self._trace[cells])
        place = int(np.searchsorted(cells, demand.cell))
        low = -np.minimum(limits[0] / demand.need, 1e4) * share
        high = np.minimum(limits[1] / demand.need, 1e4) * share
        low[place], high[place] = -2.0, 2.0
        cost = np.zeros(len(cells))
        cost[place] = float(sign)
        found = self._solve(part.program(cost, low, high, place))
        if found.status is not Status.OPTIMAL or not len(found.row_duals):
            return None
        d = cost - np.bincount(relations.cells, relations.coefs * found.row_duals[part.row_of], minlength=len(cells))
        d[np.abs(d) < _NOISE] = 0.0
        return None if abs(d[place]) > 0.5 else (d, found.row_duals)

    def _solve(self, model: LinearModel) -> Solution:
        # nothing moving is feasible: a small program is done before presolve would be
        if model.n_columns >= _SMALL:
            return HighsSession(model, algorithm="choose", presolve=True).solve()
        if self._session is None:
            self._session = HighsSession(model, algorithm="primal")
        else:
            self._session.load(model)
        return self._session.solve()

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
    return _Part(cells.astype(np.int32), inner, rows, row_of)
