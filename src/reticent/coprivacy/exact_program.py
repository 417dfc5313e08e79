# SPDX-License-Identifier: Apache-2.0
"""Linear programs in whole numbers: what a game's equilibria are must not depend on how large its payoffs are.

Programs have the form rows·x ≤ right, x ≥ 0, right ≥ 0, so x = 0 is feasible and no first phase is needed. Tableaus stay
whole (Edmonds' pivoting: every entry is a determinant over the same divisor).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.errors import SolverError

Exact = NDArray[np.object_]

MAX_PIVOTS = 400
"""Exchanges after which the search for an exact optimum gives up; from the solver's own basis a few are enough."""

_ZERO = 1e-9


@dataclass(eq=False)
class Tableau:
    """Rows of the program (right-hand sides last), which variable each row and column stands for, and the divisor."""

    table: Exact
    basis: list[int]
    outside: list[int]
    divisor: int = 1

    @classmethod
    def of(cls, rows: Exact, right: Sequence[Fraction], cost: Sequence[Fraction] | None = None) -> "Tableau":
        """At x = 0; with costs (to be maximised) a last row has what each column still offers, negated."""
        n_rows, n_columns = rows.shape
        whole = [_whole([*row, value]) for row, value in zip(rows, right, strict=True)]
        if cost is not None:
            whole.append(_whole([*(-value for value in cost), Fraction(0)]))
        table = np.empty((len(whole), n_columns + 1), dtype=object)
        for number, row in enumerate(whole):
            table[number] = row
        return cls(table, list(range(n_columns, n_columns + n_rows)), list(range(n_columns)))

    def leaving(self, column: int) -> list[int]:
        """Rows that bound a column first, ties included."""
        own, right = self.table[: len(self.basis), column], self.table[: len(self.basis), -1]
        ratios = {row: Fraction(right[row], own[row]) for row in range(len(self.basis)) if own[row] > 0}
        least = min(ratios.values(), default=None)
        return [row for row, ratio in ratios.items() if ratio == least]

    def pivot(self, row: int, column: int) -> None:
        """Exchange a row's variable for a column's; the pivot must be positive, it is the divisor of what follows."""
        pivot: int = self.table[row, column]
        own, others = self.table[row].copy(), self.table[:, column].copy()
        self.table[:] = (self.table * pivot - np.outer(others, own)) // self.divisor
        self.table[row], self.table[:, column] = own, -others
        self.table[row, column] = self.divisor
        self.divisor = pivot
        if pivot < 0:
            self.table, self.divisor = -self.table, -pivot
        self.basis[row], self.outside[column] = self.outside[column], self.basis[row]

    def moved(self, row: int, column: int) -> "Tableau":
        """Another tableau, one exchange away."""
        found = Tableau(self.table.copy(), list(self.basis), list(self.outside), self.divisor)
        found.pivot(row, column)
        return found

    def values(self) -> list[Fraction]:
        """The variables x at this corner."""
        found = [Fraction(0)] * len(self.outside)
        for row, name in enumerate(self.basis):
            if name < len(found):
                found[name] = Fraction(self.table[row, -1], self.divisor)
        return found


def _whole(values: Sequence[Fraction]) -> list[int]:
    """A row times what makes it whole: the same constraint, or the same objective."""
    scale = math.lcm(*(value.denominator for value in values))
    return [int(value * scale) for value in values]


def maximise_exactly(
    cost: Sequence[Fraction], rows: Exact, right: Sequence[Fraction], near: Floats, prices: Floats
) -> list[Fraction] | None:
    """An optimal x in fractions, from a solver's values and prices of the rows; None if it is too far from there.

    The values only say where the search starts: what is returned is feasible and optimal by whole numbers.
    """
    at = Tableau.of(rows, right, cost)
    _go_near(at, near, prices)
    if min(at.table[:-1, -1]) < 0:  # rounding misled us; start again where nothing can be wrong
        at = Tableau.of(rows, right, cost)
    for _ in range(MAX_PIVOTS):
        better = [place for place, value in enumerate(at.table[-1, :-1]) if value < 0]
        if not better:
            return at.values()
        column = min(better, key=lambda place: at.outside[place])  # Bland: the first of its kind, no run is endless
        leaving = at.leaving(column)
        if not leaving:
            raise SolverError("linear program of a game: it is not bounded, although its payoffs are.")
        at.pivot(min(leaving, key=lambda row: at.basis[row]), column)
    return None


def _go_near(at: Tableau, near: Floats, prices: Floats) -> None:
    """Bring the variables in use into the basis, in exchange for rows that have a price."""
    n_columns = len(at.outside)
    order = np.argsort(-np.abs(prices), kind="stable").tolist()
    for column in np.flatnonzero(near > _ZERO).tolist():
        free = (row for row in order if at.basis[row] >= n_columns and at.table[row, column])
        row = next(free, None)
        if row is not None:
            at.pivot(row, column)
