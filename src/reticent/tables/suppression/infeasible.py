# SPDX-License-Identifier: Apache-2.0
"""Why there is no safe pattern: which primaries cannot be protected, and which never-hidden cells block them."""

from dataclasses import replace

import numpy as np

from reticent.base.errors import InfeasibleError
from reticent.tables.attack.audit import carried
from reticent.tables.attack.certify import certify
from reticent.tables.attack.ends import movement_ends
from reticent.tables.attack.inside import Breaches
from reticent.tables.attack.insiders import insiders
from reticent.tables.attack.reduce import reduce
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.cuts import Separator, blocking_cells
from reticent.tables.suppression.demands import demands_of

_SHOWN = 10
KNOWN_ANYWAY = (
    "The lower levels of some unsafe cells end above where the rules put them, because the relations alone say that these "
    "cells are not smaller, whatever is hidden."
)
"""What a run says whose levels ended `within_reach`."""


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
    if not blocking:
        marked = "say hide_empty = false, " if problem.hides_empty else ""
        return InfeasibleError(
            f"Suppression: {len(lost)} primary cells cannot be protected (cells {{cells}}), whatever is hidden: the relations "
            f"and what is known of other cells give them away. Lower their levels, {marked}or leave a table or a response out.",
            cells=tuple(int(c) for c in lost),
        )
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


def within_reach(problem: SuppressionProblem, found: InfeasibleError) -> SuppressionProblem | None:
    """The problem with lower levels that end at what everybody knows even if everything is hidden; None if they do already.

    Two cells that hold somebody each add up to at least 2, and no pattern makes anybody doubt that. Levels above are left as
    they are, and so are all levels where a cell that may not be hidden would help.
    """
    if not found.cells or found.blocking:
        return None
    reduced = reduce(problem, problem.candidates | problem.forced)
    lost = np.isin(reduced.cells, found.cells) & (reduced.leader >= 0)
    only = np.zeros(len(reduced.room_down), dtype=bool)
    only[reduced.leader[lost]] = True
    down, up, _ = movement_ends(reduced, only=only)
    reach = carried(reduced, down, up)[0][lost]
    lower, cells = problem.lower_protection.copy(), reduced.cells[lost]
    reach = np.where(problem.whole[cells], np.floor(reach + problem.tolerance), reach)
    lower[cells] = np.minimum(lower[cells], reach)
    if bool((lower >= problem.lower_protection - problem.tolerance).all()):
        return None
    return replace(problem, lower_protection=lower)
