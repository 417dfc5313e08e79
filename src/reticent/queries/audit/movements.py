# SPDX-License-Identifier: Apache-2.0
"""Other databases with the same sums and sums of squares, where values lie far apart: found by moving a few of them.

A first movement of single values keeps all sums: its totals by class are whole numbers that every row of sums turns into 0.
What it changes of sums of squares is taken back by moving two values of a class by the same amount towards each other or
apart, up to three times, or the whole movement goes so far that it changes nothing: x and its mirror image have the same squares.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice, product
from math import lcm

import numpy as np

from reticent.base.arrays import Ints

MOST_UNITS, FARTHEST = 10, 6
FARS = (*range(-FARTHEST, 0), *range(1, FARTHEST + 1))
MOST_STEPS, MOST_KERNEL, TRIES = 12, 24, 6
ALIKE, THIRDS, MOST_LOOKS = 4, 30, 300

Moves = dict[int, int]
"""By how much each of some units moves."""
Pairs = dict[int, list[tuple[int, int, int]]]
"""Pairs of units and an amount by which one moves up and the other down, by what that changes."""


def kernel(rows: Ints) -> list[Ints]:
    """A basis of the whole numbers by class that every row turns into 0 (up to fractions), by elimination."""
    table = [[Fraction(int(v)) for v in row] for row in rows]
    n, pivots = rows.shape[1], list[int]()
    for column in range(n):
        rank = len(pivots)
        lead = next((i for i in range(rank, len(table)) if table[i][column]), None)
        if lead is None:
            continue
        table[rank], table[lead] = table[lead], table[rank]
        table[rank] = [v / table[rank][column] for v in table[rank]]
        for i, row in enumerate(table):
            if i != rank and row[column]:
                table[i] = [v - row[column] * w for v, w in zip(row, table[rank])]
        pivots.append(column)
    found = []
    for free in (column for column in range(n) if column not in pivots):
        own = [Fraction(0)] * n
        own[free] = Fraction(1)
        for i, pivot in enumerate(pivots):
            own[pivot] = -table[i][free]
        common = lcm(*(v.denominator for v in own))
        found.append(np.array([int(v * common) for v in own], dtype=object))
    return found


@dataclass(frozen=True)
class Units:
    """Some records with their values, classes and least and greatest values; `kinds`: how sums of squares treat each class."""

    values: list[int]
    classes: list[int]
    ends: tuple[list[int], list[int]]
    kinds: list[int]
    _pairs: dict[int, Pairs] = field(default_factory=dict)
    _done: list[int] = field(default_factory=lambda: [0])

    @cached_property
    def of_class(self) -> dict[int, list[int]]:
        """The units of each class."""
        found: dict[int, list[int]] = {}
        for unit, own in enumerate(self.classes):
            found.setdefault(own, []).append(unit)
        return found

    def pairs(self, kind: int) -> Pairs:
        """What two units of a class of some kind that move by an amount against each other change of squares."""
        if kind not in self._pairs:
            table = self._pairs.setdefault(kind, {})
            for units in (units for own, units in self.of_class.items() if self.kinds[own] == kind):
                for i, j in combinations(units, 2):
                    apart = self.values[i] - self.values[j]
                    least, most = max(self._room[0][i], -self._room[1][j]), min(self._room[1][i], -self._room[0][j])
                    for far in FARS:
                        same = table.setdefault(2 * far * (apart + far), [])
                        if len(same) < ALIKE and least <= far <= most:
                            same.append((i, j, far))
        return self._pairs[kind]

    @cached_property
    def _room(self) -> tuple[list[int], list[int]]:
        """How far each unit can move down (a negative number) and up."""
        down = [low - value for low, value in zip(self.ends[0], self.values)]
        return down, [high - value for high, value in zip(self.ends[1], self.values)]

    def within(self, moves: Moves) -> bool:
        """Whether values that move keep their ends."""
        down, up = self._room
        return all(down[i] <= far <= up[i] for i, far in moves.items())

    def squares(self, moves: Moves) -> int:
        """By how much a sum of squares over all units that move changes."""
        return sum(far * (2 * self.values[i] + far) for i, far in moves.items())

    def completed(self, first: Moves) -> Moves | None:
        """A movement with more of the same class or farther, so that no sum of squares changes; None if none is found."""
        by_kind: dict[int, Moves] = {}
        for i, far in first.items():
            by_kind.setdefault(self.kinds[self.classes[i]], {})[i] = far
        changes = {kind: self.squares(own) for kind, own in by_kind.items() if kind >= 0}
        if not any(changes.values()):
            return first if self.within(first) else None
        mirrored = self._mirrored(first, [by_kind[kind] for kind in changes])
        if mirrored is not None or not self.within(first):
            return mirrored
        moves = dict(first)
        for kind, change in changes.items():
            back = self._back(kind, change, moves) if change else {}
            if back is None:
                return None
            moves |= back
        return moves

    def _mirrored(self, first: Moves, parts: list[Moves]) -> Moves | None:
        """The same movement so far that squares of each part are what they were."""
        factors = set()
        for part in parts:
            twice, size = (
                -2 * sum(far * self.values[i] for i, far in part.items()),
                sum(far**2 for far in part.values()),
            )
            if twice == 0 or twice % size:
                return None
            factors.add(twice // size)
        far = {i: own * next(iter(factors)) for i, own in first.items()}
        return far if len(factors) == 1 and self.within(far) else None

    def _back(self, kind: int, change: int, moves: Moves) -> Moves | None:
        """One to three pairs of other units that take back what a movement changes of squares."""
        table, used = self.pairs(kind), moves.keys()
        for i, j, far in table.get(-change, ()):
            if i not in used and j not in used:
                return {i: far, j: -far}
        two = self._two(table, change, used)
        thirds = (pair for pairs in table.values() for pair in pairs[:1])
        for i, j, far in () if two is not None else islice(thirds, 0, None, max(1, len(table) // THIRDS)):
            if i not in used and j not in used:
                own = {i: far, j: -far}
                rest = self._two(table, change + self.squares(own), used | own.keys())
                if rest is not None:
                    return own | rest
        return two

    def _two(self, table: Pairs, change: int, used: Collection[int]) -> Moves | None:
        """Two pairs of other units that take back a change together."""
        self._done[0] += 1
        for gain, pairs in table.items() if self._done[0] <= MOST_LOOKS else ():
            others = table.get(-change - gain)
            for one, other in product(pairs, others) if others else ():
                four = {*one[:2], *other[:2]}
                if len(four) == 4 and four.isdisjoint(used):
                    return {one[0]: one[2], one[1]: -one[2], other[0]: other[2], other[1]: -other[2]}
        return None


def movements(units: Units, basis: list[Ints], target: int, rng: np.random.Generator) -> Iterator[Moves]:
    """Movements that keep all sums and sums of squares and change the total of a class."""
    for totals in _short(basis, target):
        for _ in range(TRIES):
            first: Moves = {}
            for own in np.flatnonzero(totals).tolist():
                amount, there = int(totals[own]), units.of_class.get(own, [])
                for i in rng.choice(there, min(len(there), abs(amount)), replace=False).tolist() if there else ():
                    first[i] = amount // min(len(there), abs(amount))
                rest = amount - sum(first.get(i, 0) for i in there)
                if not there:
                    break
                lucky = next(i for i in there if i in first)
                first[lucky] += rest
            else:
                found = units.completed({i: far for i, far in first.items() if far})
                if found is not None:
                    yield found


def movements_inside(units: Units, target: int) -> Iterator[Moves]:
    """Movements that keep all sums and sums of squares, and the total of a class, but change values in it."""
    for i, j in list(combinations(units.of_class.get(target, []), 2))[:TRIES]:
        for far in (1, 2, 3):
            for first in ({i: far, j: -far}, {i: -far, j: far}):
                found = units.completed(first)
                if found is not None:
                    yield found


def _short(basis: list[Ints], target: int) -> list[Ints]:
    """The shortest combinations of the basis that have a class, in steps of one to a few."""
    pairs = [a + sign * b for a, b in combinations(basis, 2) for sign in (1, -1)]
    found = {tuple(own.tolist()): own for own in (*basis, *pairs) if own[target]}
    short = [own for own in found.values() if int(np.abs(own).sum()) <= MOST_STEPS]
    short = sorted(short, key=lambda own: int(np.abs(own).sum()))[:MOST_KERNEL]
    return [factor * own for factor in (1, 2) for own in short]
