# SPDX-License-Identifier: Apache-2.0
"""Sums of unsafe cells that are unsafe themselves: what follows from the published cells must not be one of them.

Two unsafe cells of two respondents each protect each other, but their sum stands for four. If a holding is the only
respondent in two hidden cells of a row, its total is published by difference. Such a sum becomes a cell of its own that
is always hidden and must be able to move (tau-ARGUS's Modular adds such cells for its minimum-frequency option, for
three and more; here two are enough, and all rules judge). Which sums matter depends on the pattern: those of single
rows are there from the start, others are added when a pattern publishes them.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.base.errors import DataError, InfeasibleError
from reticent.data.cells import CellStatus
from reticent.data.relations import Relations
from reticent.tables.problem import SuppressionProblem

Group = tuple[int, ...]
MOST = 60
"""Unsafe parts of one total, up to which their sum is judged from the start."""


def small_groups(problem: SuppressionProblem, minimum: int) -> list[Group]:
    """Unsafe cells with fewer than `minimum` respondents that are parts of one total and have fewer together."""
    if problem.counts is None:
        raise DataError(
            "suppression: minimum_together needs the number of respondents of each cell; give a count column."
        )
    relations, counts = problem.relations, problem.counts
    small = problem.primary & (counts > 0) & (counts < minimum)
    found: dict[Group, None] = {}
    for row in range(relations.n_rows):
        cells, coefs = relations.row(row)
        chosen = cells[(coefs > 0) & small[cells]]
        if len(chosen) > 1:
            found[tuple(sorted(chosen.tolist()))] = None
    return [group for group, few in zip(found, _respondents(problem, list(found)) < minimum, strict=True) if few]


def _respondents(problem: SuppressionProblem, groups: Sequence[Group]) -> NDArray[np.int64]:
    """Respondents of each group, each counted once: whoever is in two of its cells must not make it look larger."""
    assert problem.counts is not None
    counted = np.array([int(problem.counts[list(group)].sum()) for group in groups], dtype=np.int64)
    if problem.judge is None or not groups:
        return counted
    known = problem.judge.respondents(groups)
    return np.where(known >= 0, known, counted)


@dataclass(frozen=True, eq=False)
class Together:
    """The judge of a problem with `minimum_together`: unsafe cells of one row with fewer respondents in all are unsafe too.

    Which of them a pattern publishes, all of a row or some, is known only when there is a pattern.
    """

    problem: SuppressionProblem
    minimum: int

    def unsafe(self, groups: Sequence[Group]) -> Mask:
        """Whether the sum of each group of cells is unsafe."""
        judge = self.problem.judge
        found = np.zeros(len(groups), dtype=bool) if judge is None else judge.unsafe(groups)
        rest = [at for at in np.flatnonzero(~found).tolist() if self._in_one_row(groups[at])]
        if rest:
            found[rest] = _respondents(self.problem, [groups[at] for at in rest]) < self.minimum
        return found

    def respondents(self, groups: Sequence[Group]) -> NDArray[np.int64]:
        """How many respondents each group of cells has, each counted once."""
        return _respondents(self.problem, groups)

    def _in_one_row(self, group: Group) -> bool:
        """Whether all are unsafe parts of one total."""
        problem = self.problem
        if max(group) >= problem.n_own or not problem.primary[list(group)].all():
            return False
        indptr, row_of, coefs = problem.relations.by_cell
        spans = [slice(int(indptr[cell]), int(indptr[cell + 1])) for cell in group]
        rows = [set(row_of[span][coefs[span] > 0].tolist()) for span in spans]
        return bool(set.intersection(*rows))


def watched(problem: SuppressionProblem, minimum: int) -> SuppressionProblem:
    """The problem with a judge who also keeps `minimum_together`, where it is asked for and can be counted."""
    return replace(problem, judge=Together(problem, minimum)) if minimum and problem.counts is not None else problem


def first_sums(problem: SuppressionProblem) -> list[Group]:
    """Sums of the unsafe parts of one total that are unsafe: no pattern may publish them."""
    if problem.judge is None:
        return []
    relations = problem.relations
    groups: dict[Group, None] = {}
    for row in range(relations.n_rows):
        cells, coefs = relations.row(row)
        chosen = cells[(coefs == 1) & problem.primary[cells]]
        if 1 < len(chosen) <= MOST and not relations.rhs[row]:
            groups[tuple(sorted(chosen.tolist()))] = None
    return list(itertools.compress(groups, problem.judge.unsafe(list(groups)).tolist())) if groups else []


def with_sums(problem: SuppressionProblem, groups: Sequence[Group]) -> SuppressionProblem:
    """The problem with one more unsafe cell for each group, its sum, that must not be known exactly."""
    if not groups:
        return problem
    n, extra = problem.n_cells, len(groups)

    def added(values: np.ndarray) -> np.ndarray:
        return np.concatenate((values, [values[list(group)].sum() for group in groups])).astype(values.dtype)

    def padded(values: np.ndarray, filler: float) -> np.ndarray:
        return np.concatenate((values, np.full(extra, filler))).astype(values.dtype)

    rows = [([n + at, *group], [-1] + [1] * len(group)) for at, group in enumerate(groups)]
    relations = replace(problem.relations, n_cells=n + extra).with_rows(Relations.from_rows(n + extra, rows))
    return SuppressionProblem(
        added(problem.values),
        padded(problem.cost, 0.0),
        padded(problem.lower_protection, 0.0),
        padded(problem.upper_protection, 0.0),
        padded(problem.sliding_protection, 0.0),
        added(problem.lower_bound),
        added(problem.upper_bound),
        padded(problem.status, CellStatus.PRIMARY),
        relations,
        None if problem.counts is None else added(problem.counts),
        None if problem.respondent is None else padded(problem.respondent, -1),
        problem.integral,
        None if problem.whole_cells is None else np.array([*problem.whole_cells, *_whole_sums(problem, groups)]),
        tuple(groups),
        problem.judge,
        problem.insider_levels,
        problem.coalition,
        problem.partners,
        rests=problem.rests,
        combinations=problem.combinations,
    )


def _whole_sums(problem: SuppressionProblem, groups: Sequence[Group]) -> list[bool]:
    return [bool(problem.whole[list(group)].all()) for group in groups]


def in_cells(err: InfeasibleError, n_cells: int, groups: Sequence[Group]) -> InfeasibleError:
    """The error about a sum as one about its cells."""
    cells = sorted({cell for at in err.cells if at >= n_cells for cell in groups[at - n_cells]})
    if not cells:
        return err
    blocking = tuple(cell for cell in err.blocking if cell < n_cells)
    advice = "; cells that would help but may not be hidden: {blocking}" if blocking else ""
    return InfeasibleError(
        "Suppression: together some unsafe cells have too few respondents, or one who dominates them, and their sum "
        f"cannot be hidden (cells {{cells}}){advice}. Unfreeze cells near them.",
        cells=tuple(cells),
        blocking=blocking,
    )
