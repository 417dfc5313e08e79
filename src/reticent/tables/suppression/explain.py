# SPDX-License-Identifier: Apache-2.0
"""Why a cell is hidden, and what would have to be hidden instead."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reticent.base import clock
from reticent.base.arrays import Mask
from reticent.base.errors import InfeasibleError, ParameterError
from reticent.data.cells import CellStatus
from reticent.tables.attack.certify import certify
from reticent.tables.attack.inside import Breaches
from reticent.tables.attack.insiders import insiders, single_respondents
from reticent.tables.attack.reveal import Revelation, reveal
from reticent.tables.attack.sums import published_sums
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.infeasible import explain_infeasible
from reticent.tables.suppression.sums import first_sums, with_sums


@dataclass(frozen=True)
class Why:
    """What the publication of a hidden cell would do: the primaries it guards and how each would be revealed."""

    cell: int
    primary: bool
    guards: tuple[int, ...]
    revelations: tuple[Revelation, ...]
    insiders: tuple[int, ...] = ()
    sums: tuple[int, ...] = ()

    def sentence(self, name: Callable[[int], str] = str, *, values: bool = True) -> str:
        """In words; `name` gives cells other names than their numbers."""
        if self.primary:
            return f"Cell {name(self.cell)} is unsafe itself."
        if not self.guards and not self.insiders and self.sums:
            return f"Cell {name(self.cell)} guards what {', '.join(name(c) for c in self.sums)} add up to."
        if not self.guards and not self.insiders:
            return f"Cell {name(self.cell)} guards nothing: it could be published."
        names = ", ".join(name(c) for c in self.guards + self.insiders)
        if not self.revelations:
            return f"Cell {name(self.cell)} guards {names} against sole respondents of a cell."
        told = self.revelations[0].sentence(name, values=values)
        return f"Cell {name(self.cell)} guards {names}; if it were published: {told}"


@dataclass(frozen=True)
class WhatIf:
    """What it takes to publish a hidden cell: cells to hide instead, cells that may then be shown, and the costs."""

    cell: int
    possible: bool
    hide: tuple[int, ...]
    show: tuple[int, ...]
    cost_before: float
    cost_after: float
    reason: str = ""

    def sentence(self, name: Callable[[int], str] = str, *, values: bool = True) -> str:
        """In words; `name` gives cells other names than their numbers. Costs are mostly values, so without these they go."""
        if not self.possible:
            return f"Cell {name(self.cell)} cannot be published. {self.reason}"
        hidden = ", ".join(name(c) for c in self.hide) or "nothing else"
        cost = f": the cost goes from {self.cost_before:g} to {self.cost_after:g}" if values else ""
        return f"To publish cell {name(self.cell)}, hide {hidden}{cost}."


def why(problem: SuppressionProblem, pattern: Mask, cell: int) -> Why:
    """Publish one hidden cell in thought, and attack."""
    _check_hidden(problem, pattern, cell)
    if problem.primary[cell]:
        return Why(cell, True, (), ())
    trial = pattern.copy()
    trial[cell] = False
    labels = problem.relations.components(pattern)
    near = labels == labels[cell]
    reach, _ = certify(problem, trial & near)
    assert reach.lost is not None
    guards = reach.reduced.cells[reach.lost].tolist()
    inside = {c for item in insiders(problem, trial & near) for c in item.exposed}
    for breach in [] if guards else Breaches(problem).find(trial & near, most=len(trial)):
        inside.update(breach.cells)
    inside -= set(guards)
    revelations = tuple(reveal(problem, trial & near, int(c)) for c in guards)
    summed = sorted({c for group in published_sums(problem, trial) for c in group})
    return Why(cell, False, tuple(int(c) for c in guards), revelations, tuple(sorted(inside)), tuple(summed))


def what_if(problem: SuppressionProblem, pattern: Mask, cell: int, *, time_limit: float = 10.0) -> WhatIf:
    """Publish one hidden cell and repair the rest of the pattern at the least further cost."""
    _check_hidden(problem, pattern, cell)
    before = float(problem.cost[pattern & ~problem.primary].sum())
    if problem.primary[cell]:
        return WhatIf(cell, False, (), (), before, before, "It is unsafe itself.")
    frozen = np.zeros(problem.n_cells, dtype=bool)
    frozen[cell] = True
    changed = problem.with_status(frozen, CellStatus.FROZEN)
    deadline = clock.now() + time_limit
    try:
        with clock.until(clock.limited(time_limit)):
            best = _repaired(changed, pattern & ~frozen, deadline)
    except InfeasibleError:
        return WhatIf(cell, False, (), (), before, before, str(explain_infeasible(changed)))
    after = float(problem.cost[best & ~problem.primary].sum())
    hide = tuple(np.flatnonzero(best & ~pattern).tolist())
    show = tuple(np.flatnonzero(pattern & ~best).tolist())
    return WhatIf(cell, True, hide, show, before, after)


def _repaired(problem: SuppressionProblem, pattern: Mask, deadline: float) -> Mask:
    """A safe pattern from an unsafe one; sums that it would publish are watched too."""
    n, groups = problem.n_cells, first_sums(problem)
    alone = bool((single_respondents(problem) >= 0).any())
    while True:
        whole = with_sums(problem, groups)
        engine = Engine(whole, whole.cost, deadline=deadline, rng=np.random.default_rng(0), singletons=alone)
        engine.complete(np.append(pattern, np.ones(len(groups), dtype=bool)))
        engine.clean(until=deadline)
        assert engine.best is not None
        best = engine.best[:n]
        new = [group for group in published_sums(problem, best) if group not in groups]
        if not new:
            return best
        groups += new


def _check_hidden(problem: SuppressionProblem, pattern: Mask, cell: int) -> None:
    if not 0 <= cell < problem.n_cells or not pattern[cell]:
        raise ParameterError(f"explain: cell {cell} is not hidden; only hidden cells have a reason.")
