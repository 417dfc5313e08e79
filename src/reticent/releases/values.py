# SPDX-License-Identifier: Apache-2.0
"""Values that move along with people: where a relation says who can be where, a count that moves needs a value to come or go.

A value moves between two classes of one cell of a release, and back between two like them in another cell: a rectangle, which
keeps every sum. Whatever is proposed is checked in whole numbers before it counts.
"""

from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.data.facts import COUNT
from reticent.releases.system import System

MOST_SHORT = 6
"""Movements that leave more rows short of values are left to the programs."""
MOST_TRIED = 24
MOST_AROUND = 4


@dataclass(eq=False)
class Values:
    """The classes of values by what the release that tells most of them sees (`cell`), and by what all others see (`rest`)."""

    system: System
    center: Ints
    low: Ints
    _of: dict[int, "_Grid"] = field(default_factory=dict)

    def along(self, rows: Ints, missing: Ints, response: Ints) -> dict[int, int] | None:
        """What must move in classes of values so that some rows have what they miss; None if no rectangle is found."""
        if len(rows) > MOST_SHORT:
            return None
        moved: dict[int, int] = {}
        for row, lack in zip(rows.tolist(), missing.tolist(), strict=True):
            part = slice(self.system.rows.indptr[row], self.system.rows.indptr[row + 1])
            classes, weights = self.system.rows.indices[part], self.system.rows.data[part]
            able = np.flatnonzero(self._is_value(response[classes]))
            if len(able) != 1:
                return None
            own, weight = int(classes[able[0]]), int(weights[able[0]])
            step = -(-lack // abs(weight)) * (1 if weight > 0 else -1)
            found = self._grid(int(response[own]), response).rectangle(own, step, moved)
            if found is None:
                return None
            for number, amount in found.items():
                moved[number] = moved.get(number, 0) + amount
        return moved

    def near(self, classes: Ints, response: Ints) -> Ints:
        """Classes of values that may have to move along with some classes: theirs, others of the same cells, and like ones."""
        rows = np.flatnonzero(self.related(response))
        touched = rows[np.diff(self.system.rows[rows][:, classes].indptr) > 0]
        found = self.system.rows[touched].indices
        found = np.unique(found[self._is_value(response)[found]])
        grids = {number: self._grid(number, response) for number in np.unique(response[found]).tolist()}
        more = [other for own in found.tolist() for other in grids[int(response[own])].around(own)]
        return np.union1d(found, np.array(more, dtype=np.int64))

    def related(self, response: Ints) -> Mask:
        """The rows that relate one class of values with counts, and leave room on a side."""
        rows = self.system.rows
        of_row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        values = np.bincount(of_row[self._is_value(response)[rows.indices]], minlength=rows.shape[0])
        open_ended = self.system.row_low < self.system.row_high
        return np.asarray((values == 1) & (np.diff(rows.indptr) > 1) & open_ended, dtype=bool)

    def _is_value(self, response: Ints) -> Mask:
        counts = [k for k, name in enumerate(self.system.layout.responses) if name == COUNT]
        return (response >= 0) & ~np.isin(response, counts)

    def _grid(self, number: int, response: Ints) -> "_Grid":
        if number not in self._of:
            self._of[number] = _Grid.of(self.system, np.flatnonzero(response == number), self.center, self.low)
        return self._of[number]


@dataclass(frozen=True, eq=False)
class _Grid:
    """The classes of one response: by cell and by the rest, the fullest first."""

    at: dict[int, tuple[int, int]]
    by_cell: dict[int, dict[int, int]]
    by_rest: dict[int, list[int]]
    center: Ints
    low: Ints

    @classmethod
    def of(cls, system: System, classes: Ints, center: Ints, low: Ints) -> "_Grid":
        """Labels from random marks of the equations; where two classes have the same labels, the fuller one counts."""
        rows = system.rows[:, classes]
        exact = system.row_low == system.row_high
        told = np.bincount(system.row_release[exact & (np.diff(rows.indptr) > 0)], minlength=1)
        most = int(np.argmax(told))
        keys = np.where(exact, np.random.default_rng(len(exact)).integers(1, 2**62, size=len(exact), dtype=np.int64), 0)
        mine = system.row_release == most
        with np.errstate(over="ignore"):
            cell, rest = (np.asarray(np.where(own, keys, 0) @ rows, dtype=np.int64) for own in (mine, ~mine))
        at: dict[int, tuple[int, int]] = {}
        by_cell: dict[int, dict[int, int]] = {}
        by_rest: dict[int, list[int]] = {}
        for place in np.argsort(-center[classes], kind="stable").tolist():
            number, one, other = int(classes[place]), int(cell[place]), int(rest[place])
            at[number] = (one, other)
            if other not in by_cell.setdefault(one, {}):
                by_cell[one][other] = number
                by_rest.setdefault(other, []).append(one)
        return cls(at, by_cell, by_rest, center, low)

    def around(self, own: int) -> list[int]:
        """Some of the fullest classes of the same cell, and of other cells with like classes."""
        cell, rest = self.at[own]
        mates = list(self.by_cell[cell].items())[:MOST_AROUND]
        across = [one for one in self.by_rest[rest] if one != cell][:MOST_AROUND]
        others = [
            self.by_cell[one][k] for one in across for k in (rest, *(k for k, _ in mates)) if k in self.by_cell[one]
        ]
        return [*(number for _, number in mates), *others]

    def rectangle(self, own: int, step: int, moved: dict[int, int]) -> dict[int, int] | None:
        """The class itself by a step, three others so that no sum changes: among the fullest ones that have room."""
        cell, rest = self.at[own]
        beside = [(other, number) for other, number in self.by_cell[cell].items() if other != rest and number != own]
        for other, near in beside[:MOST_TRIED]:
            if not self._room(near, -step, moved):
                continue
            across = (one for one in self.by_rest[rest] if one != cell and other in self.by_cell[one])
            for one, _ in zip(across, range(MOST_TRIED), strict=False):
                like, far = self.by_cell[one][rest], self.by_cell[one][other]
                if self._room(like, -step, moved) and self._room(far, step, moved):
                    return {own: step, near: -step, like: -step, far: step}
        return None

    def _room(self, number: int, step: int, moved: dict[int, int]) -> bool:
        """Whether a class that has something keeps more than half of it."""
        now = int(self.center[number]) + moved.get(number, 0)
        least = int(self.low[number])
        return now > least and 2 * (now + step - least) > now - least
