# SPDX-License-Identifier: Apache-2.0
"""Tables whose printed totals are off by rounding: what the attacker calculates with is the published part.

The hidden values are moved as little as possible so that they fit the published ones; the attacker's intervals are those
of this consistent table. Without it, an interval would speak of a table that nobody has.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.solve.highs import solve
from reticent.solve.model import LinearModel
from reticent.tables.problem import SuppressionProblem


def reconciled(problem: SuppressionProblem, hidden: NDArray[np.bool_]) -> SuppressionProblem:
    """The problem with hidden values that fit the published ones; itself if all relations hold or nothing fits."""
    off = problem.relations.residuals(problem.values)
    off[np.abs(off) <= problem.tolerance] = 0.0
    if not off.any() or not hidden.any():
        return problem
    part = problem.relations.restrict(hidden)
    cells, n = part.cells, len(part.cells)
    matrix = part.relations.matrix()
    room_up = problem.upper_bound[cells] - problem.values[cells]
    room_down = problem.values[cells] - problem.lower_bound[cells]
    target = -off[part.rows]
    found = solve(
        LinearModel(
            np.ones(2 * n),
            np.zeros(2 * n),
            np.concatenate((room_up, room_down)),
            sparse.csr_array(sparse.hstack((matrix, -matrix))),
            target,
            target,
        )
    )
    if not found.feasible:
        return problem
    values = problem.values.copy()
    values[cells] += found.values[:n] - found.values[n:]
    values = np.round(values, problem.decimals)
    return replace(
        problem,
        values=values,
        lower_bound=np.minimum(problem.lower_bound, values),
        upper_bound=np.maximum(problem.upper_bound, values),
    )
