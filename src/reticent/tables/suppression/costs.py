"""What hiding a cell costs: the choice decides what kind of pattern comes out."""

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import ParameterError
from reticent.tables.problem import SuppressionProblem

Floats = NDArray[np.float64]
COSTS = ("own", "unity", "frequency", "value", "log", "power", "distance")


def costs_of(problem: SuppressionProblem, cost: str, *, power: float = 0.5) -> Floats:
    """Costs by name: `own` are the problem's, `power` is |value|**power, `distance` grows away from the primaries."""
    if cost == "own":
        return problem.cost
    if cost == "unity":
        return np.ones(problem.n_cells)
    if cost == "frequency":
        if problem.counts is None:
            raise ParameterError("Suppression: cost 'frequency' needs the counts of the cells, and there are none.")
        return problem.counts.astype(np.float64)
    if cost == "distance":
        return _distances(problem)
    size = np.abs(problem.values)
    if cost == "log":
        return np.log1p(size)
    return size if cost == "value" else size**power


def _distances(problem: SuppressionProblem) -> Floats:
    """1 for cells that share a relation with a primary, 2 for the next ones, and so on (far cells: one more)."""
    distance = np.where(problem.primary, 0.0, np.inf)
    relations = problem.relations
    if relations.n_rows == 0:
        return np.ones(problem.n_cells)
    filled = np.diff(relations.indptr) > 0
    starts = relations.indptr[:-1][filled]
    while True:
        near = np.minimum.reduceat(distance[relations.cells], starts) + 1
        before = distance.copy()
        np.minimum.at(distance, relations.cells, np.repeat(near, np.diff(relations.indptr)[filled]))
        if np.array_equal(before, distance):
            break
    known = distance[np.isfinite(distance)]
    last = float(known.max(initial=0.0))
    return np.asarray(np.where(np.isfinite(distance), np.maximum(distance, 1.0), last + 1))
