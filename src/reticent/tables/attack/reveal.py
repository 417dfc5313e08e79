"""How a hidden cell is revealed: the relations that hold its interval together, from the attacker's own proof."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.tables.attack.programs import MovementProgram
from reticent.tables.problem import SuppressionProblem

Mask = NDArray[np.bool_]
_NOISE = 1e-7


@dataclass(frozen=True)
class Revelation:
    """What the attacker concludes about a cell, and from which relations (numbers in the problem)."""

    cell: int
    low: float
    high: float
    relations: tuple[int, ...]
    published: tuple[int, ...]

    def sentence(self) -> str:
        """In words."""
        found = f"is {self.low:g}" if self.low == self.high else f"is between {self.low:g} and {self.high:g}"
        rows = ", ".join(str(r) for r in self.relations)
        return f"Cell {self.cell} {found}, by relations {rows} with {len(self.published)} published cells."


def reveal(problem: SuppressionProblem, hidden: Mask, cell: int) -> Revelation:
    """The attack interval of one hidden cell with the relations that prove both of its ends."""
    labels = problem.relations.components(hidden)
    part = problem.relations.restrict(labels == labels[cell])
    values = problem.values[part.cells]
    down = values - problem.lower_bound[part.cells]
    up = problem.upper_bound[part.cells] - values
    place = int(np.searchsorted(part.cells, cell))
    program = MovementProgram(part.relations, down, up)
    ends = [program.reach(place, sign) for sign in (1, -1)]
    rows: set[int] = set()
    for end in ends:
        if len(end.row_duals):
            rows.update(part.rows[np.abs(end.row_duals) > _NOISE].tolist())
    involved = {int(c) for row in rows for c in problem.relations.row(row)[0]}
    shown = tuple(sorted(c for c in involved if not hidden[c]))
    slack = problem.tolerance
    low = float(problem.values[cell]) - (ends[1].objective if ends[1].objective > slack else 0.0)
    high = float(problem.values[cell]) + (ends[0].objective if ends[0].objective > slack else 0.0)
    return Revelation(cell, low, high, tuple(sorted(rows)), shown)
