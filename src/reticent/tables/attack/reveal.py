# SPDX-License-Identifier: Apache-2.0
"""How a hidden cell is revealed: the relations that hold its interval together, from the attacker's own proof."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Mask
from reticent.data.relations import Relations
from reticent.tables.attack.programs import MovementProgram
from reticent.tables.problem import SuppressionProblem

_NOISE = 1e-7


@dataclass(frozen=True)
class Revelation:
    """What the attacker concludes about a cell, and from what.

    `relations` are numbers in the problem, `published` the cells they reveal, `limited` the hidden cells whose own
    bounds (mostly: not below zero) are part of the proof.
    """

    cell: int
    low: float
    high: float
    relations: tuple[int, ...]
    published: tuple[int, ...]
    limited: tuple[int, ...] = ()

    def sentence(self, name: Callable[[int], str] = str, *, values: bool = True) -> str:
        """In words; without `values` the ends of what is concluded are left out."""
        found = f"is {self.low:g}" if self.low == self.high else f"is between {self.low:g} and {self.high:g}"
        if not values:
            found = "is known exactly" if self.low == self.high else "is known within an interval"
        relations, cells = len(self.relations), len(self.published)
        return (
            f"Cell {name(self.cell)} {found}, by {relations} relation{'s' if relations != 1 else ''} with "
            f"{cells} published cell{'s' if cells != 1 else ''}."
        )

    def in_words(self, relations: Relations, name: Callable[[int], str] = str) -> list[str]:
        """Each of the relations as a sum of named cells."""
        return [relation_words(relations, row, name) for row in self.relations]


def relation_words(relations: Relations, row: int, name: Callable[[int], str] = str, *, most: int = 6) -> str:
    """A relation as `total = part + part`, with at most this many parts named."""
    cells, coefs = relations.row(row)
    sign = -1 if int((coefs < 0).sum()) == 1 else 1
    totals = [int(c) for c in cells[coefs == sign]]
    if len(totals) != 1 or not bool((np.abs(coefs) == 1).all()) or relations.rhs[row] != 0:
        terms = [f"{int(k):+d}·{name(int(c))}" for c, k in zip(cells[:most], coefs[:most], strict=True)]
        more = f" … ({len(cells)} terms)" if len(cells) > most else ""
        return f"{' '.join(terms)}{more} = {relations.rhs[row]:g}"
    parts = [(int(c), int(k)) for c, k in zip(cells, coefs, strict=True) if int(c) != totals[0]]
    shown = "".join(f" {'+' if k == -sign else '−'} {name(c)}" for c, k in parts[:most])
    more = f" + … ({len(parts)} parts)" if len(parts) > most else ""
    return f"{name(totals[0])} = {shown.removeprefix(' + ')}{more}"


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
    limits: set[int] = set()
    for end in ends:
        if len(end.row_duals):
            rows.update(part.rows[np.abs(end.row_duals) > _NOISE].tolist())
            limits.update(part.cells[np.abs(end.reduced_costs) > _NOISE].tolist())
    involved = {int(c) for row in rows for c in problem.relations.row(row)[0]}
    shown = tuple(sorted(c for c in involved if not hidden[c]))
    slack = problem.tolerance
    low = float(problem.values[cell]) - (ends[1].objective if ends[1].objective > slack else 0.0)
    high = float(problem.values[cell]) + (ends[0].objective if ends[0].objective > slack else 0.0)
    return Revelation(cell, low, high, tuple(sorted(rows)), shown, tuple(sorted(limits - {cell})))
