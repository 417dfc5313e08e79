"""Many primaries at once: one movement of the table that takes all of them as far as they must go.

A movement within the smaller of the rooms up and down may be made both ways, so the cells it uses give every primary it
serves both of its levels. Signs that can be had together come from a first programme with random wishes; the second
looks for the movement that uses few and cheap cells. Two programmes instead of two for each primary.
"""

import time

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.solve.highs import HighsSession
from reticent.solve.model import LinearModel
from reticent.tables.problem import SuppressionProblem

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
_FREE = 1e-4  # price of moving a cell that is hidden anyway
_FAILURE = 1e4  # price of a level that is not reached, against the typical price of a cell
_SHARPER = 3  # times the prices are made to favour the cells used so far


def move_together(
    problem: SuppressionProblem,
    pattern: Mask,
    lost: NDArray[np.int32],
    cost: Floats,
    rng: np.random.Generator,
    *,
    until: float,
) -> Mask:
    """The pattern with the cells of a movement that serves as many of the lost primaries as it can."""
    part = problem.relations.restrict(problem.candidates | problem.forced)
    cells = part.cells
    room = np.minimum(problem.values - problem.lower_bound, problem.upper_bound - problem.values)[cells]
    scale = float(np.median(room[room > 0])) if (room > 0).any() else 1.0
    room = np.minimum(room / scale, 1e5)
    levels = np.maximum(problem.upper_protection, problem.lower_protection)
    levels = np.maximum(levels, problem.sliding_protection / 2)[cells] / scale
    places = np.searchsorted(cells, lost)
    # without levels any movement will do; beyond its room nothing can be asked of a cell
    need = np.minimum(np.maximum(levels[places], 1e-3), room[places])
    places, need = places[need > 0], need[need > 0]
    matrix = part.relations.matrix()
    signs = _signs(matrix, room, places, need, rng)
    price = np.where(pattern[cells], 0.0, np.maximum(cost[cells], 0.0) / np.clip(room, 1e-3, 10.0))
    typical = float(np.median(price[price > 0])) if (price > 0).any() else 1.0
    model = _programme(matrix, room, places, need, signs, price / typical + _FREE)
    grown = pattern.copy()
    grown[cells[_used(model, len(cells), pattern[cells], until)]] = True
    return grown


def _signs(
    matrix: sparse.csr_array, room: Floats, places: NDArray[np.int64], need: Floats, rng: np.random.Generator
) -> Floats:
    """Directions in which the primaries can go at the same time."""
    wish = np.zeros(len(room))
    drawn = rng.choice((-1.0, 1.0), len(places))
    wish[places] = drawn * rng.uniform(0.5, 1.5, len(places)) / need
    limit = np.minimum(room, max(1.0, 20 * float(need.max(initial=0.0))))
    zeros = np.zeros(matrix.shape[0])
    model = LinearModel(wish, -limit, limit, matrix, zeros, zeros, maximise=True)
    found = HighsSession(model, algorithm="choose", presolve=True).solve()
    if not found.feasible:
        return drawn
    moved = found.values[places]
    return np.where(np.abs(moved) > 1e-9, np.sign(moved), drawn)


def _programme(
    matrix: sparse.csr_array, room: Floats, places: NDArray[np.int64], need: Floats, signs: Floats, price: Floats
) -> LinearModel:
    """Columns: movements up, movements down, what each primary falls short of its need."""
    n, count = len(room), len(places)
    chosen = sparse.csr_array((signs, (np.arange(count), places)), shape=(count, n))
    nothing = sparse.csr_array((matrix.shape[0], count))
    rows = [
        sparse.hstack((matrix, -matrix, nothing)),
        sparse.hstack((chosen, -chosen, sparse.eye_array(count))),
    ]
    zeros = np.zeros(matrix.shape[0])
    return LinearModel(
        np.concatenate((price, price, _FAILURE / need)),
        np.zeros(2 * n + count),
        np.concatenate((room, room, need)),
        sparse.csr_array(sparse.vstack(rows, format="csr")),
        np.concatenate((zeros, need)),
        np.concatenate((zeros, np.full(count, np.inf))),
    )


def _used(model: LinearModel, n: int, hidden: Mask, until: float) -> Mask:
    """The cells that the cheapest movement uses, with prices that fall on what is used as long as there is time."""
    session = HighsSession(model, algorithm="choose", presolve=True)
    columns = np.arange(2 * n, dtype=np.int32)
    used = np.zeros(n, dtype=bool)
    for _ in range(1 + _SHARPER):
        start = time.monotonic()
        found = session.solve()
        if not found.feasible:
            break
        moved = np.abs(found.values[:n] - found.values[n : 2 * n])
        used = moved > 1e-7
        if time.monotonic() + 2 * (time.monotonic() - start) > until:
            break
        # only the prices change: the last basis stays feasible
        session.set_option("simplex_strategy", 4)
        price = np.where(hidden, _FREE, model.cost[:n] / (moved + 0.05))
        session.set_cost(columns, np.concatenate((price, price)))
    return used
