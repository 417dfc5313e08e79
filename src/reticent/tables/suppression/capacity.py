"""Rows that single relations give: what must be hidden beside a primary, against the public and against a respondent."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.demands import Demand, Kind

Floats = NDArray[np.float64]


def capacity_rows(problem: SuppressionProblem, demands: list[Demand]) -> sparse.csr_array:
    """One row for each level of a primary and each of its relations: rows·x ≥ 1 for every safe pattern.

    Rows in which every neighbour alone would do are left out: the bridges say the same.
    """
    relations = problem.relations
    by_cell, rows_of, _ = relations.by_cell
    room_down, room_up = problem.values - problem.lower_bound, problem.upper_bound - problem.values
    all_cells: list[NDArray[np.int64]] = []
    all_coefs: list[Floats] = []
    for demand in demands:
        if demand.kind not in (Kind.UP, Kind.DOWN):
            continue
        sign = 1 if demand.kind is Kind.UP else -1
        for row in rows_of[by_cell[demand.cell] : by_cell[demand.cell + 1]].tolist():
            cells, coefs = relations.row(row)
            own = coefs[cells == demand.cell][0]
            other = cells != demand.cell
            cells, toward = cells[other], np.sign(-coefs[other] * own) * sign
            ratio = np.abs(coefs[other] / own)
            room = np.where(toward > 0, room_up[cells], room_down[cells]) * ratio
            weights = np.minimum(room, demand.need)
            rest = demand.need - float(weights[problem.forced[cells]].sum())
            free = problem.candidates[cells]
            if rest <= 1e-9 * demand.need or (weights[free] >= rest).all():
                continue
            all_cells.append(cells[free].astype(np.int64))
            all_coefs.append(np.minimum(1.0, weights[free] / rest))
    return _rows(all_cells, all_coefs, problem.n_cells)


def insider_rows(problem: SuppressionProblem, who: NDArray[np.int64]) -> sparse.csr_array:
    """Rows against respondents alone in a cell (`who`, −1: none): beside a primary and what a respondent knows in a
    relation, something else is hidden, else that respondent subtracts its own cells and has the primary.

    Rows that the primaries alone satisfy are left out.
    """
    relations = problem.relations
    hidden_singles = problem.forced & (who >= 0)
    entry_row = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    all_cells: dict[bytes, NDArray[np.int64]] = {}
    for row in np.unique(entry_row[hidden_singles[relations.cells]]).tolist():
        cells = relations.row(row)[0]
        forced, owner = problem.forced[cells], who[cells]
        for respondent in np.unique(owner[forced & (owner >= 0)]).tolist():
            # with two others hidden anyway, each of them guards the other
            others = forced & (owner != respondent)
            if others.sum() == 1 and problem.primary[cells[others]].all():
                helpers = cells[problem.candidates[cells] & (owner != respondent)].astype(np.int64)
                all_cells.setdefault(helpers.tobytes(), helpers)
    found = list(all_cells.values())
    return _rows(found, [np.ones(len(cells)) for cells in found], problem.n_cells)


def _rows(cells: list[NDArray[np.int64]], coefs: list[Floats], n_cells: int) -> sparse.csr_array:
    if not cells:
        return sparse.csr_array((0, n_cells), dtype=np.float64)
    indptr = np.concatenate(([0], np.cumsum([len(c) for c in cells])))
    return sparse.csr_array((np.concatenate(coefs), np.concatenate(cells), indptr), shape=(len(cells), n_cells))
