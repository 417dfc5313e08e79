"""Exact intervals of every hidden cell, and which primaries are exposed."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, silent
from reticent.tables.attack.programs import MovementProgram
from reticent.tables.problem import SuppressionProblem

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Audit:
    """What the attacker finds: one entry a hidden cell, in the order of `cells`.

    `low` and `high` are the ends of the attack interval; a cell is exposed when they do not reach `required_low` and
    `required_high`, when their distance is below the sliding level, or when a primary's interval is a single point.
    """

    cells: NDArray[np.int32]
    low: Floats
    high: Floats
    required_low: Floats
    required_high: Floats
    exposed: Mask
    programs: int
    seconds: float

    @property
    def n_exposed(self) -> int:
        """How many hidden cells are exposed."""
        return int(self.exposed.sum())

    @property
    def exposed_cells(self) -> NDArray[np.int32]:
        """Numbers of the exposed cells."""
        return self.cells[self.exposed]

    def __repr__(self) -> str:
        return f"<Audit: {len(self.cells)} hidden cells, {self.n_exposed} exposed, {self.programs} programs>"


def audit(problem: SuppressionProblem, suppressed: Mask, *, progress: Progress = silent) -> Audit:
    """Attack a pattern: the interval of every hidden cell from all relations, published cells and bounds."""
    started = time.monotonic()
    hidden = check_pattern(problem, suppressed)
    cells = np.flatnonzero(hidden).astype(np.int32)
    down, up = np.zeros(problem.n_cells), np.zeros(problem.n_cells)
    labels = problem.relations.components(hidden)
    programs = 0
    n_groups = int(labels.max(initial=-1)) + 1
    for group in range(n_groups):
        progress(group / n_groups, "attacking the hidden cells")
        programs += _attack_group(problem, labels == group, down, up)
    return judge(problem, cells, down[cells], up[cells], programs=programs, seconds=time.monotonic() - started)


def check_pattern(problem: SuppressionProblem, suppressed: Mask) -> Mask:
    """The pattern as a mask over the cells; every primary must be hidden."""
    mask = np.asarray(suppressed)
    if mask.dtype != bool or mask.shape != (problem.n_cells,):
        raise ParameterError(f"audit: suppressed must be a truth value for each of the {problem.n_cells} cells.")
    shown = int((problem.primary & ~mask).sum())
    if shown:
        raise ParameterError(f"audit: {shown} primary cells are not hidden; a pattern must hide every primary.")
    return mask


def _attack_group(problem: SuppressionProblem, group: Mask, down: Floats, up: Floats) -> int:
    part = problem.relations.restrict(group)
    values = problem.values[part.cells]
    program = MovementProgram(
        part.relations, values - problem.lower_bound[part.cells], problem.upper_bound[part.cells] - values
    )
    for number, cell in enumerate(part.cells):
        up[cell] = program.reach(number, +1).objective
    for number, cell in enumerate(part.cells):
        down[cell] = program.reach(number, -1).objective
    return program.solves


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
