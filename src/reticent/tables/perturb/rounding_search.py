# SPDX-License-Identifier: Apache-2.0
"""Controlled rounding of tables that are too large for one integer program: the relaxation, a walk, and small programs.

The relaxation gives a bound and a start. Its inner cells are rounded, all totals are added up, and a walk of small movements
(`kernels.rounding`) brings every cell into its window. Then parts of the table are freed and rounded exactly.
Where totals do not follow from inner cells the walk is not possible: what the relaxation decided is fixed and the rest solved.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from reticent.base import clock
from reticent.base.arrays import Floats, Ints, Mask
from reticent.data.relations import Relations
from reticent.kernels.rounding import Movable, wander
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel, Solution, Status

PROPOSALS = 1000
"""Proposals of a walk for each inner cell that may move."""
PIECES = 20
"""This many looks at the clock in one walk."""
HEATS = (0.33, 0.13)
"""First and last heat of a walk, in bases: above, what the relaxation knows is lost; below, nothing moves."""
ROUNDS = 4
"""Walks, each with costlier cells where the one before left a window."""
QUIET = 12
"""This many small programs without gain end the search."""
MARGIN = 4
"""Steps beyond the window that are priced one by one."""
SECONDS = 10.0
"""The most that one small program may take."""


class Steps(NamedTuple):
    """Whole steps above the lower multiple of each cell (`floor`): least and most, and what the first and each further cost."""

    floor: Floats
    least: Floats
    most: Floats
    first: Floats
    further: Floats


def model_of(steps: Steps, relations: Relations, right: Floats) -> LinearModel:
    """Whole steps x with M·(floor + x) = right and the least cost.

    The cost is convex with a corner at each whole step, so x = first + above − below, each with its own price: the relaxation
    cannot go between two multiples for nothing. With one step the last two are not there.
    """
    matrix = sparse.csr_array(relations.matrix().astype(np.float64))
    target = right - matrix @ steps.floor
    low, high = steps.least, steps.most
    cost, least, most = steps.first, np.clip(low, 0, 1), np.clip(high, 0, 1)
    if bool((low < 0).any() or (high > 1).any()):
        matrix = sparse.csr_array(sparse.hstack([matrix, matrix, -matrix]))
        cost = np.concatenate([cost, steps.further, steps.further])
        least = np.concatenate([least, np.maximum(low - 1, 0), np.maximum(-high, 0)])
        most = np.concatenate([most, np.maximum(high - 1, 0), np.maximum(-low, 0)])
    return LinearModel(cost, least, most, matrix, target, target, integer=np.ones(len(cost), dtype=bool))


def taken_in(values: Floats, n_cells: int) -> Floats:
    """The steps of each cell from the columns of the model."""
    if len(values) == n_cells:
        return values
    first, above, below = values.reshape(3, n_cells)
    return first + above - below


def columns_of(taken: Floats, model: LinearModel) -> Floats:
    """The columns of the model from the steps of each cell."""
    if len(taken) == model.n_columns:
        return taken
    return np.concatenate([np.clip(taken, 0, 1), np.maximum(taken - 1, 0), np.maximum(-taken, 0)])


@dataclass(frozen=True)
class Unfolded:
    """Every cell as a sum of inner cells: `sums` (cells × cells, ones) has entries in the columns of inner cells only."""

    inner: Mask
    sums: sparse.csr_array

    @classmethod
    def of(cls, relations: Relations) -> "Unfolded | None":
        """Unfold totals into the cells below; None where a total does not follow from them in one way."""
        matrix = relations.matrix()
        signs = np.sign(matrix.data)
        negative = np.bincount(_row_of(matrix)[signs < 0], minlength=relations.n_rows)
        positive = np.diff(matrix.indptr) - negative
        total_sign = np.where(negative == 1, -1.0, 1.0)
        plain = bool((np.abs(matrix.data) == 1).all()) and bool(((negative == 1) | (positive == 1)).all())
        if not plain or bool(relations.rhs.any()):
            return None
        is_total = signs == total_sign[_row_of(matrix)]
        totals = matrix.indices[is_total]
        owners, first = np.unique(totals, return_index=True)
        inner = np.ones(relations.n_cells, dtype=bool)
        inner[owners] = False
        parts = matrix.copy()  # the matrix is shared
        parts.data = np.where(is_total, 0.0, 1.0)
        parts.eliminate_zeros()
        sums = _added_up(inner, owners, sparse.csr_array(parts[_row_of(matrix)[is_total][first]]))
        if sums is None or bool((sums.data != 1).any()) or bool(np.abs((matrix @ sums).data).max(initial=0.0) > 0):
            return None
        return cls(inner, sums)

    def rounded(self, steps: Steps, fractional: Floats) -> Ints:
        """Inner cells rounded to whole steps in their windows, and all totals added up from them."""
        own = steps.floor + np.clip(np.rint(fractional), steps.least, steps.most)
        return np.rint(self.sums @ np.where(self.inner, own, 0.0) - steps.floor).astype(np.int64)

    def movable(self, relations: Relations, may_move: Mask) -> Movable:
        """Inner cells that may move, what goes with them, and which others they may be exchanged with."""
        own = np.flatnonzero(self.inner & may_move)
        above = sparse.csc_array(self.sums)[:, own]
        above.sort_indices()
        beside = sparse.csr_array(abs(relations.matrix()))[:, own]
        beside = sparse.csr_array(beside[np.flatnonzero(np.diff(beside.indptr) > 1)])
        rows = sparse.csc_array(beside)
        return Movable(*(
            np.asarray(part, dtype=np.int64)
            for part in (own, above.indptr, above.indices, rows.indptr, rows.indices, beside.indptr, beside.indices)
        ))  # fmt: skip


def _row_of(matrix: sparse.csr_array) -> Ints:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _added_up(inner: Mask, owners: Ints, parts: sparse.csr_array) -> sparse.csr_array | None:
    """Each cell as a sum of inner cells, level by level; None where totals depend on each other in a circle."""
    n = len(inner)
    known = inner.copy()
    sums = sparse.csr_array(sparse.diags_array(inner.astype(np.float64)))
    waiting = np.arange(len(owners))
    while len(waiting):
        ready = waiting[parts[waiting] @ (~known).astype(np.float64) == 0]
        if not len(ready):
            return None
        place = sparse.csr_array((np.ones(len(ready)), (owners[ready], np.arange(len(ready)))), shape=(n, len(ready)))
        sums = sparse.csr_array(sums + place @ (parts[ready] @ sums))
        known[owners[ready]] = True
        waiting = waiting[~known[owners[waiting]]]
    sums.eliminate_zeros()
    return sums


def search(
    steps: Steps, relations: Relations, right: Floats, *, patience: float, time_limit: float, unit: float
) -> Solution:
    """A rounding near the least cost and a bound of it; a first one is looked for in the seconds of `patience`.

    `unit` is the cost of a whole base, by which heats are measured. The solution has the columns of `model_of`.
    """
    started = clock.peek()
    model = model_of(steps, relations, right)
    unfolded = Unfolded.of(relations)
    # simplex takes many times as long as an interior point on relaxations of this size
    share = 1.0 if unfolded is None else 0.7
    relaxed = solve(replace(model, integer=None), time_limit=share * patience, algorithm="interior")
    if relaxed.status is Status.INFEASIBLE or (unfolded is None and not relaxed.feasible):
        return relaxed
    if unfolded is None:
        return _relax_and_fix(model, relaxed, started + time_limit)
    # without a relaxation each cell by itself gives a start and a bound
    alone = np.where(model.cost < 0, model.col_upper, model.col_lower)
    fractional, bound = (relaxed.values, relaxed.objective) if relaxed.feasible else (alone, float(model.cost @ alone))
    movable = unfolded.movable(relations, steps.most > steps.least)
    start = unfolded.rounded(steps, taken_in(fractional, relations.n_cells))
    taken = _walk(steps, movable, start, started + patience, unit)
    if taken is None:
        return Solution(Status.STOPPED, np.nan, bound, np.zeros(0))
    values = columns_of(taken, model)
    best = Solution(Status.STOPPED, float(model.cost @ values), bound, values)
    best = _improve(model, best, started + time_limit)
    return _proved(model, best, started + time_limit - clock.peek())


def _walk(steps: Steps, movable: Movable, taken: Ints, until: float, unit: float) -> Floats | None:
    """Small movements until every cell is in its window; None if that was not reached by then."""
    least, most = steps.least.astype(np.int64), steps.most.astype(np.int64)
    words = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9], dtype=np.uint64)  # no secret depends on it
    beyond = np.full(len(taken), unit)
    for _ in range(ROUNDS):
        rises = _rises(steps, beyond)
        for heat in unit * np.geomspace(*HEATS, PIECES):
            if len(movable.own) == 0 or clock.peek() > until:
                break
            wander(movable, rises, taken, least, most, heat, PROPOSALS * len(movable.own) // PIECES, words)
        outside = (taken < least) | (taken > most)
        if not outside.any():
            return taken.astype(np.float64)
        beyond[outside] *= 2.0
    return None


def _rises(steps: Steps, beyond: Floats) -> Floats:
    """What a step up costs from each number of steps around the window; each step outside costs so much more."""
    reach = MARGIN + int(max(np.abs(steps.least).max(initial=0.0), steps.most.max(initial=0.0)))
    at = np.arange(-reach, reach + 2, dtype=np.float64)
    inside = steps.first[:, None] * np.clip(at, 0, 1)
    further = steps.further[:, None] * (np.maximum(at - 1, 0) + np.maximum(-at, 0))
    outside = np.maximum(steps.least[:, None] - at, 0) + np.maximum(at - steps.most[:, None], 0)
    return np.diff(inside + further + beyond[:, None] * outside, axis=1)


def _improve(model: LinearModel, best: Solution, until: float) -> Solution:
    """Free the cells of some random relations at a time and solve exactly; of more of them when that no longer helps."""
    rng = np.random.default_rng(1)  # which cells to free: no secret depends on it
    quiet, share = 0, 0.3
    while quiet < QUIET:
        left = until - clock.peek()
        if left <= 1 or best.objective - best.bound <= 1e-9 * max(1.0, abs(best.objective)):
            break
        chosen = np.flatnonzero(rng.random(model.n_rows) < share)
        free = np.zeros(model.n_columns, dtype=bool)
        free[sparse.csr_array(model.matrix[chosen]).indices] = True
        found = _solve_part(model, best.values, free, min(left, SECONDS))
        quiet += 1
        if found is None or found.status is not Status.OPTIMAL:
            share = max(0.02, 0.7 * share)
        if found is not None and found.objective < best.objective - 1e-9:
            best, quiet = replace(found, status=Status.STOPPED, bound=best.bound), 0
        elif found is not None:
            share = min(0.9, 1.1 * share)
    return best


def _proved(model: LinearModel, best: Solution, left: float) -> Solution:
    """What is left of the time goes into the whole program, which begins from the best so far."""
    if left <= 1 or best.objective - best.bound <= 1e-9 * max(1.0, abs(best.objective)):
        return best
    found = _solve_part(model, best.values, np.ones(model.n_columns, dtype=bool), left, gap=0.0)
    if found is None or found.objective > best.objective + 1e-9:
        return best
    return replace(found, bound=found.objective if found.status is Status.OPTIMAL else best.bound)


def _solve_part(
    model: LinearModel, values: Floats, free: Mask, seconds: float, *, gap: float = 1e-4
) -> Solution | None:
    """The model with all other columns fixed, and without them: the program is as small as what is free. None: nothing found."""
    columns = sparse.csc_array(model.matrix)[:, np.flatnonzero(free)]
    part = sparse.csr_array(columns)
    rows = np.flatnonzero(np.diff(part.indptr))
    rest = model.row_lower[rows] - (model.matrix @ np.where(free, 0.0, values))[rows]
    smaller = LinearModel(
        model.cost[free], model.col_lower[free], model.col_upper[free], sparse.csr_array(part[rows]), rest, rest,
        integer=np.ones(int(free.sum()), dtype=bool),
    )  # fmt: skip
    found = solve(smaller, time_limit=seconds, start=values[free], relative_gap=gap, strict=True)
    if not found.feasible:
        return None
    whole = values.copy()
    whole[free] = np.rint(found.values)
    return Solution(found.status, float(model.cost @ whole), np.nan, whole)


def _relax_and_fix(model: LinearModel, relaxed: Solution, until: float) -> Solution:
    """Keep what the relaxation decided and solve the rest, freeing more and more until it is feasible."""
    whole = np.rint(relaxed.values)
    settled = np.abs(relaxed.values - whole) < 1e-7
    rng = np.random.default_rng(0)  # which cells to free again: no secret depends on it
    for _ in range(8):
        left = until - clock.peek()
        if left <= 0:
            break
        found = _solve_part(model, whole, ~settled, left)
        if found is not None:
            return _improve(model, replace(found, status=Status.STOPPED, bound=relaxed.objective), until)
        settled &= rng.random(len(settled)) < 0.6
    return Solution(Status.STOPPED, np.nan, relaxed.objective, np.zeros(0))
