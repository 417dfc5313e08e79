# SPDX-License-Identifier: Apache-2.0
"""How far adjustment moves unsafe cells beyond their levels, and what anybody who knows the levels concludes.

A cell that moves exactly by its level leaves two candidates to somebody who knows the level: v/1.2 or v/0.8 for 20 %. So what
goes beyond the level is drawn from the secret, without a largest movement that could be known.
"""

from dataclasses import dataclass, replace

import numpy as np

from reticent.base.arrays import Floats, Mask, Words
from reticent.base.randomness import Secret
from reticent.data.cells import CellStatus
from reticent.kernels.draws import record_keys, uniforms
from reticent.tables.problem import SuppressionProblem


@dataclass(frozen=True)
class Movements:
    """Draws from the secret, each belonging to its cell: how far beyond the level (in levels) down and up, and the direction.

    Down and up are drawn apart: with one draw the middle of two runs that move a cell in opposite directions is the truth.
    They belong to the mean, the levels and the value too: with one draw two runs at other spreads, or with other levels, are
    two equations for the draw and the value.
    """

    down: Floats
    upward: Floats
    up: Mask

    @classmethod
    def drawn(cls, secret: Secret, problem: SuppressionProblem, cells: Words | None, mean: float) -> "Movements":
        """Exponential draws with this mean, keyed by `cells` (a stable number of each; default its position)."""
        keys = np.arange(problem.n_cells, dtype=np.uint64) if cells is None else cells
        words = secret.words("adjustment-movements")
        own = record_keys(*words, keys, _moved_from(problem, mean))
        upward, down = (-mean * np.log1p(-uniforms(*words, own, draw)) for draw in (0, 1))
        return cls(down, upward, uniforms(*secret.words("adjustment-signs"), keys, 0) < 0.5)

    @classmethod
    def least(cls, n_cells: int) -> "Movements":
        """No further than the level."""
        return cls(np.zeros(n_cells), np.zeros(n_cells), np.zeros(n_cells, dtype=bool))


def _moved_from(problem: SuppressionProblem, mean: float) -> Words:
    """What a movement is computed from, a row per cell; coarsely, because sums taken in another order end differently."""
    means = np.full(problem.n_cells, mean)
    parts = np.column_stack([means, problem.lower_protection, problem.upper_protection, problem.values])
    return np.asarray(parts.astype(np.float32).view(np.uint32), dtype=np.uint64)


def still_cells(problem: SuppressionProblem, fixed: Mask | None) -> Mask:
    """Cells that keep their value: empty, frozen, and those asked for that are not sensitive."""
    still = (problem.status == CellStatus.EMPTY) | (problem.status == CellStatus.FROZEN)
    return np.asarray(still if fixed is None else still | (fixed & ~problem.primary))


def with_movements(
    problem: SuppressionProblem, movements: Movements, *, integers: bool, step: float | None = None
) -> SuppressionProblem:
    """The problem whose levels are the movements that unsafe cells are to make, as far as the bounds leave room.

    No unsafe cell may move by less than a step: one that
    stands at its bound cannot "leave its interval" towards the bound by staying where it is. What is printed in a `step`
    moves by whole steps at least, because printing would else take it back into its interval.
    """
    if step is not None:
        problem = replace(
            problem,
            lower_protection=_whole_steps(problem.lower_protection, step),
            upper_protection=_whole_steps(problem.upper_protection, step),
        )
    step = 1.0 if integers else step or problem.unit
    lower = _targets(problem, problem.lower_protection, movements.down, step, integers)
    upper = _targets(problem, problem.upper_protection, movements.upward, step, integers)
    room_down, room_up = problem.values - problem.lower_bound, problem.upper_bound - problem.values
    least_down, least_up = (np.maximum(level, step) for level in (problem.lower_protection, problem.upper_protection))
    lower = np.where(room_down >= least_down, np.minimum(lower, room_down), lower)
    upper = np.where(room_up >= least_up, np.minimum(upper, room_up), upper)
    return replace(
        problem,
        lower_protection=np.where(problem.primary, lower, 0.0),
        upper_protection=np.where(problem.primary, upper, 0.0),
    )


def _whole_steps(levels: Floats, step: float) -> Floats:
    return np.asarray(np.ceil(levels / step - 1e-6) * step)


def _targets(problem: SuppressionProblem, levels: Floats, beyond: Floats, step: float, integers: bool) -> Floats:
    if not integers:
        return np.asarray(np.maximum(levels, step) * (1.0 + beyond))
    least = np.maximum(np.ceil(levels - problem.tolerance), 1.0)
    return np.asarray(np.floor(least * (1.0 + beyond)))


@dataclass(frozen=True, eq=False)
class Candidates:
    """What may be true of each cell: [low, below] or [above, high]; without a gap `below` is `high`."""

    low: Floats
    below: Floats
    above: Floats
    high: Floats


def adjustment_candidates(
    problem: SuppressionProblem,
    published: Floats,
    *,
    fixed: Mask | None = None,
    largest_change: float | None = None,
    exactly: bool = False,
) -> Candidates:
    """What an adjusted value, the method and the levels say about the true one, for each cell by itself.

    Fixed cells are true. A cell that moved at most by the share q of its true value a is published as z with
    |z| / (1 + q) ≤ |a| ≤ |z| / (1 − q). An unsafe cell of which the level is known as the share L of its value went up to
    z, so that a ≤ z / (1 + L), or down, so that a ≥ z / (1 − L); with `exactly` by no more than the level, which leaves
    one candidate on either side. That the movements of the others are the least ones is not used.
    """
    low, high = problem.lower_bound.copy(), problem.upper_bound.copy()
    if largest_change is not None:
        size = np.abs(published)
        near, far = size / (1.0 + largest_change), size / (1.0 - largest_change)
        other = ~problem.primary
        low[other] = np.maximum(low, np.where(published >= 0, near, -far))[other]
        high[other] = np.minimum(high, np.where(published >= 0, far, -near))[other]
    still = still_cells(problem, fixed)
    low[still], high[still] = problem.values[still], problem.values[still]
    below, above = high.copy(), low.copy()
    mine = problem.primary & ~still
    below[mine], above[mine] = (end[mine] for end in _gap(problem, published))
    if exactly:  # a cell that had to go further than its level is not where the rule says
        low = np.where(mine, np.minimum(below, problem.values), low)
        high = np.where(mine, np.maximum(above, problem.values), high)
    return Candidates(low, below, above, high)


def _gap(problem: SuppressionProblem, published: Floats) -> tuple[Floats, Floats]:
    """The largest true value that goes up to the published one, and the least that goes down to it."""
    values, lower, upper = problem.values, problem.lower_protection, problem.upper_protection
    below, above = published - upper, published + lower
    relative = (values > 0) & (published >= 0) & (not problem.integral)
    size = np.where(relative, values, 1.0)
    share = np.minimum(lower / size, 1.0 - 1e-9)
    below = np.where(relative, published / (1.0 + upper / size), below)
    above = np.where(relative, published / (1.0 - share), above)
    went_up = published > values
    # rounding of the shares must not put the truth into the gap
    return np.where(went_up, np.maximum(below, values), below), np.where(went_up, above, np.minimum(above, values))
