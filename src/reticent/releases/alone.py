# SPDX-License-Identifier: Apache-2.0
"""How the cells of one release could move if it were the only one: quickly found, to be dealt out beside all the others."""

from collections.abc import Iterator

import numpy as np

from reticent.base.arrays import Ints
from reticent.releases.dealing import Dealer
from reticent.releases.programs import Budget, Limits, OutOfSteps
from reticent.releases.stack import Stack, exact_product
from reticent.releases.unknowns import OPEN
from reticent.releases.wide import Wide

MOST_OWN = 8
"""This many ways of its own are looked for, for each end of each watched sum."""
Way = dict[int, int]
"""What moves in which coarse class of a release."""


class Alone:
    """One release over its coarse classes, which are far fewer than those of the whole system."""

    def __init__(self, dealer: Dealer, release: int, limits: Limits) -> None:
        system, label = dealer.system, dealer.home(release)[0]
        n = int(label.max()) + 1
        first = np.zeros(n, dtype=np.int64)
        first[label] = np.arange(len(label))
        told = np.flatnonzero(system.row_release == release)
        self.watched = system.watched[:, first]
        self.low, self.high = _totals(label, dealer.low, n), _totals(label, dealer.high, n)
        self.center = _totals(label, dealer.center, n)
        self.values = exact_product(self.watched, self.center)
        self.rows, self.ends = system.rows[told][:, first], (system.row_low[told], system.row_high[told])
        self._stack = Stack(self.rows, self.watched)
        self.limits = limits
        self._found: list[Way] = []
        self._reached: list[Ints] = []
        self._seen: set[bytes] = set()
        self._asked: dict[tuple[int, int, bool], int] = {}
        self._programs: dict[int, Wide] = {}

    def ways(self, sight: int, end: int, *, upper: bool, most: int) -> Iterator[Way]:
        """Ways in which a watched sum of the release reaches an end: those found for others first, then one of its own."""
        reached = int(self.values[sight]) + np.array([own[sight] for own in self._reached], dtype=np.int64)
        known = np.flatnonzero(reached >= end if upper else reached <= end)[:most].tolist()
        yield from (self._found[number] for number in known)
        begun = self._asked.get((sight, end, upper), 0)
        for seed in range(begun, min(begun + most - len(known), MOST_OWN)):
            self._asked[sight, end, upper] = seed + 1  # what was found then is among those found
            made = self._reach(sight, end, upper=upper, seed=seed)
            if made is None:
                return
            for own in (made, -made):
                key = own.tobytes()
                if key not in self._seen and self._fits(own):
                    self._seen.add(key)
                    self._found.append(_way(own))
                    self._reached.append(self.watched @ own)
            yield _way(made)

    def _fits(self, movement: Ints) -> bool:
        moved = self.center + movement
        if bool((moved < self.low).any() or (moved > self.high).any()):
            return False
        sums = exact_product(self.rows, moved)
        return bool((sums >= self.ends[0]).all() and (sums <= self.ends[1]).all())

    def _reach(self, sight: int, end: int, *, upper: bool, seed: int) -> Ints | None:
        """A movement by a program whose costs depend on the seed; None if there is none, or none is found."""
        if seed not in self._programs:
            cost = np.ones(len(self.center))
            self._programs[seed] = Wide(
                self._stack, *self.ends, self.low, self.high, self.center, cost, self.limits, Budget(), seed
            )  # fmt: skip
        nothing = np.zeros(0, dtype=np.int64)
        try:
            return self._programs[seed].reach(sight, end, upwards=upper, low=self.low, high=self.high, likely=nothing)
        except OutOfSteps:
            return None


def _way(movement: Ints) -> Way:
    return {int(k): int(movement[k]) for k in np.flatnonzero(movement)}


def _totals(label: Ints, values: Ints, n: int) -> Ints:
    """The sums by label; open where one of the values is."""
    is_open = np.abs(values) >= OPEN
    out = np.zeros(n, dtype=np.int64)
    np.add.at(out, label, np.where(is_open, 0, values))
    out[label[is_open]] = values[is_open]
    return out
