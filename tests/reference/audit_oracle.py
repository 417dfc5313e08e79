"""The auditor the slow and obvious way: all unions of classes, spans in fractions, bounds by an exact simplex method."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from reference.rational_rows import Span

Vector = tuple[int, ...]


def maximum(cost: Sequence[int], rows: Sequence[Sequence[int]], sides: Sequence[Fraction]) -> Fraction | None:
    """max cost·x with rows·x = sides and x ≥ 0, in fractions (two phases, Bland's rule); None if unbounded."""
    n, m = len(cost), len(rows)
    table = []
    for i, (row, side) in enumerate(zip(rows, sides)):
        sign = -1 if side < 0 else 1
        unit = [Fraction(int(i == k)) for k in range(m)]
        table.append([Fraction(sign * v) for v in row] + unit + [Fraction(sign * side)])
    basis = list(range(n, n + m))
    if _climb(table, basis, [Fraction(0)] * n + [Fraction(-1)] * m, n + m) is None:
        raise AssertionError("phase one is bounded")
    assert all(table[i][-1] == 0 for i, b in enumerate(basis) if b >= n), "the true values are feasible"
    for i, b in enumerate(basis):  # drive artificial variables out of the basis where possible
        if b >= n:
            swap = next((j for j in range(n) if table[i][j]), None)
            if swap is not None:
                _pivot(table, basis, i, swap)
    return _climb(table, basis, [Fraction(c) for c in cost] + [Fraction(0)] * m, n)


def _pivot(table: list[list[Fraction]], basis: list[int], i: int, j: int) -> None:
    scale = table[i][j]
    table[i] = [v / scale for v in table[i]]
    for k, row in enumerate(table):
        if k != i and row[j]:
            factor = row[j]
            table[k] = [v - factor * w for v, w in zip(row, table[i])]
    basis[i] = j


def _climb(table: list[list[Fraction]], basis: list[int], cost: list[Fraction], usable: int) -> Fraction | None:
    while True:
        gains = (
            (j, cost[j] - sum(cost[b] * table[i][j] for i, b in enumerate(basis)))
            for j in range(usable)
            if j not in basis
        )
        enter = next((j for j, gain in gains if gain > 0), None)
        if enter is None:
            return sum((cost[b] * table[i][-1] for i, b in enumerate(basis)), Fraction(0))
        ratios = [(row[-1] / row[enter], basis[i], i) for i, row in enumerate(table) if row[enter] > 0]
        if not ratios:
            return None
        _pivot(table, basis, min(ratios)[2], enter)


@dataclass
class Oracle:
    """Decides a history of sum queries on a few records."""

    values: Sequence[int]
    minimum: int = 1
    dominance: tuple[int, int] | None = None
    unions: int = 2
    low: int | None = None
    high: int | None = None
    insider: bool = False
    answered: list[Vector] = field(default_factory=list)

    def unsafe(self, members: Sequence[int]) -> bool:
        """Whether a set of records is too small or dominated."""
        if len(members) < self.minimum:
            return True
        if self.dominance is None:
            return False
        n, k = self.dominance
        sizes = sorted((abs(self.values[i]) for i in members), reverse=True)
        return sum(sizes) > 0 and 100 * sum(sizes[:n]) > k * sum(sizes)

    def ask(self, query: Vector) -> bool:
        """Whether the query is answered; an answer is remembered."""
        if self.unsafe([i for i, bit in enumerate(query) if bit]):
            return False
        span = Span(self.answered)
        if span.contains(query):
            self.answered.append(query)
            return True
        together = [*self.answered, query]
        span.add(query)
        classes = self._classes(together)
        for size in range(1, self.unions + 1):
            for chosen in combinations(classes, size):
                members = [i for group in chosen for i in group]
                if self.unsafe(members) and span.contains([int(i in members) for i in range(len(query))]):
                    return False
        if self.insider and self.minimum >= 3 and self._insider(together, classes):
            return False
        if self._fixed(together, classes):
            return False
        self.answered.append(query)
        return True

    def _insider(self, queries: Sequence[Vector], classes: list[list[int]]) -> bool:
        """Whether somebody who is alone in a class could compute another class of at most minimum − 2 records."""
        n = len(self.values)
        for alone in (group for group in classes if len(group) == 1):
            span = Span([*queries, [int(i in alone) for i in range(n)]])
            for group in classes:
                if (
                    group != alone
                    and len(group) <= self.minimum - 2
                    and span.contains([int(i in group) for i in range(n)])
                ):
                    return True
        return False

    def _classes(self, queries: Sequence[Vector]) -> list[list[int]]:
        groups: dict[Vector, list[int]] = {}
        for i in range(len(self.values)):
            groups.setdefault(tuple(query[i] for query in queries), []).append(i)
        return [members for signature, members in groups.items() if any(signature)]

    def _fixed(self, queries: Sequence[Vector], classes: list[list[int]]) -> bool:
        """Whether bounds fix every record of some class, or the total of an unsafe class."""
        if self.low is None:
            return False
        rows = [[int(query[group[0]]) for group in classes] for query in queries]
        sides = [Fraction(sum(self.values[i] - self.low for i in range(len(query)) if query[i])) for query in queries]
        k = len(classes)
        if self.high is not None:  # a slack for each class: total + slack = most
            rows = [row + [0] * k for row in rows]
            for j, group in enumerate(classes):
                rows.append([int(i == j) for i in range(k)] + [int(i == j) for i in range(k)])
                sides.append(Fraction(len(group) * (self.high - self.low)))
        width = len(rows[0])
        for j, group in enumerate(classes):
            unit = [int(i == j) for i in range(width)]
            most, least = maximum(unit, rows, sides), maximum([-v for v in unit], rows, sides)
            assert least is not None
            if most == 0 or (self.high is not None and -least == len(group) * (self.high - self.low)):
                return True
            if most is not None and most == -least and self.unsafe(group):
                return True
        return False
