# SPDX-License-Identifier: Apache-2.0
"""An attacker who knows every cell within some per cent beforehand, and the levels that can be kept from them.

tau-ARGUS's hypercube method asks for this percentage (GH). Where it leaves an unsafe cell less room than its levels need,
GHMITER asks for a half of them, a third, up to a tenth, then for any movement; and says how many cells that concerns.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.tables.attack.audit import audit
from reticent.tables.problem import SuppressionProblem

_SHARES = 1.0 / np.arange(10, 0, -1)  # a tenth to the whole


def knowing(problem: SuppressionProblem, percent: float) -> SuppressionProblem:
    """The same problem for an attacker who knows every cell within `percent`; of zeros they know what others know.

    An unsafe cell has room for its levels: what is known closer than that could not be protected by any pattern.
    """
    reach = np.abs(problem.values) * percent / 100.0
    down = np.maximum(reach, problem.lower_protection)
    up = np.maximum(reach, np.maximum(problem.upper_protection, problem.sliding_protection - down))
    zero = problem.values == 0
    return replace(
        problem,
        lower_bound=np.where(zero, problem.lower_bound, np.maximum(problem.lower_bound, problem.values - down)),
        upper_bound=np.where(zero, problem.upper_bound, np.minimum(problem.upper_bound, problem.values + up)),
    )


def widened(problem: SuppressionProblem, percent: float) -> int:
    """How many unsafe cells (zeros apart) need more room than the percentage leaves, and are given it."""
    reach = np.abs(problem.values) * percent / 100.0
    wide = np.maximum(problem.lower_protection, problem.upper_protection) > reach
    return int((problem.primary & (problem.values != 0) & wide).sum())


def attainable(problem: SuppressionProblem) -> tuple[SuppressionProblem, NDArray[np.int32]]:
    """The problem with the levels that hiding everything gives, and the cells whose levels had to be lowered."""
    everything = problem.candidates | problem.forced
    found = audit(problem, everything, mode="certify")
    cells = found.exposed_cells
    values = problem.values[cells]
    down, up = values - found.low[found.exposed], found.high[found.exposed] - values
    room = np.minimum(
        _share(down, problem.lower_protection[cells]),
        np.minimum(_share(up, problem.upper_protection[cells]), _share(down + up, problem.sliding_protection[cells])),
    )
    place = np.searchsorted(_SHARES, room + 1e-9, side="right")
    kept = np.where(place > 0, _SHARES[np.maximum(place, 1) - 1], 0.0)
    lower, upper, sliding = (
        levels.copy() for levels in (problem.lower_protection, problem.upper_protection, problem.sliding_protection)
    )
    for levels in (lower, upper, sliding):
        levels[cells] *= kept
    lowered = replace(problem, lower_protection=lower, upper_protection=upper, sliding_protection=sliding)
    return lowered, cells


def _share(reached: Floats, needed: Floats) -> Floats:
    return np.divide(reached, needed, out=np.ones(len(needed)), where=needed > 0)
