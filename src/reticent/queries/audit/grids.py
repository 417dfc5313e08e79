# SPDX-License-Identifier: Apache-2.0
"""Values as numbers of steps, for the search of other databases: all that answers are about, or groups of near ones.

One value far from all others must not end the search for everybody else. So a grid is of the classes that answers are about.
Where these lie too far apart for one grid, each group of classes that have one is searched by itself: from the answers those
combinations are taken in which no other class occurs.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.queries.audit.movements import kernel
from reticent.queries.fixed import Fixed, Whole

WIDEST = 2**30


@dataclass(frozen=True)
class Grid:
    """Values as numbers of steps above the least one, in steps that all have: a value is (least + step · number) / scale."""

    least: int
    step: int
    scale: int

    @classmethod
    def of(cls, values: Whole, scale: int, step: int | None = None) -> "Grid | None":
        """That of some values, by default in the largest steps that they have; None if they are too many steps apart."""
        least, greatest = int(values.min()), int(values.max())
        step = common_step(values) if step is None else step
        return cls(least, step, scale) if (greatest - least) // step < WIDEST else None

    def numbers(self, values: Whole) -> Ints:
        """The number of each value."""
        return np.asarray((values - self.least) // self.step).astype(np.int64)

    def first(self, end: Fraction | None) -> int:
        """The number of the first value that is not below an end."""
        return -WIDEST if end is None else max(-WIDEST, math.ceil((end * self.scale - self.least) / self.step))

    def last(self, end: Fraction | None) -> int:
        """The number of the last value that is not above an end."""
        return WIDEST if end is None else min(WIDEST, math.floor((end * self.scale - self.least) / self.step))

    def squares(self, numbers: Sequence[int]) -> list[int]:
        """The squares of values, up to a common factor and a constant, exactly."""
        return [number * (2 * self.least + self.step * number) for number in numbers]


def common_step(values: Whole) -> int:
    """The largest step in which some values come."""
    least = int(values.min())
    return math.gcd(*(int(value) - least for value in np.unique(values).tolist())) or 1


@dataclass(frozen=True)
class Group:
    """Classes with a grid of their own, and what is released of them: weights of all classes in sums, and in squares."""

    grid: Grid
    inside: Mask
    told: tuple[Ints, Ints]


def groups(values: Fixed, step: int, where: Ints, told: tuple[Ints, Ints], most: int) -> Iterator[Group]:
    """All classes that answers are about as one group if one grid is enough; otherwise each group that has one.

    `step` is that of all values, `where` the class of each, and `most` the largest weight that counts.
    """
    touched = np.asarray(np.concatenate(told).any(axis=0), dtype=bool)
    about = touched[where]
    if not about.any():
        return
    own = values.integers[about]
    grid = Grid.of(own, values.scale, step) or Grid.of(own, values.scale)
    if grid is not None:
        yield Group(grid, touched, told)
        return
    for grid, inside in _near(values, where, touched):
        one, other = (_only(rows, touched & ~inside, most) for rows in told)
        if len(one) and len(other):
            yield Group(grid, inside, (one, other))


def _near(values: Fixed, where: Ints, touched: Mask) -> Iterator[tuple[Grid, Mask]]:
    """Groups of classes with a common grid, from the least values to the greatest; too wide classes are in none."""
    parts = {j: values.integers[where == j] for j in np.flatnonzero(touched).tolist()}
    alone = {j: part for j, part in parts.items() if len(part) and Grid.of(part, values.scale) is not None}
    found: list[tuple[Grid, list[int]]] = []
    for j in sorted(alone, key=lambda j: (int(alone[j].min()), j)):
        classes = [*found[-1][1], j] if found else [j]
        grid = Grid.of(np.concatenate([alone[k] for k in classes]), values.scale)
        if grid is not None and found:
            found[-1] = grid, classes
        else:
            own = Grid.of(alone[j], values.scale)
            assert own is not None
            found.append((own, [j]))
    for grid, classes in found:
        inside = np.zeros(len(touched), dtype=bool)
        inside[classes] = True
        yield grid, inside


def _only(rows: Ints, others: Mask, most: int) -> Ints:
    """Combinations of rows in which some classes do not occur, with weights that are not too large."""
    factors = kernel(np.asarray(rows[:, others].T)) if len(rows) else []
    combined = [own @ rows.astype(object) for own in factors]
    light = [row for row in combined if any(row) and max(abs(int(weight)) for weight in row) <= most]
    return np.array(light, dtype=np.int64).reshape(-1, rows.shape[1])
