# SPDX-License-Identifier: Apache-2.0
"""One system of related responses with the movements that show its watched sums unknown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from reticent.base.arrays import Array, Ints
from reticent.base.errors import DataError
from reticent.releases.pool import Movement, Pool, Side, still_true
from reticent.releases.stack import exact_product
from reticent.releases.system import System


@dataclass
class Part:
    """Facts and watches of responses that facts relate, and movements that show each watched sum unknown."""

    system: System
    pool: Pool = field(default_factory=Pool)

    def state(self) -> dict[str, Array]:
        """What `restored` needs besides the system of the releases: how the center differs from the data, and the movements.

        A class is named by its first unknown, because its number depends on the order in which classes were split.
        """
        moved = self.pool.movements
        first = np.zeros(self.system.classes.n, dtype=np.int64)
        first[self.system.classes.of[::-1]] = np.arange(self.system.n_unknowns - 1, -1, -1)
        shows = [(s, int(upper), k) for (s, upper), numbers in self.pool.shows.items() for k in numbers]
        doubts = [(s, k) for s, numbers in self.pool.doubts.items() for k in numbers]
        return {
            "center": self.system.center - self._guess(),
            "ends": np.array([(s.low, s.high) for s in self.system.sights], dtype=np.int64).reshape(-1, 2),
            "starts": np.cumsum([0, *(len(m.classes) for m in moved)]),
            "classes": np.concatenate([np.zeros(0, dtype=np.int64), *(first[m.classes] for m in moved)]),
            "steps": np.concatenate([np.zeros(0, dtype=np.int64), *(m.steps for m in moved)]),
            "shows": np.array(shows, dtype=np.int64).reshape(-1, 3),
            "doubts": np.array(doubts, dtype=np.int64).reshape(-1, 2),
        }

    def restored(self, state: Mapping[str, Array]) -> "Part":
        """The part with the center and the movements of a state, as far as they fit."""
        system, starts = self.system, state["starts"]
        if len(state["center"]) != system.n_unknowns or len(state["ends"]) != len(system.sights):
            raise DataError("releases: the snapshot is of other releases; leave it out and judge from the ledger.")
        ends = state["ends"].tolist()
        sights = tuple(replace(s, low=low, high=high) for s, (low, high) in zip(system.sights, ends, strict=True))
        center = np.clip(state["center"] + self._guess(), system.low, system.high)
        classes = system.classes.of[state["classes"]]
        moved = [_summed(classes[a:b], state["steps"][a:b]) for a, b in pairwise(starts.tolist())]
        shows: dict[Side, tuple[int, ...]] = {}
        for sight, upper, number in state["shows"].tolist():
            shows[sight, bool(upper)] = (*shows.get((sight, bool(upper)), ()), number)
        doubts: dict[int, tuple[int, ...]] = {}
        for sight, number in state["doubts"].tolist():
            doubts[sight] = (*doubts.get(sight, ()), number)
        whole = replace(system, sights=sights, center=center)
        return Part(whole, still_true(Pool(moved, shows, doubts), whole))

    def _guess(self) -> Ints:
        """The data as far as they are known; auxiliary unknowns of releases are 0."""
        own = np.zeros(self.system.n_unknowns - self.system.layout.size, dtype=np.int64)
        return np.concatenate((*(columns.guess for columns in self.system.layout.columns), own))

    def center(self) -> Ints:
        """A point that satisfies everything, per unknown."""
        return self.system.center

    def points(self) -> Iterator[tuple[int, bool, Ints]]:
        """For each side of each watched sum a point, per unknown, that reaches it."""
        system = self.system
        totals = system.class_center()
        for (sight, upper), numbers in sorted(self.pool.shows.items()):
            watched = system.sights[sight]
            for number in numbers:
                moved = totals + self.pool.movements[number].full(system.classes.n)
                value = int(exact_product(system.watched[[sight]], moved)[0])
                if value >= watched.high if upper else value <= watched.low:  # others are for respondents alone
                    yield sight, upper, system.classes.spread(moved, system.low, system.high, system.center)
                    break


def _summed(classes: Ints, steps: Ints) -> Movement:
    """The movement, where several of its classes have become one."""
    total = np.zeros(int(classes.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(total, classes, steps)
    return Movement.of(total)
