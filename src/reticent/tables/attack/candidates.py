# SPDX-License-Identifier: Apache-2.0
"""The attacker of unsafe cells whose true value lies in one of two ranges, as after adjustment."""

import numpy as np

from reticent.base.arrays import Mask
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel, Status
from reticent.tables.perturb.movements import Candidates
from reticent.tables.problem import SuppressionProblem

EXACT = 4_000_000
"""Up to this many programs times cells both ranges are attacked with all relations; beyond, each cell by itself."""

NOTHING = (1.0, 0.0)


def too_few_candidates(problem: SuppressionProblem, candidates: Candidates) -> Mask:
    """Unsafe cells whose ranges together are narrower than their two levels: two single candidates are none at all.

    Each range is cut to what the relations and the ranges of all other cells leave of it.
    """
    cells = np.flatnonzero(problem.primary)
    exposed = np.zeros(problem.n_cells, dtype=bool)
    joint = 4.0 * len(cells) * problem.n_cells <= EXACT
    for cell in cells.tolist():
        ranges = ((candidates.low[cell], candidates.below[cell]), (candidates.above[cell], candidates.high[cell]))
        cut = [_cut(problem, candidates, cell, ends) if joint else ends for ends in ranges]
        exposed[cell] = _width(problem, cut) < _needed(problem, cell) - problem.tolerance
    return exposed


def _needed(problem: SuppressionProblem, cell: int) -> float:
    """The two levels together, as far as the attacker's own bounds leave room for them; at least a step."""
    down = min(problem.lower_protection[cell], problem.values[cell] - problem.lower_bound[cell])
    up = min(problem.upper_protection[cell], problem.upper_bound[cell] - problem.values[cell])
    return float(max(down + up, problem.unit))


def _width(problem: SuppressionProblem, ranges: list[tuple[float, float]]) -> float:
    slack = problem.tolerance
    some = [(low, high) for low, high in ranges if high >= low - slack]
    if not problem.integral:
        return float(sum(max(0.0, high - low) for low, high in some))
    found: set[float] = set()
    for low, high in some:
        if not np.isfinite(high - low):
            return float("inf")
        found |= set(np.arange(np.ceil(low - slack), np.floor(high + slack) + 1).tolist())
    return float(len(found) - 1)


def _cut(
    problem: SuppressionProblem, candidates: Candidates, cell: int, ends: tuple[float, float]
) -> tuple[float, float]:
    """The least and the largest value within `ends` that the relations allow; an empty range if there is none."""
    if ends[0] > ends[1]:
        return ends
    low, high = candidates.low.copy(), candidates.high.copy()
    low[cell], high[cell] = ends
    slack = np.abs(problem.relations.residuals(problem.values)) + problem.tolerance
    matrix = problem.relations.matrix().astype(np.float64)
    right = problem.relations.rhs
    found = []
    for sign in (1.0, -1.0):
        goal = np.zeros(problem.n_cells)
        goal[cell] = sign
        answer = solve(LinearModel(goal, low, high, matrix, right - slack, right + slack))
        if answer.status is Status.UNBOUNDED:
            found.append(-sign * np.inf)
        elif answer.feasible:
            found.append(float(answer.values[cell]))
        else:
            return NOTHING
    return found[0], found[1]
