# SPDX-License-Identifier: Apache-2.0
"""Reverse delete: publish again every secondary that no primary needs, costliest first."""

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Floats, Mask
from reticent.tables.attack.certify import certify
from reticent.tables.attack.inside import Breaches
from reticent.tables.attack.insiders import insiders
from reticent.tables.problem import SuppressionProblem


def clean(problem: SuppressionProblem, pattern: Mask, cost: Floats, *, until: float, singletons: bool = False) -> Mask:
    """A safe subset of a safe pattern from which (time permitting) no single secondary can be taken."""
    pattern = pattern.copy()
    relations = problem.relations
    indptr, rows, _ = relations.by_cell
    hidden_in = np.bincount(
        np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))[pattern[relations.cells]],
        minlength=relations.n_rows,
    )
    secondaries = np.flatnonzero(pattern & problem.candidates)
    order = secondaries[np.argsort(-cost[secondaries], kind="stable")]
    with clock.within(until):
        for cell in order.tolist():
            if clock.now() > until:
                break
            if not pattern[cell]:
                continue  # went with a costlier one
            trial = _without(problem, pattern, hidden_in, cell)
            if trial is None:
                continue
            dropped = np.flatnonzero(pattern & ~trial)
            if _still_safe(problem, pattern, trial, cell, singletons):
                pattern = trial
                for gone in dropped.tolist():
                    hidden_in[rows[indptr[gone] : indptr[gone + 1]]] -= 1
    return pattern


def _without(problem: SuppressionProblem, pattern: Mask, hidden_in: NDArray[np.int64], cell: int) -> Mask | None:
    """The pattern without a cell and without secondaries that are then alone in a relation; None if a primary is."""
    relations = problem.relations
    indptr, rows, _ = relations.by_cell
    trial = pattern.copy()
    counts: dict[int, int] = {}
    queue = [cell]
    trial[cell] = False
    while queue:
        gone = queue.pop()
        for row in rows[indptr[gone] : indptr[gone + 1]].tolist():
            counts[row] = counts.get(row, int(hidden_in[row])) - 1
            if counts[row] != 1:
                continue
            cells = relations.row(row)[0]
            remaining = cells[trial[cells]]
            if len(remaining) == 0:
                continue  # the last one is on its way out
            alone = int(remaining[0])
            if problem.primary[alone]:
                return None
            if problem.candidates[alone]:
                trial[alone] = False
                queue.append(alone)
    return trial


def _still_safe(problem: SuppressionProblem, pattern: Mask, trial: Mask, cell: int, singletons: bool) -> bool:
    """Whether the primaries that hang together with a cell are still safe without it."""
    labels = problem.relations.components(pattern)
    group = labels == labels[cell]
    if not (problem.primary & group).any():
        return True
    reach, _ = certify(problem, trial & group)
    assert reach.lost is not None
    if reach.lost.any():
        return False
    if not singletons:
        return True
    return not insiders(problem, trial & group, settle=False) and not Breaches(problem).find(trial & group, most=1)
