# SPDX-License-Identifier: Apache-2.0
"""What respondents know beforehand: their own values. For a respondent the other units of a class must carry what moves."""

from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.releases.pool import Movement
from reticent.releases.system import System
from reticent.releases.unknowns import NOBODY, OPEN


@dataclass(frozen=True, eq=False)
class Insiders:
    """For each respondent and class with units of theirs: between which ends the class total lies for them.

    Entries are sorted by class; those of class c are `start[c]` to `start[c + 1]`.
    """

    system: System
    owner: Ints
    start: Ints
    low: Ints
    high: Ints
    of_class: Ints

    @classmethod
    def of(cls, system: System) -> "Insiders":
        """All respondents of a system, whose center has the true values."""
        own = np.flatnonzero(system.owner != NOBODY)
        factor = int(system.owner.max(initial=0)) + 1
        keys, number = np.unique(system.classes.of[own] * factor + system.owner[own], return_inverse=True)
        pairs, number = np.column_stack(np.divmod(keys, factor)), number.reshape(-1)
        value = _sums(number, system.center[own], len(pairs))
        low = value + _others(system, own, number, pairs[:, 0], upper=False)
        high = value + _others(system, own, number, pairs[:, 0], upper=True)
        start = np.searchsorted(pairs[:, 0], np.arange(system.classes.n + 1))
        return cls(system, pairs[:, 1], start, np.clip(low, -OPEN, OPEN), np.clip(high, -OPEN, OPEN), pairs[:, 0])

    def excluded_by(self, movement: Movement, center: Ints) -> frozenset[int]:
        """The respondents who can exclude the point that a movement leads to."""
        found: set[int] = set()
        for number, step in zip(movement.classes.tolist(), movement.steps.tolist(), strict=True):
            part = slice(int(self.start[number]), int(self.start[number + 1]))
            total = int(center[number]) + step
            wrong = (self.low[part] > total) | (self.high[part] < total)
            found |= set(self.owner[part][wrong].tolist())
        return frozenset(found)

    def classes(self, owner: int) -> Ints:
        """The classes with units of a respondent."""
        return np.asarray(self.of_class[self.owner == owner], dtype=np.int64)

    def bounds(self, owner: int, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """The bounds of classes for one respondent."""
        mine = np.flatnonzero(self.owner == owner)
        own_low, own_high = low.copy(), high.copy()
        at = self.of_class[mine]
        own_low[at] = np.maximum(low[at], self.low[mine])
        own_high[at] = np.minimum(high[at], self.high[mine])
        return own_low, own_high

    def end(self, owner: int, sight: int, *, upper: bool) -> int:
        """The end of a watched sum that must be reached for one respondent: none is asked to forget their own values."""
        watched = self.system.sights[sight]
        own = self.system.owner[watched.places] == owner
        known = int(watched.weights[own] @ self.system.center[watched.places[own]])
        if self.owns(owner, sight):
            return known
        others, weights = watched.places[~own], watched.weights[~own]
        low, high = self._public()
        far = _far(weights, low[others], high[others], upper=upper)
        wanted = watched.high if upper else watched.low
        if far is None:
            return wanted
        return min(wanted, known + far) if upper else max(wanted, known + far)

    def owns(self, owner: int, sight: int) -> bool:
        """Whether a watched sum is of values of one respondent only; where nobody is, there is nobody to know of."""
        owners = self.system.owner[self.system.sights[sight].places]
        own = owners == owner
        return bool(own.any() and (own | (owners == NOBODY)).all())

    def _public(self) -> tuple[Ints, Ints]:
        layout = self.system.layout
        return np.concatenate([c.low for c in layout.columns]), np.concatenate([c.high for c in layout.columns])


def _far(weights: Ints, low: Ints, high: Ints, *, upper: bool) -> int | None:
    """The largest (or smallest) weighted sum within bounds; None if it is open."""
    ends = np.where((weights > 0) == upper, high, low)
    if bool((np.abs(ends) >= OPEN).any()):
        return None
    return int(weights @ ends)


def _others(system: System, own: Ints, number: Ints, of_class: Ints, *, upper: bool) -> Ints:
    """The sum of the bounds of the other units of the class, per pair; a sentinel where it is open."""
    ends, sentinel = (system.high, OPEN) if upper else (system.low, -OPEN)
    is_open: Mask = np.abs(ends) >= OPEN
    finite = np.where(is_open, 0, ends)
    total, opens = system.classes.totals(finite), system.classes.totals(is_open.astype(np.int64))
    rest = total[of_class] - _sums(number, finite[own], len(of_class))
    rest_open = opens[of_class] - _sums(number, is_open[own].astype(np.int64), len(of_class))
    return np.where(rest_open > 0, sentinel, rest)


def _sums(number: Ints, values: Ints, n: int) -> Ints:
    out = np.zeros(n, dtype=np.int64)
    np.add.at(out, number, values)
    return out


@dataclass(eq=False)
class Doubts:
    """Movements of a watched sum, and the respondents whom they leave in no doubt about it."""

    used: list[int]
    left: set[int]
