# SPDX-License-Identifier: Apache-2.0
"""Rows that single relations give: what must be hidden beside a primary, against the public and against a respondent."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.arrays import Floats
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.demands import Demand, Kind


def capacity_rows(problem: SuppressionProblem, demands: list[Demand]) -> sparse.csr_array:
    """One row for each level of a primary and each of its relations: rows·x ≥ 1 for every safe pattern.

    Rows in which every neighbour alone would do are left out: the bridges say the same.
    """
    relations = problem.relations
    by_cell, rows_of, _ = relations.by_cell
    levels = [d for d in demands if d.kind in (Kind.UP, Kind.DOWN)]
    cell_of = np.array([d.cell for d in levels], dtype=np.int64)
    demand, at = _ranges(by_cell[cell_of], by_cell[cell_of + 1])
    rows = rows_of[at]
    pair, entry = _ranges(relations.indptr[rows], relations.indptr[rows + 1])
    cells, coefs = relations.cells[entry].astype(np.int64), relations.coefs[entry].astype(np.float64)
    need = np.array([d.need for d in levels])[demand][pair]
    sign = np.array([1.0 if d.kind is Kind.UP else -1.0 for d in levels])[demand][pair]
    is_own = cells == cell_of[demand][pair]
    own = np.zeros(len(rows))
    own[pair[is_own]] = coefs[is_own]
    up, down = (problem.upper_bound - problem.values)[cells], (problem.values - problem.lower_bound)[cells]
    # a neighbour makes up for the movement of the primary by going the other way, or the same where the signs differ
    room = np.where(coefs * own[pair] * sign < 0, up, down) * np.abs(coefs / own[pair])
    weights = np.where(is_own, 0.0, np.minimum(room, need))
    rest = need - np.bincount(pair, weights * problem.forced[cells], minlength=len(rows))[pair]
    free = problem.candidates[cells] & ~is_own
    wanted = np.bincount(pair[free & (weights < rest)], minlength=len(rows))[pair] > 0
    chosen = free & wanted & (rest > 1e-9 * need)
    lengths = np.bincount(pair[chosen], minlength=len(rows))
    indptr = np.concatenate(([0], np.cumsum(lengths[lengths > 0])))
    shape = (len(indptr) - 1, problem.n_cells)
    return sparse.csr_array((np.minimum(1.0, weights[chosen] / rest[chosen]), cells[chosen], indptr), shape=shape)


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All numbers of some ranges, one range after the other, with the number of the range they are from."""
    lengths = ends - starts
    which = np.repeat(np.arange(len(starts)), lengths)
    before = np.cumsum(lengths) - lengths
    return which, np.arange(int(lengths.sum())) + (starts - before)[which]


def insider_rows(problem: SuppressionProblem, who: NDArray[np.int64]) -> sparse.csr_array:
    """Rows against sole respondents of a cell (`who`, −1: none): beside a primary and what a respondent knows in a
    relation, something else is hidden, else that respondent subtracts its own cells and has the primary.

    Rows that the primaries alone satisfy are left out.
    """
    relations = problem.relations
    hidden_singles = problem.forced & (who >= 0)
    entry_row = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    least = problem.values <= problem.lower_bound + problem.tolerance
    all_cells: dict[bytes, NDArray[np.int64]] = {}
    for row in np.unique(entry_row[hidden_singles[relations.cells]]).tolist():
        cells, coefs = relations.row(row)
        forced, owner = problem.forced[cells], who[cells]
        for respondent in np.unique(owner[forced & (owner >= 0)]).tolist():
            # with two others hidden anyway, each of them guards the other
            others = forced & (owner != respondent)
            if others.sum() == 1 and least[cells[others]].all() and (owner[coefs < 0] == respondent).all():
                continue  # who is all of a total knows anyway that nobody else is in its parts
            if others.sum() == 1 and problem.guarded[cells[others]].all():
                helpers = cells[problem.candidates[cells] & (owner != respondent)].astype(np.int64)
                all_cells.setdefault(helpers.tobytes(), helpers)
    found = list(all_cells.values())
    return _rows(found, [np.ones(len(cells)) for cells in found], problem.n_cells)


def _rows(cells: list[NDArray[np.int64]], coefs: list[Floats], n_cells: int) -> sparse.csr_array:
    if not cells:
        return sparse.csr_array((0, n_cells), dtype=np.float64)
    indptr = np.concatenate(([0], np.cumsum([len(c) for c in cells])))
    return sparse.csr_array((np.concatenate(coefs), np.concatenate(cells), indptr), shape=(len(cells), n_cells))
