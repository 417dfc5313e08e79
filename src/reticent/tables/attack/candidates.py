# SPDX-License-Identifier: Apache-2.0
"""The attacker of unsafe cells whose true value lies in one of two ranges, as after adjustment."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from reticent.base.arrays import Mask
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel, Status
from reticent.tables.perturb.movements import Candidates
from reticent.tables.problem import SuppressionProblem

EXACT = 4_000_000
"""Up to this many programs times cells both ranges are attacked with all relations; beyond, each cell by itself."""

MOST_TOGETHER = 6
"""Up to this many unsafe cells all ways are tried in which each of them lies in one of its two ranges; beyond, cell by cell."""

NOTHING = (1.0, 0.0)


def too_few_candidates(problem: SuppressionProblem, candidates: Candidates) -> Mask:
    """Unsafe cells whose ranges together are narrower than their two levels: two single candidates are none at all.

    Each range is cut to what the relations and the ranges of all other cells leave of it.
    """
    cells = np.flatnonzero(problem.primary)
    exposed = np.zeros(problem.n_cells, dtype=bool)
    joint = 4.0 * len(cells) * problem.n_cells <= EXACT
    together = list(_sides(candidates, cells.tolist())) if joint and len(cells) <= MOST_TOGETHER else [candidates]
    for cell in cells.tolist():
        found: list[tuple[float, float]] = []
        for sides in together:
            ranges = _ranges(sides, cell)
            found += [_cut(problem, sides, cell, ends) if joint else ends for ends in ranges]
        exposed[cell] = _width(problem, found) < _needed(problem, cell) - problem.tolerance
    return exposed


def _ranges(candidates: Candidates, cell: int) -> list[tuple[float, float]]:
    """The two ranges of a cell; one where they are the same."""
    ends = [(candidates.low[cell], candidates.below[cell]), (candidates.above[cell], candidates.high[cell])]
    return ends[:1] if ends[0] == ends[1] else ends


def _sides(candidates: Candidates, cells: list[int]) -> Iterator[Candidates]:
    """Every way in which each of the cells lies in one of its two ranges, where these are not empty."""
    choices = [[(cell, low, high) for low, high in _ranges(candidates, cell) if low <= high] for cell in cells]
    for chosen in itertools.product(*choices):
        low, high = candidates.low.copy(), candidates.high.copy()
        for cell, least, most in chosen:
            low[cell], high[cell] = least, most
        yield replace(candidates, low=low, below=high, above=low, high=high)


def _needed(problem: SuppressionProblem, cell: int) -> float:
    """The two levels together, as far as the attacker's own bounds leave room for them; at least a step."""
    down = min(problem.lower_protection[cell], problem.values[cell] - problem.lower_bound[cell])
    up = min(problem.upper_protection[cell], problem.upper_bound[cell] - problem.values[cell])
    return float(max(down + up, problem.unit))


def _width(problem: SuppressionProblem, ranges: list[tuple[float, float]]) -> float:
    slack = problem.tolerance
    some = sorted((low, high) for low, high in ranges if high >= low - slack)
    if not problem.integral:
        width, end = 0.0, -np.inf
        for low, high in some:  # ranges may overlap
            if high > end:
                width, end = width + high - max(low, end), high
        return width
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
