# SPDX-License-Identifier: Apache-2.0
"""Elimination: publish the costliest cells as long as no primary becomes a sum of published ones (after Langsrud).

Every cell is a vector over the inner cells; a relation that does not just define a total counts as published. A
candidate is published if no primary, reduced by what is published, is proportional to it; then it reduces all the
others. Exact arithmetic modulo a prime. What intervals need beyond that is completed afterwards.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reticent.base import clock
from reticent.base.errors import ParameterError
from reticent.data.relations import Relations
from reticent.kernels.elimination import PRIME
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.method import SuppressionMethod

Vector = dict[int, int]
_LARGEST = 20_000


@dataclass(frozen=True)
class Elimination(SuppressionMethod):
    """Hides cells by linear algebra: the costliest candidates are published first; then completed against intervals."""

    name: ClassVar[str] = "elimination"

    def _search(self, engine: Engine) -> None:
        problem = engine.problem
        if problem.n_cells > _LARGEST:
            raise ParameterError(f"elimination: works on tables of up to {_LARGEST} cells; use heuristic.")
        vectors, equations = inner_vectors(problem.relations)
        published = ~(problem.candidates | problem.forced)
        order = np.flatnonzero(problem.candidates)
        order = order[np.argsort(-engine.cost[order], kind="stable")]
        first = np.flatnonzero(published)
        public = _Published([vectors[c] for c in np.flatnonzero(problem.primary).tolist()])
        pattern = problem.forced.copy()
        for known in equations + [vectors[cell] for cell in first.tolist()]:
            clock.check()
            public.publish(public.reduce(known))
        for number, cell in enumerate(order.tolist()):
            if number % 200 == 0:
                engine.say("eliminating")
            if number % 10 == 0 and clock.left() < 0:
                pattern[order[number:]] = True  # what nobody has looked at yet is not published
                break
            rest = public.reduce(vectors[cell])
            if rest and public.reveals(rest):
                pattern[cell] = True
            else:
                public.publish(rest)
        engine.under_way = pattern
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


def inner_vectors(relations: Relations) -> tuple[list[Vector], list[Vector]]:
    """Every cell as a sum of inner cells, and the relations that this does not use, both modulo the prime.

    A relation with one cell of its own sign (the total of tables, +1 or −1) defines that cell by the others; the rest
    (a second relation of the same total, several cells on each side, circles) say that a sum of inner cells is known.
    """
    parts = (relations.row(number) for number in range(relations.n_rows))
    rows: list[Vector] = [dict(zip(cells.tolist(), coefs.tolist(), strict=True)) for cells, coefs in parts]
    defining: dict[int, int] = {}
    for number in range(relations.n_rows):
        total = _total(relations, number)
        if total is not None:
            defining.setdefault(total, number)
    known: dict[int, Vector] = {c: {c: 1} for c in range(relations.n_cells) if c not in defining}
    for start in range(relations.n_cells):
        stack, open_cells = [start], {start}
        while stack:
            cell = stack[-1]
            waiting = [c for c in rows[defining[cell]] if c != cell and c not in known] if cell not in known else []
            if any(c in open_cells for c in waiting):
                known[cell] = {cell: 1}  # a circle of totals: this one counts as inner, its relation as one of the rest
                del defining[cell]
            elif waiting:
                stack.append(waiting[0])
                open_cells.add(waiting[0])
                continue
            elif cell not in known:
                known[cell] = _solve(rows[defining[cell]], cell, known)
            open_cells.discard(stack.pop())
    used = set(defining.values())
    others = (_combine(row, known) for number, row in enumerate(rows) if number not in used)
    return [known[c] for c in range(relations.n_cells)], [rest for rest in others if rest]


def _total(relations: Relations, number: int) -> int | None:
    """The only cell with its sign in a relation, the negative one of two."""
    cells, coefs = relations.row(number)
    for side in (cells[coefs < 0], cells[coefs > 0]):
        if len(side) == 1:
            return int(side[0])
    return None


def _solve(row: Vector, cell: int, known: dict[int, Vector]) -> Vector:
    """A cell by the other cells of its relation."""
    scale = pow(-row[cell] % PRIME, PRIME - 2, PRIME)
    return _combine({c: k * scale % PRIME for c, k in row.items() if c != cell}, known)


def _combine(row: Vector, known: dict[int, Vector]) -> Vector:
    total: Vector = {}
    for cell, coefficient in row.items():
        _subtract(total, known[cell], -coefficient)
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
