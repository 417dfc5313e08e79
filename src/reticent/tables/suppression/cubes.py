# SPDX-License-Identifier: Apache-2.0
"""Small cubes of cells around a cell, found from the relations alone."""

import itertools

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.data.relations import Relations
from reticent.tables.problem import SuppressionProblem

_CHOICES = 8  # cells tried in each direction


class CubeFinder:
    """Finds cheap cubes of usable cells around a cell."""

    def __init__(self, problem: SuppressionProblem, cost: Floats) -> None:
        self.problem = problem
        self.cost = cost
        self.usable = problem.candidates | problem.forced
        self._indptr, self._rows, _ = problem.relations.by_cell
        self._near: dict[int, set[int]] = {}

    def cheapest(self, cell: int, hidden: Mask) -> list[int]:
        """The corners of the cheapest cube tried (empty if there is none); hidden corners cost nothing."""
        price = np.where(hidden, 0.0, self.cost + 1e-9)
        best: list[int] = []
        best_cost = np.inf
        for choice in itertools.product(*(self._choices(row, cell, price) for row in self._crossing(cell))):
            corners = self._complete(cell, choice)
            if corners is None:
                continue
            total = float(price[corners].sum())
            if total < best_cost:
                best, best_cost = corners, total
        return best

    def _relations_of(self, cell: int) -> list[int]:
        return [int(r) for r in self._rows[self._indptr[cell] : self._indptr[cell + 1]]]

    def _choices(self, row: int, cell: int, price: Floats) -> list[int]:
        cells = self._part(row)
        others = cells[(cells != cell) & self.usable[cells]]
        return [int(c) for c in others[np.argsort(price[others], kind="stable")][:_CHOICES]]

    def _part(self, row: int) -> NDArray[np.int32]:
        relations: Relations = self.problem.relations
        return relations.row(row)[0]

    def _neighbours(self, cell: int) -> set[int]:
        if cell not in self._near:
            rows = self._relations_of(cell)
            self._near[cell] = {int(c) for row in rows for c in self._part(row)} - {cell}
        return self._near[cell]

    def _crossing(self, cell: int) -> list[int]:
        """Relations of the cell that cross each other: for cells of two of them there is a fourth that makes a box."""
        chosen: list[int] = []
        for row in self._relations_of(cell):
            other = next((int(c) for c in self._part(row) if c != cell), None)
            if other is None:
                continue
            partners = (next(int(c) for c in self._part(r) if c != cell) for r in chosen)
            if all(self._fourth(cell, partner, other) is not None for partner in partners):
                chosen.append(row)
        return chosen

    def _fourth(self, cell: int, first: int, second: int) -> int | None:
        """The cell that completes first – cell – second to a rectangle."""
        if second in self._neighbours(first):
            return None
        common = (self._neighbours(first) & self._neighbours(second)) - self._neighbours(cell) - {cell}
        return min(common) if common else None

    def _complete(self, cell: int, choice: tuple[int, ...]) -> list[int] | None:
        """All corners of the box spanned by a cell and one other cell in each direction."""
        corners: dict[frozenset[int], int] = {frozenset(): cell}
        for size in range(1, len(choice) + 1):
            for subset in itertools.combinations(range(len(choice)), size):
                corner = self._corner(frozenset(subset), choice, corners)
                if corner is None or not self.usable[corner]:
                    return None
                corners[frozenset(subset)] = corner
        return list(corners.values())

    def _corner(
        self, subset: frozenset[int], choice: tuple[int, ...], corners: dict[frozenset[int], int]
    ) -> int | None:
        if len(subset) == 1:
            return choice[next(iter(subset))]
        faces = [corners[subset - {direction}] for direction in sorted(subset)]
        common = set.intersection(*(self._neighbours(face) for face in faces))
        common -= {c for key, c in corners.items() if len(key) < len(subset)}
        lower = corners[subset - set(sorted(subset)[:2])]
        common -= self._neighbours(lower)
        return min(common) if common else None
