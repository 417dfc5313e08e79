# SPDX-License-Identifier: Apache-2.0
"""Exact intervals of every hidden cell, and which primaries are exposed."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Floats, Mask
from reticent.base.checks import check_choice
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, silent
from reticent.tables.attack.certify import certify
from reticent.tables.attack.ends import movement_ends
from reticent.tables.attack.reduce import Reduced, reduce
from reticent.tables.attack.reveal import Revelation, reveal
from reticent.tables.problem import SuppressionProblem

MAX_REVEALED = 50
"""For this many exposed cells `Audit.revelations` says by which relations; `Audit.reveal` does any single one."""


@dataclass(frozen=True, eq=False)
class Audit:
    """What the attacker finds: one entry a hidden cell, in the order of `cells`.

    `low` and `high` are the ends of the attack interval; a cell is exposed when they do not reach `required_low` and
    `required_high`, when their distance is below the sliding level, or when a primary's interval is a single point.
    `worlds` says how many true tables fit where noise was attacked by enumerating all of them. `unjudged` says what of the
    published table was not attacked, where that keeps it from being called protected.
    """

    cells: NDArray[np.int32]
    low: Floats
    high: Floats
    required_low: Floats
    required_high: Floats
    exposed: Mask
    programs: int
    seconds: float
    exact: bool = True
    problem: SuppressionProblem | None = field(default=None, repr=False)
    hidden: Mask | None = field(default=None, repr=False)
    worlds: int | None = None
    unjudged: str = ""

    @property
    def n_exposed(self) -> int:
        """How many hidden cells are exposed."""
        return int(self.exposed.sum())

    @property
    def exposed_cells(self) -> NDArray[np.int32]:
        """Numbers of the exposed cells."""
        return self.cells[self.exposed]

    def reveal(self, cell: int) -> Revelation:
        """How the attacker comes to the interval of one of the attacked cells: the relations that prove its ends."""
        if self.problem is None or self.hidden is None or not self.hidden[cell]:
            raise ParameterError(f"audit: cell {cell} was not attacked; only attacked cells have a revelation.")
        return reveal(self.problem, self.hidden, cell)

    @cached_property
    def revelations(self) -> dict[int, Revelation]:
        """How exposed cells are revealed, worked out when asked for; of more than MAX_REVEALED the first ones."""
        if self.problem is None or self.hidden is None:
            return {}
        return {int(cell): self.reveal(int(cell)) for cell in self.exposed_cells[:MAX_REVEALED]}

    def __repr__(self) -> str:
        return f"<Audit: {len(self.cells)} hidden cells, {self.n_exposed} exposed, {self.programs} programs>"


def audit(
    problem: SuppressionProblem,
    suppressed: Mask,
    *,
    mode: str = "intervals",
    known: Mask | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> Audit:
    """Attack a pattern with all relations, published cells and bounds.

    Mode "intervals" gives both exact ends of every hidden cell; "certify" only proves the needs of the primaries, and
    `low` and `high` are then what has been proved reachable. Cells `known` to this attacker are not attacked.
    `workers` threads share the work (default: one for each core, one only for small systems) with the same result.
    """
    check_choice(mode, ("intervals", "certify"), name="mode", owner="audit")
    started = clock.now()
    hidden = check_pattern(problem, suppressed)
    if mode == "certify":
        reach, _ = certify(problem, hidden, known=known, workers=workers, progress=progress)
        found = judge(problem, reach.reduced.cells, reach.down, reach.up, programs=reach.programs)
        assert reach.lost is not None
        found = replace(found, exposed=reach.lost, exact=False)
        return _with_sources(found, problem, hidden, known, started)
    reduced = reduce(problem, hidden, known=known)
    down, up, programs = movement_ends(reduced, only=_of_cells(problem, reduced), workers=workers, progress=progress)
    low, high = carried(reduced, down, up)
    return _with_sources(judge(problem, reduced.cells, low, high, programs=programs), problem, hidden, known, started)


def _of_cells(problem: SuppressionProblem, reduced: Reduced) -> Mask | None:
    """The movements that carry a cell; nobody asks for the ends of combinations that no table shows."""
    if not problem.combinations:
        return None
    found = np.zeros(reduced.relations.n_cells, dtype=bool)
    found[reduced.leader[(reduced.leader >= 0) & ~np.isin(reduced.cells, list(problem.combinations))]] = True
    return found


def _with_sources(found: Audit, problem: SuppressionProblem, hidden: Mask, known: Mask | None, started: float) -> Audit:
    free = hidden if known is None else hidden & ~known
    return replace(found, problem=problem, hidden=free, seconds=clock.now() - started)


def carried(reduced: Reduced, down: Floats, up: Floats) -> tuple[Floats, Floats]:
    """Ends of the cells from the ends of the movements that carry them."""
    at = np.maximum(reduced.leader, 0)
    if len(down) == 0:
        return np.zeros(len(at)), np.zeros(len(at))
    low = np.where(reduced.sign > 0, down[at], up[at])
    high = np.where(reduced.sign > 0, up[at], down[at])
    still = reduced.leader < 0
    return np.where(still, 0.0, low), np.where(still, 0.0, high)


def check_pattern(problem: SuppressionProblem, suppressed: Mask) -> Mask:
    """The pattern as a mask over the cells; every primary must be hidden."""
    mask = np.asarray(suppressed)
    if mask.dtype != bool or mask.shape != (problem.n_cells,):
        raise ParameterError(f"audit: suppressed must be a truth value for each of the {problem.n_cells} cells.")
    shown = int((problem.primary & ~mask).sum())
    if shown:
        raise ParameterError(f"audit: {shown} primary cells are not hidden; a pattern must hide every primary.")
    return mask


def judge(
    problem: SuppressionProblem,
    cells: NDArray[np.int32],
    down: Floats,
    up: Floats,
    *,
    programs: int = 0,
    seconds: float = 0.0,
) -> Audit:
    """Compare how far each hidden cell can move with what it needs."""
    values, slack = problem.values[cells], problem.tolerance
    lower, upper = problem.lower_protection[cells], problem.upper_protection[cells]
    exposed = (down < lower - slack) | (up < upper - slack)
    exposed |= down + up < problem.sliding_protection[cells] - slack
    exposed |= problem.primary[cells] & (down + up <= slack)
    return Audit(cells, values - down, values + up, values - lower, values + upper, exposed, programs, seconds)
