"""Elimination: publish the dearest cells as long as no primary becomes a sum of published ones (after Langsrud).

Every cell is a vector over the inner cells. A candidate is published if no primary, reduced by what is published,
is proportional to it; then it reduces all the others. Exact arithmetic modulo a prime. What intervals need beyond that
is completed afterwards.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reticent.base.errors import ParameterError
from reticent.data.relations import Relations
from reticent.kernels.elimination import PRIME
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.method import SuppressionMethod

Vector = dict[int, int]
_LARGEST = 20_000


@dataclass(frozen=True)
class Elimination(SuppressionMethod):
    """Greedy by linear algebra: the dearest candidates are published first; then completed against intervals."""

    name: ClassVar[str] = "elimination"

    def _search(self, engine: Engine) -> None:
        problem = engine.problem
        if problem.n_cells > _LARGEST:
            raise ParameterError(f"elimination: serves tables of up to {_LARGEST} cells. Use heuristic.")
        vectors = inner_vectors(problem.relations)
        published = ~(problem.candidates | problem.forced)
        order = np.flatnonzero(problem.candidates)
        order = order[np.argsort(-engine.cost[order], kind="stable")]
        first = np.flatnonzero(published)
        public = _Published([vectors[c] for c in np.flatnonzero(problem.primary).tolist()])
        pattern = problem.forced.copy()
        for cell in first.tolist():
            public.publish(public.reduce(vectors[cell]))
        for number, cell in enumerate(order.tolist()):
            if number % 200 == 0:
                engine.say("eliminating")
            rest = public.reduce(vectors[cell])
            if rest and public.reveals(rest):
                pattern[cell] = True
            else:
                public.publish(rest)
        engine.complete(pattern)


class _Published:
    """The span of the published cells in echelon form, and the primaries reduced by it."""

    def __init__(self, primaries: list[Vector]) -> None:
        self._pivots: dict[int, Vector] = {}
        self._primaries = [_normal(v) for v in primaries]
        self._where: dict[int, set[int]] = {}
        self._keys: dict[frozenset[tuple[int, int]], int] = {}
        for number, vector in enumerate(self._primaries):
            self._enter(number, vector)

    def _enter(self, number: int, vector: Vector) -> None:
        for column in vector:
            self._where.setdefault(column, set()).add(number)
        key = frozenset(vector.items())
        self._keys[key] = self._keys.get(key, 0) + 1

    def _leave(self, number: int, vector: Vector) -> None:
        for column in vector:
            self._where[column].discard(number)
        key = frozenset(vector.items())
        self._keys[key] -= 1
        if not self._keys[key]:
            del self._keys[key]

    def reduce(self, vector: Vector) -> Vector:
        """A vector less its part in the span, scaled so that its first entry is one."""
        rest = dict(vector)
        while True:
            # pivot rows hold no other pivot column, so each is needed once
            column = next((c for c in rest if c in self._pivots), None)
            if column is None:
                return _normal(rest)
            _subtract(rest, self._pivots[column], rest[column])

    def reveals(self, rest: Vector) -> bool:
        """Whether publishing a reduced vector makes a primary known."""
        return frozenset(rest.items()) in self._keys

    def publish(self, rest: Vector) -> None:
        """Add a reduced vector to the span."""
        if not rest:
            return
        pivot = min(rest, key=lambda c: len(self._where.get(c, ())))
        scale = pow(rest[pivot], PRIME - 2, PRIME)
        row = {c: k * scale % PRIME for c, k in rest.items()}
        for other in self._pivots.values():
            if pivot in other:
                _subtract(other, row, other[pivot])
        for number in list(self._where.get(pivot, ())):
            vector = self._primaries[number]
            self._leave(number, vector)
            reduced = dict(vector)
            _subtract(reduced, row, reduced[pivot])
            self._primaries[number] = _normal(reduced)
            self._enter(number, self._primaries[number])
        self._pivots[pivot] = row


def inner_vectors(relations: Relations) -> list[Vector]:
    """Every cell as a sum of inner cells (cells that are the total of no relation), modulo the prime."""
    defining: dict[int, int] = {}
    for row in range(relations.n_rows):
        cells, coefs = relations.row(row)
        for cell in cells[coefs < 0].tolist():
            defining.setdefault(int(cell), row)
    known: dict[int, Vector] = {c: {c: 1} for c in range(relations.n_cells) if c not in defining}
    for start in range(relations.n_cells):
        stack = [start]
        while stack:
            cell = stack[-1]
            if cell in known:
                stack.pop()
                continue
            cells, coefs = relations.row(defining[cell])
            waiting = [int(c) for c in cells if c != cell and int(c) not in known]
            if waiting and len(stack) < relations.n_cells:
                stack.extend(waiting)
                continue
            known[cell] = _combine(cells.tolist(), coefs.tolist(), cell, known)
            stack.pop()
    return [known[c] for c in range(relations.n_cells)]


def _combine(cells: list[int], coefs: list[int], cell: int, known: dict[int, Vector]) -> Vector:
    own = coefs[cells.index(cell)]
    scale = pow(-own % PRIME, PRIME - 2, PRIME)
    total: Vector = {}
    for other, coefficient in zip(cells, coefs, strict=True):
        if other != cell:
            _subtract(total, known[other], -coefficient * scale)
    return total


def _subtract(vector: Vector, row: Vector, times: int) -> None:
    """vector −= times · row, in place, without zeros."""
    for column, entry in row.items():
        value = (vector.get(column, 0) - times * entry) % PRIME
        if value:
            vector[column] = value
        else:
            vector.pop(column, None)


def _normal(vector: Vector) -> Vector:
    if not vector:
        return vector
    first = min(vector)
    scale = pow(vector[first], PRIME - 2, PRIME)
    return {c: k * scale % PRIME for c, k in vector.items()}
