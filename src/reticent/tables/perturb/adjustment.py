# SPDX-License-Identifier: Apache-2.0
"""Controlled tabular adjustment: sensitive cells leave (a − lower, a + upper), everything else moves as little as it can.

How far beyond its level a sensitive cell moves is drawn (`movements.py`). The table stays additive and within its
bounds. L1 and L∞ are mixed-integer programs over the direction of each sensitive cell; L2 takes directions (found by L1,
given, or drawn) and solves a quadratic program.
Sources: Castro (2006); Castro and González (2011) for the block descent; SESRIC 441–470; TORRA.
"""

from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base import clock
from reticent.base.arrays import Floats, Mask, Words
from reticent.base.checks import check_between, check_choice, check_options
from reticent.base.errors import InfeasibleError, ParameterError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel, Solution, Status
from reticent.solve.quadratic import QuadraticModel, solve_quadratic
from reticent.tables.perturb.movements import Movements, still_cells, with_movements
from reticent.tables.perturb.rounding import round_controlled
from reticent.tables.problem import SuppressionProblem

OWNER = "adjustment"
NORMS = ("l1", "l2", "linf")
SIGNS = ("free", "up", "down", "random")
SHARES = (1.0, 0.5, 0.25)
LEAST_SPREAD = 0.25
"""Movements that hardly differ would again be known from the level."""
BLOCK = 60
"""This many directions are decided together when the table is too large for one program."""


@dataclass(frozen=True)
class Adjusted:
    """Adjusted values, the direction of each sensitive cell, the weighted distance, its bound, and how it ended.

    `drawn` says that movements beyond the levels came from a secret.
    """

    values: Floats = field(repr=False)
    up: Mask = field(repr=False)
    norm: str
    distance: float
    bound: float | None
    status: str
    seconds: float
    drawn: bool = True

    def summary(self) -> dict[str, float | str | None]:
        """Plain numbers."""
        return {
            "norm": self.norm,
            "distance": self.distance,
            "bound": self.bound,
            "status": self.status,
            "seconds": round(self.seconds, 3),
        }


class AdjustmentWishes(TypedDict, total=False):
    """What else may be said of an adjustment; `adjust` says what each means."""

    norm: Literal["l1", "l2", "linf"]
    weights: Floats | None
    signs: str | Mask
    fixed: Mask | None
    largest_change: float | None
    integers: bool
    step: float | None
    time_limit: float
    progress: Progress


def adjust(
    problem: SuppressionProblem,
    *,
    secret: Secret | None,
    cells: Words | None = None,
    spread: float = 1.0,
    **wishes: Unpack[AdjustmentWishes],
) -> Adjusted:
    """Move every primary cell out of its protection interval, at the least distance of the others.

    How far beyond its level a primary cell moves is drawn from the secret (exponentially, on average `spread` levels),
    keyed by `cells`, a stable number of each cell (default: its position), and by all that it stands beside. Where no table
    fits that, a half and a quarter of it are tried. Without a secret every primary cell moves by its level and no further, as
    in textbooks: whoever knows the level is left with two candidates, and `attack` says so. `signs` is `free` (chosen for the
    least distance), `up`, `down`, `random` (drawn from the secret: an attacker who knows the method gains nothing from it),
    or a truth value for each cell (True: up). `fixed` cells keep their value (empty and frozen cells always do). No other
    cell moves by more than the share `largest_change` of its value. With `integers` all values stay whole.
    """
    check_between(spread, LEAST_SPREAD, 100.0, name="spread", owner=OWNER)
    check_options(wishes, AdjustmentWishes.__annotations__, owner=OWNER)
    options = _Options(**wishes)
    if secret is None and isinstance(options.signs, str) and options.signs == "random":
        raise ParameterError(f"{OWNER}: random directions need a secret; give one, or let the directions be free.")
    if secret is None:
        return _adjusted(problem, None, options)
    for share in SHARES[:-1]:
        try:
            return _adjusted(problem, Movements.drawn(secret, problem, cells, spread * share), options)
        except InfeasibleError:
            continue
    return _adjusted(problem, Movements.drawn(secret, problem, cells, spread * SHARES[-1]), options)


@dataclass(frozen=True, eq=False)
class _Options:
    norm: Literal["l1", "l2", "linf"] = "l1"
    weights: Floats | None = None
    signs: str | Mask = "free"
    fixed: Mask | None = None
    largest_change: float | None = None
    integers: bool = False
    step: float | None = None
    time_limit: float = 60.0
    progress: Progress = silent


def _adjusted(unmoved: SuppressionProblem, movements: Movements | None, options: _Options) -> Adjusted:
    """Adjust with movements that were drawn, or with the least."""
    norm, integers, time_limit, progress = options.norm, options.integers, options.time_limit, options.progress
    largest_change = options.largest_change
    check_choice(norm, NORMS, name="norm", owner=OWNER)
    check_between(time_limit, 1e-3, float("inf"), name="time_limit", owner=OWNER)
    if integers and norm == "l2":
        raise ParameterError(f"{OWNER}: whole numbers go with the norms l1 and linf, not with l2.")
    if largest_change is not None:
        check_between(largest_change, 0.0, 0.99, name="largest_change", owner=OWNER)
    started = clock.now()
    drawn = movements or Movements.least(unmoved.n_cells)
    problem = with_movements(unmoved, drawn, integers=integers, step=options.step)
    weights = np.ones(problem.n_cells) if options.weights is None else options.weights
    space = _Space(problem, weights, options.fixed, largest_change)
    directions = _directions(space, options.signs, drawn)
    if norm == "l2" and directions is None:
        progress(0.1, "directions")
        directions = _free_directions(problem, space, "l1", False, time_limit / 2, progress)[1]
        free = True
    else:
        free = False
    if norm == "l2":
        assert directions is not None
        move = _least_squares(problem, space, directions)
        distance, bound, status = float((space.weights * move**2).sum()), None, "stopped" if free else "optimal"
    else:
        solution, directions = (
            _free_directions(problem, space, norm, integers, time_limit, progress)
            if directions is None
            else (_fixed_directions(problem, space, norm, integers, directions, time_limit), directions)
        )
        move = solution.values[: problem.n_cells] - solution.values[problem.n_cells : 2 * problem.n_cells]
        distance, bound = solution.objective, solution.bound
        status = "optimal" if solution.status is Status.OPTIMAL else "stopped"
    values = np.rint(problem.values + move) if integers else problem.values + move
    if options.step is not None and not integers:
        left = max(time_limit - (clock.now() - started), 0.1 * time_limit)
        values = _in_steps(unmoved, space, values, directions, options.step, left)
        moved = space.weights * np.abs(values - problem.values)
        distance = float(
            {"l1": moved.sum(), "l2": (moved * np.abs(values - problem.values)).sum()}.get(norm, moved.max())
        )
    _verify(unmoved, values, directions)
    seconds = clock.now() - started
    return Adjusted(values, directions, norm, distance, bound, status, seconds, drawn=movements is not None)


def _in_steps(
    problem: SuppressionProblem, space: "_Space", values: Floats, up: Mask, step: float, time_limit: float
) -> Floats:
    """The nearest table of multiples of the step in which everything still adds up and leaves its interval."""
    least = np.where(problem.primary & up, problem.values + problem.upper_protection, problem.values - space.down)
    most = np.where(problem.primary & ~up, problem.values - problem.lower_protection, problem.values + space.up)
    window = (least - problem.tolerance, most + problem.tolerance)
    try:
        return round_controlled(values, problem.relations, step, steps=1, time_limit=time_limit, window=window).values
    except InfeasibleError:
        return values


def largest_total(problem: SuppressionProblem) -> Mask:
    """The cell of the largest value, to be fixed: the grand total of most tables."""
    fixed = np.zeros(problem.n_cells, dtype=bool)
    if problem.n_cells:
        fixed[int(np.argmax(np.abs(problem.values)))] = True
    return fixed


class _Space:
    """How far each cell may move, and what a unit of movement costs."""

    def __init__(
        self, problem: SuppressionProblem, weights: Floats, fixed: Mask | None, largest_change: float | None
    ) -> None:
        still = still_cells(problem, fixed)
        self.weights = weights
        self.up = np.where(still, 0.0, problem.upper_bound - problem.values)
        self.down = np.where(still, 0.0, problem.values - problem.lower_bound)
        if largest_change is not None:
            most = np.where(problem.primary, np.inf, largest_change * np.abs(problem.values))
            self.up, self.down = np.minimum(self.up, most), np.minimum(self.down, most)
        largest = float(np.abs(problem.values).max(initial=1.0)) + float(problem.upper_protection.max(initial=0.0))
        self.up = np.minimum(self.up, 4 * largest)  # a program with big-M rows needs finite ones
        self.down = np.minimum(self.down, 4 * largest)
        self.can_up = self.up >= problem.upper_protection - problem.tolerance
        self.can_down = self.down >= problem.lower_protection - problem.tolerance
        stuck = problem.primary & ~self.can_up & ~self.can_down
        if stuck.any():
            cells = tuple(int(cell) for cell in np.flatnonzero(stuck))
            raise InfeasibleError(
                f"{OWNER}: {len(cells)} sensitive cells can leave their protection interval in neither direction "
                "(cells {cells}); widen the bounds or free fixed cells.",
                cells=cells,
            )


def _directions(space: _Space, signs: str | Mask, movements: Movements) -> Mask | None:
    if not isinstance(signs, str):
        return np.asarray(signs, dtype=bool)
    check_choice(signs, SIGNS, name="signs", owner=OWNER)
    if signs == "free":
        return None
    if signs == "random":
        return np.where(space.can_up & space.can_down, movements.up, space.can_up)
    wanted = np.full(len(space.can_up), signs == "up")
    return np.where(wanted, space.can_up, ~space.can_down)


def _bounds_for(problem: SuppressionProblem, space: _Space, up: Mask) -> tuple[Floats, Floats, Floats, Floats]:
    """Bounds of the upward and downward movement when the directions are known."""
    primary = problem.primary
    plus_low = np.where(primary & up, problem.upper_protection, 0.0)
    plus_high = np.where(primary & ~up, 0.0, space.up)
    minus_low = np.where(primary & ~up, problem.lower_protection, 0.0)
    minus_high = np.where(primary & up, 0.0, space.down)
    return plus_low, np.maximum(plus_low, plus_high), minus_low, np.maximum(minus_low, minus_high)


def _movement_rows(problem: SuppressionProblem, n_extra: int) -> tuple[sparse.csr_array, Floats]:
    matrix = sparse.csr_array(problem.relations.matrix().astype(np.float64))
    target = -problem.relations.residuals(problem.values)
    target = np.where(np.abs(target) <= 1e-9 * np.abs(problem.values).max(initial=1.0), 0.0, target)
    rows = [matrix, -matrix]
    if n_extra:
        rows.append(sparse.csr_array((matrix.shape[0], n_extra)))
    return sparse.csr_array(sparse.hstack(rows)), target


def _fixed_directions(
    problem: SuppressionProblem, space: _Space, norm: str, integers: bool, up: Mask, time_limit: float
) -> Solution:
    """With known directions: a linear program (or whole numbers)."""
    n = problem.n_cells
    plus_low, plus_high, minus_low, minus_high = _bounds_for(problem, space, up)
    extra = 1 if norm == "linf" else 0
    matrix, target = _movement_rows(problem, extra)
    cost = np.concatenate([space.weights, space.weights]) if norm == "l1" else np.zeros(2 * n)
    low, high = np.concatenate([plus_low, minus_low]), np.concatenate([plus_high, minus_high])
    row_low, row_high = target, target
    if norm == "linf":
        cost, low, high = np.append(cost, 1.0), np.append(low, 0.0), np.append(high, np.inf)
        matrix, row_low, row_high = _with_largest(matrix, space.weights, row_low, row_high, 2 * n)
    whole = np.concatenate([np.full(2 * n, integers), np.zeros(extra, dtype=bool)])
    model = LinearModel(cost, low, high, matrix, row_low, row_high, integer=whole if integers else None)
    solution = solve(model, time_limit=time_limit)
    if not solution.feasible:
        raise InfeasibleError(
            f"{OWNER}: with these directions no additive table keeps all bounds; let the directions be free."
        )
    return solution


def _with_largest(
    matrix: sparse.csr_array, weights: Floats, row_low: Floats, row_high: Floats, n_moves: int
) -> tuple[sparse.csr_array, Floats, Floats]:
    """Add w·(z⁺ + z⁻) ≤ t for each cell; t is the last column."""
    n = n_moves // 2
    width = matrix.shape[1]
    diagonal = sparse.diags_array(weights)
    middle = sparse.csr_array((n, width - n_moves - 1))
    rows = sparse.hstack([diagonal, diagonal, middle, sparse.csr_array(np.full((n, 1), -1.0))])
    return (
        sparse.csr_array(sparse.vstack([matrix, rows])),
        np.concatenate([row_low, np.full(n, -np.inf)]),
        np.concatenate([row_high, np.zeros(n)]),
    )


def _free_directions(
    problem: SuppressionProblem, space: _Space, norm: str, integers: bool, time_limit: float, progress: Progress
) -> tuple[Solution, Mask]:
    """Directions chosen for the least distance: one program, or block after block when there are many of them."""
    started = clock.now()
    model, cells = _direction_model(problem, space, norm, integers)
    n_free = len(cells)
    if n_free <= 4 * BLOCK:
        solution = solve(model, time_limit=time_limit)
    else:
        solution = _block_descent(model, n_free, started, time_limit, progress)
    if not solution.feasible:
        if solution.status is Status.INFEASIBLE:
            raise InfeasibleError(
                f"{OWNER}: no additive table within the bounds moves every sensitive cell out of its interval; "
                "widen the bounds or free fixed cells."
            )
        raise InfeasibleError(f"{OWNER}: nothing was found within {time_limit:g} seconds; allow more time.")
    up = np.zeros(problem.n_cells, dtype=bool)
    first = 2 * problem.n_cells
    up[cells] = solution.values[first : first + n_free] > 0.5
    return solution, up


def _direction_model(
    problem: SuppressionProblem, space: _Space, norm: str, integers: bool
) -> tuple[LinearModel, NDArray[np.int64]]:
    """z⁺, z⁻ and a truth value for each sensitive cell: up·y ≤ z⁺ ≤ reach·y and low·(1−y) ≤ z⁻ ≤ reach·(1−y)."""
    n = problem.n_cells
    cells = np.flatnonzero(problem.primary)
    p = len(cells)
    largest = 1 if norm == "linf" else 0
    matrix, target = _movement_rows(problem, p + largest)
    pick = sparse.csr_array((np.ones(p), (np.arange(p), cells)), shape=(p, n))
    none = sparse.csr_array((p, n))

    def rows(moves: tuple[sparse.csr_array, sparse.csr_array], factor: Floats) -> sparse.csr_array:
        parts = [*moves, sparse.diags_array(factor)]
        if largest:
            parts.append(sparse.csr_array((p, 1)))
        return sparse.csr_array(sparse.hstack(parts))

    upl, lpl = problem.upper_protection[cells], problem.lower_protection[cells]
    up, down = space.up[cells], space.down[cells]
    infinite = np.full(p, np.inf)
    blocks = [
        (rows((pick, none), -upl), np.zeros(p), infinite),
        (rows((pick, none), -up), -infinite, np.zeros(p)),
        (rows((none, pick), lpl), lpl, infinite),
        (rows((none, pick), down), -infinite, down),
    ]
    full = sparse.csr_array(sparse.vstack([matrix, *(block for block, _, _ in blocks)]))
    row_low = np.concatenate([target, *(low for _, low, _ in blocks)])
    row_high = np.concatenate([target, *(high for _, _, high in blocks)])
    y_low, y_high = np.where(space.can_down[cells], 0.0, 1.0), np.where(space.can_up[cells], 1.0, 0.0)
    cost = np.concatenate([space.weights, space.weights, np.zeros(p)])
    low = np.concatenate([np.zeros(2 * n), y_low])
    high = np.concatenate([space.up, space.down, y_high])
    whole = np.concatenate([np.full(2 * n, integers), np.ones(p, dtype=bool)])
    if largest:
        cost = np.append(np.zeros(2 * n + p), 1.0)
        low, high, whole = np.append(low, 0.0), np.append(high, np.inf), np.append(whole, False)
        full, row_low, row_high = _with_largest(full, space.weights, row_low, row_high, 2 * n)
    return LinearModel(cost, low, high, full, row_low, row_high, integer=whole), cells


def _block_descent(model: LinearModel, n_free: int, started: float, time_limit: float, progress: Progress) -> Solution:
    """Start from the relaxation's directions, then decide some of them at a time exactly, while that helps."""
    assert model.integer is not None
    first = int(np.flatnonzero(model.integer & (model.col_upper <= 1))[-1]) + 1 - n_free
    y = np.arange(first, first + n_free)
    # simplex takes many times as long as an interior point on relaxations of this size
    relaxed = solve(replace(model, integer=None), time_limit=time_limit, algorithm="interior")
    if not relaxed.feasible:
        return relaxed
    rng = np.random.default_rng(0)  # order of the blocks: no secret depends on it
    left = max(1e-2, time_limit - (clock.now() - started))
    best = _with_directions(model, y, relaxed.values[y] > 0.5, np.zeros(n_free, dtype=bool), left, None)
    tries = 0
    while not best.feasible and tries < 6 and clock.now() - started < time_limit:
        unsure = np.argsort(np.abs(relaxed.values[y] - 0.5))[: BLOCK * 2**tries]
        free = np.zeros(n_free, dtype=bool)
        free[unsure] = True
        left = max(1e-2, time_limit - (clock.now() - started))
        best = _with_directions(model, y, relaxed.values[y] > 0.5, free, left, None)
        tries += 1
    quiet = 0
    while best.feasible and quiet < max(4, n_free // BLOCK):
        left = time_limit - (clock.now() - started)
        if left <= 0.5:
            break
        progress(min(0.95, 1 - left / time_limit), "directions")
        free = np.zeros(n_free, dtype=bool)
        free[rng.choice(n_free, BLOCK, replace=False)] = True
        found = _with_directions(model, y, best.values[y] > 0.5, free, min(left, 20.0), best.values)
        if found.feasible and found.objective < best.objective - 1e-9 * max(1.0, abs(best.objective)):
            best, quiet = found, 0
        else:
            quiet += 1
    return Solution(Status.STOPPED, best.objective, relaxed.objective, best.values)


def _with_directions(
    model: LinearModel, y: NDArray[np.int64], up: Mask, free: Mask, time_limit: float, start: Floats | None
) -> Solution:
    low, high = model.col_lower.copy(), model.col_upper.copy()
    low[y], high[y] = np.where(free, low[y], up), np.where(free, high[y], up)
    low[y] = np.minimum(np.maximum(low[y], model.col_lower[y]), model.col_upper[y])
    high[y] = np.maximum(np.minimum(high[y], model.col_upper[y]), model.col_lower[y])
    part = LinearModel(model.cost, low, high, model.matrix, model.row_lower, model.row_upper, integer=model.integer)
    return solve(part, time_limit=time_limit, start=start, relative_gap=1e-6)


def _least_squares(problem: SuppressionProblem, space: _Space, up: Mask) -> Floats:
    plus_low, plus_high, minus_low, minus_high = _bounds_for(problem, space, up)
    low = np.where(problem.primary, np.where(up, plus_low, -minus_high), -space.down)
    high = np.where(problem.primary, np.where(up, plus_high, -minus_low), space.up)
    matrix = sparse.csr_array(problem.relations.matrix().astype(np.float64))
    target = -problem.relations.residuals(problem.values)
    return solve_quadratic(QuadraticModel(2.0 * space.weights, matrix, target, low, high))


def _verify(problem: SuppressionProblem, values: Floats, up: Mask) -> None:
    """What is returned adds up, keeps its bounds and leaves every protection interval; checked apart from the solver."""
    slack = 1e-6 * max(1.0, float(np.abs(problem.values).max(initial=1.0))) ** 0.5 + 10 * problem.tolerance
    wrong = np.abs(problem.relations.residuals(values)).max(initial=0.0) > slack
    move = values - problem.values
    short = np.where(up, move < problem.upper_protection - slack, move > -problem.lower_protection + slack)
    wrong = wrong or bool((short & problem.primary).any())
    wrong = wrong or bool((values < problem.lower_bound - slack).any() or (values > problem.upper_bound + slack).any())
    if wrong:
        raise InfeasibleError(
            f"{OWNER}: the solver's answer does not hold when checked, so nothing is returned; "
            "widen the bounds, or use another method."
        )
