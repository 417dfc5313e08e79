# SPDX-License-Identifier: Apache-2.0
"""Why there is no safe pattern: which primaries cannot be protected, and which never-hidden cells block them."""

import numpy as np

from reticent.base.errors import InfeasibleError
from reticent.tables.attack.certify import certify
from reticent.tables.attack.inside import Breaches
from reticent.tables.attack.insiders import insiders
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.cuts import Separator, blocking_cells
from reticent.tables.suppression.demands import demands_of

_SHOWN = 10


def explain_infeasible(problem: SuppressionProblem) -> InfeasibleError:
    """Attack the pattern that hides everything it may: what is exposed even then cannot be protected."""
    everything = problem.candidates | problem.forced
    reach, _ = certify(problem, everything)
    assert reach.lost is not None
    lost = reach.reduced.cells[reach.lost]
    if len(lost) == 0:
        inside = [cell for item in insiders(problem, everything) for cell in item.exposed]
        if not inside:
            return _too_close_inside(problem, everything)
        return InfeasibleError(
            "Suppression: some primary cells can always be worked out by a sole respondent of another cell "
            "(cells {cells}). Unfreeze cells near them, say hide_empty = false if it is true, or say singletons = false.",
            cells=tuple(sorted(set(inside))),
        )
    separator = Separator(problem, problem.cost)
    blocking: set[int] = set()
    for demand in demands_of(problem, lost[:_SHOWN]):
        cut = separator.separate(everything.astype(np.float64), demand)
        if cut is not None:
            blocking.update(blocking_cells(problem, cut).tolist())
    return InfeasibleError(
        f"Suppression: {len(lost)} primary cells cannot be protected (cells {{cells}}); cells that would help but may "
        "not be hidden: {blocking}. Unfreeze one of them or lower the levels.",
        cells=tuple(int(c) for c in lost),
        blocking=tuple(sorted(blocking)),
    )


def _too_close_inside(problem: SuppressionProblem, everything: np.ndarray) -> InfeasibleError:
    """Levels, or exact values, that respondents who join cannot be kept from whatever is hidden."""
    found = Breaches(problem).find(everything, most=_SHOWN)
    lost = sorted({cell for one in found for cell in one.cells})
    return InfeasibleError(
        "Suppression: sole respondents of a cell come closer to some primary cells than their levels allow, whatever is "
        'hidden (cells {cells}). Unfreeze cells near them, lower their levels, or say insiders = "exact".',
        cells=tuple(lost),
    )
