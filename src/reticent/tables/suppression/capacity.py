"""Capacity rows of single relations: what a primary's neighbours in one relation must be able to take up together."""

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
    if not all_cells:
        return sparse.csr_array((0, problem.n_cells), dtype=np.float64)
    indptr = np.concatenate(([0], np.cumsum([len(c) for c in all_cells])))
    shape = (len(all_cells), problem.n_cells)
    return sparse.csr_array((np.concatenate(all_coefs), np.concatenate(all_cells), indptr), shape=shape)
