# SPDX-License-Identifier: Apache-2.0
"""Routing: the cheapest further cells over which one primary can move as far as it must (after Kelly, Golden, Assad).

A linear program sends the needed movement through the table; hidden cells carry it free, others at their cost for
the share of their room that is used. The cells it uses make the demand safe for certain.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.arrays import Floats, Mask
from reticent.solve.highs import HighsSession
from reticent.solve.model import LinearModel
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.demands import Demand, Kind, rooms

_SIZES = (1500, 6000, 30000)
_QUICK = 250  # usable cells around the primary that are searched first when time is short
SMALL = 4000
"""Tables up to this size are searched as a whole."""


def route(
    problem: SuppressionProblem, pattern: Mask, demand: Demand, cost: Floats, *, quick: bool = False
) -> NDArray[np.int32] | None:
    """Cells to hide besides the pattern so that the demand is met; None if there is no way.

    `quick` takes the first way close by instead of the cheapest in a wider area.
    """
    usable = problem.candidates | problem.forced
    sizes = (_QUICK, *_SIZES) if quick else (_SIZES if problem.n_cells > SMALL else ())
    rounds = 1 if quick else 5
    for size in (*sizes, problem.n_cells):
        near = _surroundings(problem, demand.cell, usable, size)
        for sign in {Kind.UP: (1,), Kind.DOWN: (-1,)}.get(demand.kind, (1, -1)):
            found = _route_within(problem, near, pattern, demand, sign, cost, rounds)
            if found is not None:
                return found
        if near.sum() >= usable.sum() or size >= problem.n_cells:
            break
    return None


def _route_within(
    problem: SuppressionProblem, near: Mask, pattern: Mask, demand: Demand, sign: int, cost: Floats, rounds: int
) -> NDArray[np.int32] | None:
    part = problem.relations.restrict(near)
    cells, n = part.cells, len(part.cells)
    down, up = (room[cells] / demand.need for room in rooms(problem, demand))
    if demand.kind is Kind.MOVE:
        down, up = np.where(down > 0, 100.0, 0.0), np.where(up > 0, 100.0, 0.0)
    share = np.minimum(1.0, np.maximum(np.minimum(down, 1.0), np.minimum(up, 1.0)))
    price = np.where(pattern[cells], 0.0, cost[cells] / np.maximum(share, 1e-3))
    typical = float(np.median(price[price > 0])) if (price > 0).any() else 1.0
    price = price / typical + 1e-6  # a trace of cost keeps the way short
    place = int(np.searchsorted(cells, demand.cell))
    # One column per direction, as in Kelly, Golden and Assad (1992): a price on each stands for the absolute value. The
    # primary itself moves by exactly its need, and not back.
    low = np.zeros(2 * n)
    high = np.minimum(np.concatenate((up, down)), 1e4)
    low[[place, n + place]] = high[[place, n + place]] = 0.0
    if (up if sign > 0 else down)[place] < 1.0 - 1e-9:
        return None
    at = place if sign > 0 else n + place
    low[at] = high[at] = 1.0
    matrix = part.relations.matrix()
    zeros = np.zeros(part.relations.n_rows)
    both = sparse.csr_array(sparse.hstack((matrix, -matrix)))
    model = LinearModel(np.concatenate((price, price)), low, high, both, zeros, zeros)
    return _sparsest(model, price, cost[cells], pattern[cells], cells, rounds)


def _sparsest(
    model: LinearModel, price: Floats, cost: Floats, hidden: Mask, cells: NDArray[np.int32], rounds: int
) -> NDArray[np.int32] | None:
    """Solve with prices that fall on what is used: a few rounds turn a spread-out movement into a narrow one."""
    n = len(cells)
    session = HighsSession(model, algorithm="choose", presolve=True)
    columns = np.arange(2 * n, dtype=np.int32)
    best: NDArray[np.int32] | None = None
    best_cost = np.inf
    for _ in range(rounds):
        found = session.solve()
        if not found.feasible:
            return best
        moved = np.abs(found.values[:n] - found.values[n:])
        added = (moved > 1e-7) & ~hidden
        total = float(cost[added].sum())
        if total >= best_cost:
            break
        best, best_cost = cells[added], total
        # from here on only costs change: the last basis stays feasible
        session.set_option("simplex_strategy", 4)
        # Reweighting (Candès et al. 2008): hiding a cell costs the same however little of it is used, so a
        # price per unit falls with what was used last and concentrates the movement on few cells.
        weights = np.where(hidden, price, price / (moved + 0.05))
        session.set_cost(columns, np.concatenate((weights, weights)))
    return best


def _surroundings(problem: SuppressionProblem, cell: int, usable: Mask, size: int) -> Mask:
    """About `size` usable cells around one, step by step over the relations."""
    if size >= problem.n_cells:
        return usable
    matrix = problem.relations.matrix()
    near = np.zeros(problem.n_cells, dtype=bool)
    near[cell] = True
    while True:
        rows = np.flatnonzero(abs(matrix) @ near.astype(np.float64))
        wider = near.copy()
        wider[matrix[rows].indices] = True
        wider &= usable
        if wider.sum() > size or (wider == near).all():
            return wider if (wider == near).all() or near.sum() < 50 else near
        near = wider
