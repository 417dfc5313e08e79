# SPDX-License-Identifier: Apache-2.0
"""Movements away from the center that show what stays possible: kept from release to release, and mended where one breaks."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from scipy import sparse

from reticent.base.arrays import Ints, Mask
from reticent.releases.system import Line, System

Side = tuple[int, bool]
"""A watched sum by its number, and whether its upper end is meant."""


@dataclass(frozen=True, eq=False)
class Movement:
    """A change of class totals: classes and steps, none of them 0."""

    classes: Ints
    steps: Ints

    @classmethod
    def of(cls, change: Ints) -> "Movement":
        """From the change of every class."""
        classes = np.flatnonzero(change)
        return cls(classes, change[classes])

    def full(self, n: int) -> Ints:
        """The change of every class."""
        out = np.zeros(n, dtype=np.int64)
        out[self.classes] = self.steps
        return out


@dataclass
class Pool:
    """Movements, and which of them show each side of each watched sum (several where insiders need others).

    `doubts` are those that leave each respondent in doubt about a watched sum, where that is asked for.
    """

    movements: list[Movement] = field(default_factory=list)
    shows: dict[Side, tuple[int, ...]] = field(default_factory=dict)
    doubts: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def add(self, movement: Movement) -> int:
        """One more movement; returns its number."""
        self.movements.append(movement)
        return len(self.movements) - 1

    def matrix(self, n_classes: int) -> sparse.csr_array:
        """A row per movement."""
        starts = np.cumsum([0, *(len(m.classes) for m in self.movements)])
        classes = np.concatenate([np.zeros(0, dtype=np.int64), *(m.classes for m in self.movements)])
        steps = np.concatenate([np.zeros(0, dtype=np.int64), *(m.steps for m in self.movements)])
        return sparse.csr_array((steps, classes, starts), shape=(len(self.movements), n_classes))

    def plus(self, number: int, other: "Movement", times: int) -> Movement:
        """A movement and a multiple of another one together."""
        own = self.movements[number]
        classes, place = np.unique(np.concatenate((own.classes, other.classes)), return_inverse=True)
        steps = np.zeros(len(classes), dtype=np.int64)
        np.add.at(steps, place.reshape(-1), np.concatenate((own.steps, times * other.steps)))
        return Movement(classes[steps != 0], steps[steps != 0])

    def kept(self, alive: Mask) -> "Pool":
        """Only the movements that are still alive, without those that show nothing."""
        used = {k for numbers in (*self.shows.values(), *self.doubts.values()) for k in numbers}
        numbers = [k for k in range(len(self.movements)) if alive[k] and k in used]
        rename = {old: new for new, old in enumerate(numbers)}
        return Pool([self.movements[k] for k in numbers], _renamed(self.shows, rename), _renamed(self.doubts, rename))

    def with_movements(self, movements: list[Movement]) -> "Pool":
        """The same uses of other movements, number by number."""
        return Pool(movements, dict(self.shows), dict(self.doubts))


K = TypeVar("K", Side, int)


def _renamed(uses: dict[K, tuple[int, ...]], rename: dict[int, int]) -> dict[K, tuple[int, ...]]:
    """Uses of movements by their new numbers, without those that are gone."""
    kept = {key: tuple(rename[k] for k in old if k in rename) for key, old in uses.items()}
    return {key: numbers for key, numbers in kept.items() if numbers}


@dataclass(frozen=True, eq=False)
class Carried:
    """A pool in the finer classes of a further release; `excess` is by how much each movement misses the one new row.

    Movements that are not `alive` miss it, or something else; with several new rows the excess is not known (0).
    """

    pool: Pool
    alive: Mask
    excess: Ints


def carried(pool: Pool, before: System, after: System) -> Carried:
    """The movements of a pool in the finer classes of a further release.

    What moves in a class that is split goes to its parts as far as their bounds allow. With one new row its change is
    then cancelled within split classes: moving from one part to another changes no earlier row.
    """
    if not pool.movements:
        return Carried(pool, np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64))
    low, high = after.class_bounds()
    center = after.class_center()
    down, up = low - center, high - center
    split = _Split.of(after.classes.parent, before.classes.n)
    row = _NewRow.of(after, center) if after.fresh == 1 else None
    moved = _recentered(pool, before, after)
    if not split.parts:  # nothing to deal out, and what held for the rows before holds
        new = pool.with_movements(list(moved))
        known = len(after.row_low) - after.fresh if moved is pool.movements else 0
        excess = np.array([0 if row is None else row.excess(movement) for movement in moved], dtype=np.int64)
        return Carried(new, alive(new, after, down, up, first_row=known), excess)
    dealt = [split.dealt(movement, down, up, row) for movement in moved]
    new = pool.with_movements([movement for movement, _ in dealt])
    excess = np.array([left for _, left in dealt], dtype=np.int64)
    return Carried(new, alive(new, after, down, up), excess)


def carried_along(pool: Pool, before: System, after: System, lines: Sequence[Line]) -> Pool:
    """The movements of a pool in the finer classes of an answer, equation by equation.

    What a single equation changes is cancelled within the classes that it splits, which changes no row before it. What else
    splits classes, such as relations stated of their parts, comes last.
    """
    classes, movements = before.classes, pool.movements
    for line in lines:
        finer = classes.parted(line.places, line.weights)
        low, high = finer.bounds(after.low, after.high)
        center = finer.totals(after.center)
        down, up = low - center, high - center
        weights = np.zeros(finer.n, dtype=np.int64)
        weights[finer.of[line.places]] = line.weights
        row = _NewRow(weights, int(weights @ center), line.low, line.high)
        split = _Split.of(finer.parent, classes.n)
        movements = [split.dealt(movement, down, up, row)[0] for movement in movements]
        classes = finer
    low, high = after.class_bounds()
    center, parent = after.class_center(), np.zeros(after.classes.n, dtype=np.int64)
    parent[after.classes.of] = classes.of
    split, down, up = _Split.of(parent, classes.n), low - center, high - center
    return pool.with_movements([split.dealt(movement, down, up, None)[0] for movement in movements])


@dataclass(frozen=True, eq=False)
class _NewRow:
    """The one new row: its weight per class, its value at the center, its ends."""

    weights: Ints
    value: int
    low: int
    high: int
    extremes: dict[int, tuple[int, int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, after: System, center: Ints) -> "_NewRow":
        weights = after.rows[[len(after.row_low) - 1]].toarray()[0]
        return cls(weights, int(weights @ center), int(after.row_low[-1]), int(after.row_high[-1]))

    def excess(self, movement: Movement) -> int:
        """By how much a movement leaves the ends: above 0 over the upper one, below 0 under the lower one."""
        value = self.value + int(self.weights[movement.classes] @ movement.steps)
        return value - self.high if value > self.high else min(value - self.low, 0)

    def between(self, old: int, parts: Sequence[int]) -> tuple[int, int, int]:
        """The parts of a class with the least and the greatest weight, and by how much these differ."""
        if old not in self.extremes:
            order = sorted(parts, key=lambda part: int(self.weights[part]))
            gap = int(self.weights[order[-1]]) - int(self.weights[order[0]])
            self.extremes[old] = order[0], order[-1], gap
        return self.extremes[old]


def still_true(pool: Pool, system: System) -> Pool:
    """The movements of a pool that satisfy a system."""
    low, high = system.class_bounds()
    center = system.class_center()
    return pool.kept(alive(pool, system, low - center, high - center)) if pool.movements else pool


def _recentered(pool: Pool, before: System, after: System) -> list[Movement]:
    """The same points as movements from the center of the later system, in the earlier classes."""
    n = before.n_unknowns
    shift = before.classes.totals(before.center) - before.classes.totals(after.center[:n])
    if not shift.any():
        return pool.movements
    return [Movement.of(movement.full(before.classes.n) + shift) for movement in pool.movements]


@dataclass(frozen=True, eq=False)
class _Split:
    """The parts of the classes that a release splits, and what became of the others."""

    parts: dict[int, list[int]]
    kept: Ints

    @classmethod
    def of(cls, parent: Ints, n_before: int) -> "_Split":
        """From the class before of each class; auxiliary unknowns have none."""
        children = np.flatnonzero((parent >= 0) & (parent < n_before))
        kept = np.full(n_before, -1, dtype=np.int64)
        kept[parent[children]] = children
        inner = children[np.bincount(parent[children], minlength=n_before)[parent[children]] > 1]
        parts: dict[int, list[int]] = {}
        for child, old in zip(inner.tolist(), parent[inner].tolist(), strict=True):
            parts.setdefault(old, []).append(child)
        kept[list(parts)] = -1
        return cls(parts, kept)

    def dealt(self, movement: Movement, down: Ints, up: Ints, row: _NewRow | None) -> tuple[Movement, int]:
        """A movement of the earlier classes in the later ones, and by how much it misses the new row."""
        same = self.kept[movement.classes]
        if bool((same >= 0).all()):
            whole = Movement(same, movement.steps)
            excess = 0 if row is None else row.excess(whole)
            if row is None or not excess:
                return whole, 0
        change: dict[int, int] = {}
        for old, step in zip(movement.classes.tolist(), movement.steps.tolist(), strict=True):
            for part, own in self._divided(old, step, down, up):
                change[part] = change.get(part, 0) + own
        excess = 0 if row is None else row.excess(_movement(change))
        # parts of classes that move anyway come first: the movement stays small
        for old in itertools.chain(movement.classes.tolist(), self.parts) if row is not None and excess else ():
            if row is not None and old in self.parts:
                excess = _shift(row.between(old, self.parts[old]), change, down, up, excess)
            if excess == 0:
                break
        return _movement(change), excess

    def _divided(self, old: int, step: int, down: Ints, up: Ints) -> Iterator[tuple[int, int]]:
        """What moves in a class, in its parts as far as their bounds allow."""
        if old not in self.parts:
            yield int(self.kept[old]), step
            return
        left = step
        for part in self.parts[old]:
            own = min(left, int(up[part])) if left > 0 else max(left, int(down[part]))
            if own:
                yield part, own
            left -= own
            if not left:
                break


def _movement(change: Mapping[int, int]) -> Movement:
    """The movement that changes classes by so much."""
    classes = np.array(sorted(part for part, step in change.items() if step), dtype=np.int64)
    return Movement(classes, np.array([change[part] for part in classes.tolist()], dtype=np.int64))


def _shift(between: tuple[int, int, int], change: dict[int, int], down: Ints, up: Ints, excess: int) -> int:
    """Move between the parts with the least and the greatest weight; returns the excess that is left."""
    least, most, gap = between
    if gap == 0:
        return excess
    source, target = (most, least) if excess > 0 else (least, most)
    here, there = change.get(source, 0), change.get(target, 0)
    room = min(here - int(down[source]), int(up[target]) - there, abs(excess) // gap)
    if room <= 0:
        return excess
    change[source], change[target] = here - room, there + room
    return excess - gap * room if excess > 0 else excess + gap * room


def alive(pool: Pool, system: System, down: Ints, up: Ints, *, first_row: int = 0) -> Mask:
    """The movements that end within all bounds and rows, from some row on."""
    matrix = pool.matrix(system.classes.n)
    inside = (matrix.data >= down[matrix.indices]) & (matrix.data <= up[matrix.indices])
    outside = np.zeros(len(pool.movements), dtype=np.int64)
    np.add.at(outside, np.repeat(np.arange(len(pool.movements)), np.diff(matrix.indptr)), ~inside)
    rows = system.rows[first_row:]
    changes = (matrix @ rows.T).tocsr()
    sums = rows @ system.class_center()
    room_down, room_up = system.row_low[first_row:] - sums, system.row_high[first_row:] - sums
    broken = (changes.data < room_down[changes.indices]) | (changes.data > room_up[changes.indices])
    np.add.at(outside, np.repeat(np.arange(len(pool.movements)), np.diff(changes.indptr)), broken)
    return np.asarray(outside == 0, dtype=bool)
