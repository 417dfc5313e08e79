"""Hypercubes: each primary becomes a corner of a small cube of hidden cells (Repsilber; Giessing).

The alternating movement on the corners of a cube changes no relation. The cubes are found from the relations alone: a
second cell in each of several relations that cross in the primary, and the cells that complete the box.
"""

import itertools
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.base.errors import NotProtectedError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret
from reticent.data.cells import CellStatus
from reticent.data.relations import Relations
from reticent.tables.attack.audit import audit
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.knowing import attainable, knowing, widened
from reticent.tables.suppression.method import Suppression, SuppressionMethod

_CHOICES = 8  # cells tried in each direction


@dataclass(frozen=True)
class Hypercube(SuppressionMethod):
    """Fast and generous: one cube for each primary, the cheapest of those tried; what is still exposed is completed.

    With `known_within` the pattern holds against an attacker with that knowledge too. Levels that cannot be kept from
    him, whatever is hidden, are lowered for him (`facts["lowered"]` names the cells), and kept from everybody else.
    """

    name: ClassVar[str] = "hypercube"
    known_within: float | None = field(
        default=None,
        metadata={"above": 0, "help": "per cent within which the attacker knows every cell; without: he does not"},
    )

    def protect(
        self,
        problem: SuppressionProblem,
        *,
        time_limit: float = 60.0,
        progress: Progress = silent,
        secret: Secret | None = None,
        earlier: Mask | None = None,
    ) -> Suppression:
        """Find a safe pattern within about `time_limit` seconds; cells hidden in an `earlier` period cost less."""
        if self.known_within is None:
            return super().protect(problem, time_limit=time_limit, progress=progress, secret=secret, earlier=earlier)
        problem.check_attainable()
        near, lowered = attainable(knowing(problem, self.known_within))
        share = 0.5 if len(lowered) else 1.0
        first = super().protect(
            near, time_limit=share * time_limit, progress=part(progress, 0.0, share), secret=secret, earlier=earlier
        )
        facts = {
            **first.facts,
            "lowered": tuple(lowered.tolist()),
            "widened": widened(problem, self.known_within),
        }
        if len(lowered) == 0:
            return replace(first, facts=facts)
        # hiding more helps against every attacker: what the first pattern hides stays hidden in the second
        hidden = problem.with_status(first.hidden & problem.candidates, CellStatus.SECONDARY)
        both = super().protect(
            hidden, time_limit=share * time_limit, progress=part(progress, share, 1.0), secret=secret, earlier=earlier
        )
        if audit(near, both.hidden, mode="certify").n_exposed:
            raise NotProtectedError("hypercube: the attacker who knows every cell roughly still finds exposed cells.")
        closed = first.bound is not None and both.cost <= first.bound + 1e-6 * max(1.0, both.cost)
        seconds = first.seconds + both.seconds
        status = "optimal" if closed else "feasible"
        return replace(both, bound=first.bound, status=status, facts=facts, seconds=seconds)

    def _search(self, engine: Engine) -> None:
        problem = engine.problem
        pattern = problem.forced.copy()
        needs = np.maximum(problem.upper_protection, problem.lower_protection)
        primaries = np.flatnonzero(problem.primary)
        engine.under_way = pattern  # grows in place
        finder = CubeFinder(problem, engine.cost)
        for number, cell in enumerate(primaries[np.argsort(-needs[primaries], kind="stable")].tolist()):
            if number % 100 == 0:
                engine.say("building cubes")
            if engine.left() <= 0:
                break
            pattern[finder.cheapest(cell, pattern)] = True
        engine.complete(pattern)


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
