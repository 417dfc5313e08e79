"""SAFE, slowly: every energy is computed from all records again, and small cases are solved exactly."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

Table = tuple[int, ...]
MOST = 5


class SlowExchange:
    """Counts, true counts, and tables as tuples of columns; `price(kind, deviation)` is the energy of a cell."""

    def __init__(self, patterns: np.ndarray, x: np.ndarray, y: np.ndarray, tables: Sequence[Table], price) -> None:  # type: ignore[no-untyped-def]
        self.patterns, self.x, self.y = patterns, x, y.copy()
        self.tables, self.price = tables, price

    def deviations(self) -> dict[tuple[int, tuple[int, ...]], int]:
        found: dict[tuple[int, tuple[int, ...]], int] = {}
        for number, columns in enumerate(self.tables):
            for row, old, new in zip(self.patterns, self.x, self.y, strict=True):
                cell = (number, tuple(int(row[column]) for column in columns))
                found[cell] = found.get(cell, 0) + int(new - old)
        return found

    def kind(self, number: int) -> int:
        return 0 if len(self.tables[number]) == 1 else 1

    def energy(self) -> int:
        return sum(self.price(self.kind(number), abs(size)) for (number, _), size in self.deviations().items())

    def beyond(self, pattern: int, bounds: Sequence[int]) -> bool:
        found = self.deviations()
        row = self.patterns[pattern]
        return any(
            abs(found[number, tuple(int(row[column]) for column in columns)]) > bounds[self.kind(number)]
            for number, columns in enumerate(self.tables)
        )

    def try_pair(self, one: int, other: int, limit: int) -> bool:
        start, before = self.energy(), self.y.copy()
        best, chosen = limit, None
        for step in range(1, MOST + 1):
            for up, down in ((one, other), (other, one)):
                self.y = before.copy()
                self.y[up] += step
                self.y[down] -= step
                if {int(self.y[up]), int(self.y[down])} & {1, 2} or self.y[down] < 0:
                    continue
                change = self.energy() - start
                if change < best:
                    best, chosen = change, self.y.copy()
        self.y = before if chosen is None else chosen
        return chosen is not None

    def sweep(self, order: Sequence[int], reach: int) -> None:
        for place, one in enumerate(order):
            for other in order[place + 1 : place + 1 + reach]:
                self.try_pair(one, other, 0)

    def mend(self, chosen: Sequence[int], orders: Sequence[list[int]], reach: int, bounds: Sequence[int]) -> None:
        for one in chosen:
            if not self.beyond(one, bounds):
                continue
            for order in orders:
                place = order.index(one)
                for other in order[max(0, place - reach) : place + reach + 1]:
                    if other != one:
                        self.try_pair(one, other, 0)

    def wander(
        self, chosen: Sequence[int], others: Sequence[int], limits: Sequence[int], bounds: Sequence[int]
    ) -> None:
        for one, other, limit in zip(chosen, others, limits, strict=True):
            if other >= 0 and other != one and self.beyond(one, bounds):
                self.try_pair(one, other, limit)


def exact_optimum(patterns: np.ndarray, x: np.ndarray, tables: Sequence[Table]) -> int:
    """The least largest deviation over all tables: y = 3b + e with e ≤ M b, by an integer program."""
    n = len(x)
    most = int(x.max()) + 10
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    low: list[float] = []
    high: list[float] = []

    def add(places: Sequence[int], factors: Sequence[float], least: float, largest: float) -> None:
        rows.extend([len(low)] * len(places))
        columns.extend(places)
        values.extend(factors)
        low.append(least)
        high.append(largest)

    for j in range(n):
        add([n + j, j], [1.0, -most], -np.inf, 0.0)
    add([*range(2 * n)], [3.0] * n + [1.0] * n, float(x.sum()), float(x.sum()))
    for table in tables:
        _, cell = np.unique(patterns[:, list(table)], axis=0, return_inverse=True)
        for number in range(int(cell.max()) + 1):
            inside = np.flatnonzero(cell.ravel() == number).tolist()
            places = [*inside, *(n + j for j in inside), 2 * n]
            factors = [3.0] * len(inside) + [1.0] * len(inside)
            true = float(x[inside].sum())
            add(places, [*factors, -1.0], -np.inf, true)
            add(places, [*factors, 1.0], true, np.inf)
    matrix = coo_array((values, (rows, columns)), shape=(len(low), 2 * n + 1)).tocsr()
    found = milp(
        np.array([0.0] * (2 * n) + [1.0]),
        constraints=LinearConstraint(matrix, low, high),
        integrality=np.ones(2 * n + 1),
        bounds=Bounds(np.zeros(2 * n + 1), np.array([1.0] * n + [float(most)] * n + [np.inf])),
    )
    assert found.status == 0, found.message
    return round(found.fun)
