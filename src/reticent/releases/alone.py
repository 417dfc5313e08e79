# SPDX-License-Identifier: Apache-2.0
"""How the cells of one release could move if it were the only one: quickly found, to be dealt out beside all the others."""

from collections.abc import Iterator

import numpy as np

from reticent.base.arrays import Ints
from reticent.releases.dealing import Dealer
from reticent.releases.programs import Limits, OutOfSteps, Search
from reticent.releases.stack import Stack, exact_product
from reticent.releases.unknowns import OPEN

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
        self.limits = limits
        self._found: list[Way] = []
        self._reached: list[Ints] = []
        self._asked: set[tuple[int, int, bool]] = set()
        self._search: Search | None = None

    def ways(self, sight: int, end: int, *, upper: bool, most: int) -> Iterator[Way]:
        """Ways in which a watched sum of the release reaches an end: those found for others first, then one of its own."""
        reached = int(self.values[sight]) + np.array([own[sight] for own in self._reached], dtype=np.int64)
        known = np.flatnonzero(reached >= end if upper else reached <= end)[:most].tolist()
        yield from (self._found[number] for number in known)
        if len(known) < most and (sight, end, upper) not in self._asked:
            self._asked.add((sight, end, upper))  # what was found then is among those found
            made = self._reach(sight, end, upper=upper)
            if made is not None:
                for own in (made, -made):
                    if self._fits(own):
                        self._found.append(_way(own))
                        self._reached.append(self.watched @ own)
                yield _way(made)

    def _fits(self, movement: Ints) -> bool:
        moved = self.center + movement
        if bool((moved < self.low).any() or (moved > self.high).any()):
            return False
        sums = exact_product(self.rows, moved)
        return bool((sums >= self.ends[0]).all() and (sums <= self.ends[1]).all())

    def _reach(self, sight: int, end: int, *, upper: bool) -> Ints | None:
        """A movement by the programs; None if there is none, or none is found."""
        if self._search is None:
            self._search = Search(
                Stack(self.rows, self.watched), *self.ends, self.low, self.high, self.center, self.limits
            )
        try:
            found = self._search.reach(sight, end, upwards=upper, low=self.low, high=self.high)
        except OutOfSteps:
            return None
        return found if isinstance(found, np.ndarray) else None


def _way(movement: Ints) -> Way:
    return {int(k): int(movement[k]) for k in np.flatnonzero(movement)}


def _totals(label: Ints, values: Ints, n: int) -> Ints:
    """The sums by label; open where one of the values is."""
    is_open = np.abs(values) >= OPEN
    out = np.zeros(n, dtype=np.int64)
    np.add.at(out, label, np.where(is_open, 0, values))
    out[label[is_open]] = values[is_open]
    return out
