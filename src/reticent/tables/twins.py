# SPDX-License-Identifier: Apache-2.0
"""Cells that are the same because a total has a single part: found, and merged into one."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reticent.data.cells import CellStatus
from reticent.data.relations import Relations
from reticent.tables.problem import SuppressionProblem

_STRENGTH = (CellStatus.EMPTY, CellStatus.SAFE, CellStatus.FROZEN, CellStatus.SECONDARY, CellStatus.PRIMARY)


def twins_of(relations: Relations) -> NDArray[np.int64]:
    """A number for each cell, equal for cells that are equal by a relation of two (a parent with a single part)."""
    twin = np.arange(relations.n_cells)
    pairs = np.flatnonzero(np.diff(relations.indptr) == 2)
    changed = True
    first, second = relations.cells[relations.indptr[pairs]], relations.cells[relations.indptr[pairs] + 1]
    while changed:
        least = np.minimum(twin[first], twin[second])
        changed = bool((twin[first] != least).any() or (twin[second] != least).any())
        np.minimum.at(twin, first, least)
        np.minimum.at(twin, second, least)
    return twin


def without_trivial(problem: SuppressionProblem) -> SuppressionProblem:
    """The problem with one cell for all that are the same: the strongest status, the largest levels and cost."""
    kept, place = np.unique(twins_of(problem.relations), return_inverse=True)
    strength = np.zeros(len(CellStatus), dtype=np.int64)
    strength[list(_STRENGTH)] = np.arange(len(_STRENGTH))

    def largest(values: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.full(len(kept), -np.inf)
        np.maximum.at(out, place, values)
        return out

    strongest = largest(strength[problem.status].astype(np.float64)).astype(np.int64)
    return replace(
        problem,
        values=problem.values[kept],
        cost=largest(problem.cost),
        lower_protection=largest(problem.lower_protection),
        upper_protection=largest(problem.upper_protection),
        sliding_protection=largest(problem.sliding_protection),
        lower_bound=largest(problem.lower_bound),
        upper_bound=-largest(-problem.upper_bound),
        status=np.array(_STRENGTH, dtype=np.int8)[strongest],
        relations=_merged_relations(problem.relations, place, len(kept)),
        counts=None if problem.counts is None else problem.counts[kept],
        respondent=None if problem.respondent is None else problem.respondent[kept],
        partners={},
    )


def _merged_relations(relations: Relations, place: NDArray[np.int64], n_cells: int) -> Relations:
    rows: dict[tuple[tuple[int, int], ...], float] = {}
    for number in range(relations.n_rows):
        cells, coefs = relations.row(number)
        terms: dict[int, int] = {}
        for cell, coef in zip(place[cells].tolist(), coefs.tolist(), strict=True):
            terms[cell] = terms.get(cell, 0) + coef
        left = tuple(sorted((cell, coef) for cell, coef in terms.items() if coef))
        if left:
            rows[left] = float(relations.rhs[number])
    listed = [([cell for cell, _ in row], [coef for _, coef in row]) for row in rows]
    return Relations.from_rows(n_cells, listed, list(rows.values()))
