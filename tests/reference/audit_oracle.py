"""The auditor the slow and obvious way, and in other arithmetic: whole-number elimination, an exact simplex method, search.

Nothing here is shared with the program: no modular arithmetic, no random vectors, no incremental state. Every decision
starts again from the list of answered rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import gcd

Vector = tuple[int, ...]


class Span:
    """The rational span of whole-number rows, by elimination without fractions."""

    def __init__(self, rows: Sequence[Sequence[int]] = ()) -> None:
        self.rows: list[tuple[int, list[int]]] = []
        for row in rows:
            self.add(row)

    def _rest(self, row: Sequence[int]) -> list[int]:
        rest = list(row)
        for lead, basis in self.rows:
            if rest[lead]:
                a, b = basis[lead], rest[lead]
                rest = [a * v - b * w for v, w in zip(rest, basis)]
        return rest

    def contains(self, row: Sequence[int]) -> bool:
        """Whether a row is a combination of the rows."""
        return not any(self._rest(row))

    def add(self, row: Sequence[int]) -> None:
        """Add a row."""
        rest = self._rest(row)
        lead = next((j for j, v in enumerate(rest) if v), None)
        if lead is not None:
            common = gcd(*rest)
            self.rows.append((lead, [v // common for v in rest]))


def _set_of(row: Vector) -> frozenset[int] | None:
    """The records that a row is (a multiple of) the sum of; None if they have different factors."""
    members = frozenset(i for i, v in enumerate(row) if v)
    return members if len({row[i] for i in members}) <= 1 else None


def _rank(rows: Sequence[Sequence[int]]) -> int:
    return len(Span(rows).rows)


class Polytope:
    """{x ≥ 0, rows·x = sides}: maxima of linear functions by a two-phase simplex method in whole numbers (Bland's rule).

    The tableau is kept as whole numbers over one common denominator (integer pivoting: every division is exact).
    """

    def __init__(self, rows: Sequence[Sequence[int]], sides: Sequence[int]) -> None:
        self.n, m = len(rows[0]), len(rows)
        self.table: list[list[int]] = []
        for i, (row, side) in enumerate(zip(rows, sides)):
            sign = -1 if side < 0 else 1
            self.table.append([sign * v for v in row] + [int(i == k) for k in range(m)] + [sign * side])
        self.basis, self.over = list(range(self.n, self.n + m)), 1
        self._climb([0] * self.n + [-1] * m, self.n + m)
        assert all(self.table[i][-1] == 0 for i, b in enumerate(self.basis) if b >= self.n), "the truth is feasible"
        for i in range(m):
            if self.basis[i] >= self.n:
                swap = next((j for j in range(self.n) if self.table[i][j]), None)
                if swap is not None:
                    self._pivot(i, swap)
        keep = [i for i in range(m) if self.basis[i] < self.n]
        self.table = [self.table[i][: self.n] + self.table[i][-1:] for i in keep]
        self.basis = [self.basis[i] for i in keep]

    def maximum(self, cost: Sequence[int]) -> Fraction | None:
        """The greatest value of cost·x; None if there is none. Starts where the last call ended."""
        return self._climb(list(cost), self.n)

    def _pivot(self, i: int, j: int) -> None:
        pivot, row = self.table[i][j], self.table[i]
        if pivot < 0:  # only when an artificial variable at 0 is driven out
            pivot, row = -pivot, [-v for v in row]
            self.table[i] = row
        for k, other in enumerate(self.table):
            if k != i:
                factor = other[j]
                self.table[k] = [(pivot * v - factor * w) // self.over for v, w in zip(other, row)]
        self.over = pivot
        self.basis[i] = j

    def _climb(self, cost: list[int], usable: int) -> Fraction | None:
        while True:
            priced = [(cost[b], row) for b, row in zip(self.basis, self.table) if cost[b]]
            inside = set(self.basis)
            enter = next(
                (
                    j
                    for j in range(usable)
                    if j not in inside and cost[j] * self.over > sum(c * row[j] for c, row in priced)
                ),
                None,
            )
            if enter is None:
                return Fraction(sum(c * row[-1] for c, row in priced), self.over)
            best: tuple[int, int] | None = None
            for i, row in enumerate(self.table):
                if row[enter] > 0:
                    if best is None:
                        best = (i, self.basis[i])
                        continue
                    here, there = row[-1] * self.table[best[0]][enter], self.table[best[0]][-1] * row[enter]
                    if here < there or (here == there and self.basis[i] < best[1]):
                        best = (i, self.basis[i])
            if best is None:
                return None
            self._pivot(best[0], enter)


@dataclass
class System:
    """One response (or its square, or the records): what is answered, and what is known beforehand."""

    values: Sequence[int | None]
    by_value: bool = True
    low: int | None = None
    high: int | None = None
    whole: bool = False
    squares: bool = False
    extra: int = 0
    rows: list[Vector] = field(default_factory=list)
    answered: list[frozenset[int]] = field(default_factory=list)

    def present(self, members: Sequence[int]) -> list[int]:
        """The records that have a value."""
        return [i for i in members if self.values[i] is not None]


@dataclass
class Oracle:
    """Decides a history of statistics on a few records. `owner` is the respondent of each record."""

    systems: Mapping[str, System]
    owner: Sequence[int]
    minimum: int = 1
    dominance: tuple[int, int] | None = None
    p_percent: int | None = None
    unions: int = 2
    coalition: int = 0
    interval: int = 0
    known: frozenset[int] = frozenset()
    families: Sequence[Sequence[int]] = ()
    tables: Sequence[Sequence[int]] = ()

    def __post_init__(self) -> None:
        for system in self.systems.values():
            for i, owner in enumerate(self.owner):
                if owner in self.known and system.values[i] is not None:
                    system.rows.append(tuple(int(i == j) for j in range(len(self.owner))))

    def unsafe(self, system: System, members: Sequence[int]) -> bool:
        """Whether a set of records has too few respondents, no spread, or a dominant respondent."""
        values = system.values
        hidden = [i for i in members if self.owner[i] not in self.known]
        if members and not hidden:
            return False
        if system.squares and any(not left for left in self._without(system, hidden)):
            return True
        amounts: dict[int, int] = {}
        for i in hidden:
            amounts[self.owner[i]] = amounts.get(self.owner[i], 0) + (values[i] or 0)
        if len(amounts) < self.minimum + system.extra:
            return True
        if not system.by_value:
            return False
        sizes = sorted((abs(v) for v in amounts.values()), reverse=True)
        total = sum(sizes)
        if self.dominance is not None and 100 * sum(sizes[: self.dominance[0]]) > self.dominance[1] * total:
            return True
        if self.p_percent is None:
            return False
        rest = total - sum(sizes[: self.coalition + 1])
        return len(sizes) <= self.coalition + 1 or self.p_percent * sizes[0] > 100 * rest

    def ask(self, pieces: Sequence[tuple[str, Vector]]) -> bool:
        """Whether a statistic that reveals some rows is answered; then they are remembered, else none of them is."""
        for name, row in pieces:
            if self.unsafe(self.systems[name], [i for i, v in enumerate(row) if v]):
                return False
        before = {name: (list(system.rows), list(system.answered)) for name, system in self.systems.items()}
        for name, row in pieces:
            if not self._one(self.systems[name], row):
                for other, (rows, answered) in before.items():
                    self.systems[other].rows, self.systems[other].answered = rows, answered
                return False
            self._remember(self.systems[name], row)
        return True

    def _remember(self, system: System, row: Vector) -> None:
        asked = _set_of(row)
        if asked is not None and asked not in system.answered:
            system.answered.append(asked)

    def _weighs(self, system: System) -> bool:
        return system.by_value and (self.dominance is not None or self.p_percent is not None)

    def _one(self, system: System, row: Vector) -> bool:
        span = Span(system.rows)
        if span.contains(row):
            return True
        together = [*system.rows, row]
        span.add(row)
        classes = _classes(system, together)
        if self._combinations(system, span, classes) or self._few(system, together) or self._flat(system, together):
            return False
        tables = self.tables if self._weighs(system) else ()
        for members in (*self.families, *tables):
            inside = system.present(members)
            if inside and self.unsafe(system, inside) and span.contains(_indicator(inside, len(row))):
                return False
        if self._rests(system, row) or self._bounds(system, together, classes):
            return False
        system.rows = together
        return True

    def _combinations(self, system: System, span: Span, classes: list[list[int]]) -> bool:
        n = len(self.owner)
        for size in range(1, self.unions + 1):
            for chosen in combinations(classes, size):
                members = [i for group in chosen for i in group]
                if self.unsafe(system, members) and span.contains(_indicator(members, n)):
                    return True
        return False

    def _rests(self, system: System, row: Vector) -> bool:
        """Whether an answered total less answered parts that do not overlap is unsafe, one of them being the new row."""
        new = _set_of(row)
        if new is None or not self._weighs(system):
            return False
        others = [own for own in system.answered if own != new]
        left = [new - own for own in others if own < new] + [own - new for own in others if own > new]
        for whole in (new, *(own for own in others if own > new)):
            rest = whole if whole == new else whole - new
            for part in system.answered:
                if part and part <= rest:
                    rest = rest - part
            left.append(rest)
        return any(rest and self.unsafe(system, sorted(rest)) for rest in left)

    def _few(self, system: System, rows: Sequence[Vector]) -> bool:
        """Whether some combination of the rows is 0 for all but too few respondents, those known to everybody apart.

        Rows that lose rank without the records of some respondents have a combination that rests on these alone.
        """
        hidden = [i for i in range(len(self.owner)) if self.owner[i] not in self.known]
        people = sorted({self.owner[i] for i in hidden if system.values[i] is not None})
        size = min(self.minimum + system.extra - 1, len(people))
        full = _rank([[row[i] for i in hidden] for row in rows])
        for chosen in combinations(people, max(size, 0)):
            rest = [i for i in hidden if self.owner[i] not in chosen]
            if _rank([[row[i] for i in rest] for row in rows]) < full:
                return True
        return False

    def _flat(self, system: System, rows: Sequence[Vector]) -> bool:
        """Whether some combination of sums of squares rests on records that all have the same value, one respondent apart.

        Rows that lose rank without the records of a value and of a respondent have a combination that rests on these alone.
        """
        hidden = [i for i in range(len(self.owner)) if self.owner[i] not in self.known and system.values[i] is not None]
        full = _rank([[row[i] for i in hidden] for row in rows])
        lefts = self._without(system, hidden) if system.squares else ()
        return any(_rank([[row[i] for i in left] for row in rows]) < full for left in lefts)

    def _without(self, system: System, members: Sequence[int]) -> list[list[int]]:
        """What is left of some records without those of a value and (if one may not compute another) of a respondent."""
        people = [self.owner[j] for j in members] if self.minimum > 1 else [None]
        pairs = {(system.values[i], who) for i in members for who in people}
        return [[i for i in members if system.values[i] != v and self.owner[i] != who] for v, who in pairs]

    def _bounds(self, system: System, rows: Sequence[Vector], classes: list[list[int]]) -> bool:
        """Whether bounds (and wholeness) fix each record of a class, or narrow an unsafe class too far."""
        if system.low is None and system.high is None:
            return False
        mirror = system.low is None
        hidden = [group for group in classes if not {self.owner[i] for i in group} & self.known]
        scene = _Scene(system, rows, hidden, mirror)
        for j, group in enumerate(hidden):
            unsafe = self.unsafe(system, group)
            if scene.forced(j) or (unsafe and self._narrow(scene, j)):
                return True
            if system.whole and (unsafe or scene.at_bound(j)) and not scene.another(j):
                return True
        return self.minimum >= 3 and any(
            self._inside(system, rows, hidden, who, mirror) for who in {self.owner[i] for g in hidden for i in g}
        )

    def _inside(self, system: System, rows: Sequence[Vector], classes: list[list[int]], who: int, mirror: bool) -> bool:
        """Whether one who knows his own values learns with the bounds those of somebody else."""
        rests = [rest for group in classes if (rest := [i for i in group if self.owner[i] != who])]
        scene = _Scene(system, rows, rests, mirror)
        for j, rest in enumerate(rests):
            alone = len({self.owner[i] for i in rest}) == 1
            if scene.forced(j) or (system.whole and (alone or scene.at_bound(j)) and not scene.another(j)):
                return True
        return False

    def _narrow(self, scene: "_Scene", j: int) -> bool:
        if not self.interval:
            return False
        least, most, true = scene.range(j)
        size = abs(scene.total(j))
        if scene.system.whole:  # search among whole numbers: the next one at or beyond the distance
            return not (scene.reaches(j, -size * self.interval) and scene.reaches(j, size * self.interval))
        low_enough = 100 * (true - least) >= size * self.interval
        return not low_enough or (most is not None and 100 * (most - true) < size * self.interval)


class _Scene:
    """The totals of the hidden classes as unknowns t ≥ 0 above (or, mirrored, below) their bound."""

    def __init__(self, system: System, rows: Sequence[Vector], classes: list[list[int]], mirror: bool) -> None:
        self.system, self.classes = system, classes
        bound, sign = (system.high, -1) if mirror else (system.low, 1)
        assert bound is not None
        self.true = [sum(sign * ((system.values[i] or 0) - bound) for i in group) for group in classes]
        self.rows = [[row[group[0]] for group in classes] for row in rows]
        self.sides = [sum(a * t for a, t in zip(row, self.true)) for row in self.rows]
        self.most: list[int | None] = [None] * len(classes)
        table, sides = [list(row) for row in self.rows], list(self.sides)
        if not mirror and system.high is not None:
            k = len(classes)
            table = [row + [0] * k for row in table]
            for j, group in enumerate(classes):
                self.most[j] = len(group) * (system.high - bound)
                table.append([int(i == j) for i in range(k)] * 2)
                sides.append(self.most[j] or 0)
        self._width = len(table[0]) if table else 0
        self._polytope = Polytope(table, sides) if classes else None
        self._ranges: dict[int, tuple[Fraction, Fraction | None, int]] = {}

    def total(self, j: int) -> int:
        """The true total of a class."""
        return sum(self.system.values[i] or 0 for i in self.classes[j])

    def range(self, j: int) -> tuple[Fraction, Fraction | None, int]:
        """The least and the greatest total, and the true one."""
        if j not in self._ranges:
            assert self._polytope is not None
            unit = [int(i == j) for i in range(self._width)]
            most, least = self._polytope.maximum(unit), self._polytope.maximum([-v for v in unit])
            assert least is not None
            self._ranges[j] = (-least, most, self.true[j])
        return self._ranges[j]

    def at_bound(self, j: int) -> bool:
        """Whether the class truly lies at a bound."""
        return self.true[j] in (0, self.most[j])

    def forced(self, j: int) -> bool:
        """Whether a class at its bound can be nowhere else, in fractions."""
        least, most, true = self.range(j)
        return self.at_bound(j) and least == true == most

    def another(self, j: int) -> bool:
        """Whether whole numbers fit in which the class has another total."""
        return self._search({j: (0, self.true[j] - 1)}) or self._search({j: (self.true[j] + 1, None)})

    def reaches(self, j: int, hundredfold: int) -> bool:
        """Whether whole numbers fit in which the class is so far away from its true total."""
        if hundredfold < 0:
            return self._search({j: (0, self.true[j] + hundredfold // 100)})
        return self._search({j: (self.true[j] - (-hundredfold // 100), None)})

    def _search(self, limits: dict[int, tuple[int, int | None]]) -> bool:
        low = [0] * len(self.true)
        high: list[int | None] = list(self.most)
        for j, (least, most) in limits.items():
            low[j] = max(low[j], least)
            high[j] = most if high[j] is None else high[j] if most is None else min(high[j] or 0, most)
        return _whole_point(self.rows, self.sides, low, high)


def _whole_point(rows: Sequence[Sequence[int]], sides: Sequence[int], low: list[int], high: list[int | None]) -> bool:
    """Whether whole numbers between low and high satisfy all rows: narrow the ranges, then split the widest."""
    if not _narrowed(rows, sides, low, high):
        return False
    split = [j for j in range(len(low)) if low[j] != high[j] and any(row[j] for row in rows)]
    if not split:
        return all(sum(a * v for a, v in zip(row, low)) == side for row, side in zip(rows, sides))
    chosen = min(split, key=lambda j: 10**9 if high[j] is None else (high[j] or 0) - low[j])
    value = low[chosen]
    most = high[chosen]
    while most is None or value <= most:
        below, above = list(low), list(high)
        below[chosen] = above[chosen] = value
        if _whole_point(rows, sides, below, above):
            return True
        value += 1
        assert value < 10_000, "an unknown without end: the generator makes every class part of a non-negative row"
    return False


def _narrowed(rows: Sequence[Sequence[int]], sides: Sequence[int], low: list[int], high: list[int | None]) -> bool:
    """Narrow ranges by each row until nothing changes; False if a range becomes empty."""
    changed = True
    while changed:
        changed = False
        for row, side in zip(rows, sides):
            for j, a in enumerate(row):
                if not a:
                    continue
                least: int | None = 0
                most: int | None = 0
                for i, b in enumerate(row):
                    if i == j or not b:
                        continue
                    ends = (low[i], high[i]) if b > 0 else (high[i], low[i])
                    least = None if least is None or ends[0] is None else least + b * ends[0]
                    most = None if most is None or ends[1] is None else most + b * ends[1]
                top, bottom = (least, most) if a > 0 else (most, least)
                if top is not None:
                    limit = (side - top) // a
                    if high[j] is None or limit < (high[j] or 0):
                        high[j], changed = limit, True
                if bottom is not None:
                    limit = -((bottom - side) // a)
                    if limit > low[j]:
                        low[j], changed = limit, True
                if high[j] is not None and low[j] > (high[j] or 0):
                    return False
    return True


def _classes(system: System, rows: Sequence[Vector]) -> list[list[int]]:
    groups: dict[Vector, list[int]] = {}
    for i, value in enumerate(system.values):
        if value is not None:
            groups.setdefault(tuple(row[i] for row in rows), []).append(i)
    return [members for signature, members in groups.items() if any(signature)]


def _indicator(members: Sequence[int], n: int) -> Vector:
    inside = set(members)
    return tuple(int(i in inside) for i in range(n))
