# SPDX-License-Identifier: Apache-2.0
"""How often two answered universes may differ by a few records only, one of them being the same.

What a universe loses is drawn again for every set of records in a stratum. Two universes that differ in a stratum by a few
records are a measurement of these records, with the noise of two draws; padding both with other records of the stratum
makes the measurement again. Each respondent may be in the difference of a few such pairs, and not of more: the attacker's
error after this many is `attacker_error`. Padding with records of other strata redraws nothing. Universes of all versions
of the data count together: the same records in a new version are no new chance.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.queries.analysis.estimates import Alike, Estimates, pair_precision
from reticent.queries.analysis.linked import Units

Bytes = NDArray[np.uint8]
EVERY = ""
"""Stands for all responses together."""


def attacker_error(most: int, pairs: int, share: float = 0.5) -> float:
    """How probably an attacker mistakes a value of 0 or 1 after this many pairs, where `share` of the others have a 1.

    A pair gives the value plus the difference of what two draws lost: q records each, q uniform on {2, …, most}, of which
    a binomial number have a 1. The attacker learns each q from a count beside the sum, takes the pairs with small q for
    more, and decides at ½ (normal approximation).

    >>> round(attacker_error(5, 4), 2), round(attacker_error(5, 110), 5)
    (0.22, 2e-05)
    """
    sizes = np.arange(2, most + 1)
    noise = np.add.outer(sizes, sizes) * share * (1 - share)
    return 0.5 * math.erfc(0.5 * math.sqrt(pairs * float((1.0 / noise).mean()) / 2.0))


@dataclass
class NearPairs:
    """The sets answered in each stratum, and in how many near pairs each respondent was part of the difference.

    A respondent with m records in a difference stands out of the noise as m² pairs with one record do, and counts as these.
    A pair is near if the respondents of its difference are fewer than `near`, counted as (Σm)²/Σm²: nine with one record
    each do not hide one with fifty, and those who are known hide nobody. Several versions of a data set may have several
    strata; a difference that is small by any of them counts. `draw` names the sample of an answer: the same set with another
    sample is another measurement.
    """

    units: Units
    near: int
    most: int
    precision: float
    _members: list[Ints] = field(default_factory=list, repr=False)
    _seen: list[Bytes] = field(default_factory=list, repr=False)
    _draws: list[Ints] = field(default_factory=list, repr=False)
    _most_units: list[int] = field(default_factory=list, repr=False)
    _estimates: list[Estimates] = field(default_factory=list, repr=False)
    _hidden: list[Bytes] = field(default_factory=list, repr=False)
    _pairs: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)

    def __post_init__(self) -> None:
        for stratum in self.units.strata:
            order = np.argsort(stratum, kind="stable")
            cuts = np.flatnonzero(np.diff(stratum[order])) + 1
            self._members += np.split(order, cuts)
        self._seen = [np.zeros((0, (len(part) + 7) // 8), dtype=np.uint8) for part in self._members]
        self._draws = [np.zeros(0, dtype=np.int64) for _ in self._members]
        owners = [self.units.respondent[part] for part in self._members]
        self._most_units = [int(np.bincount(owner).max(initial=1)) for owner in owners]
        self._hidden = [np.packbits(~self.units.known[part]) for part in self._members]
        self._pairs = np.zeros(int(self.units.respondent.max(initial=-1)) + 1, dtype=np.int64)
        # a value that changed is another unknown of the same respondent
        unknown = np.unique(
            np.column_stack((self.units.respondent, self.units.generation)), axis=0, return_inverse=True
        )[1]
        hidden = [part[~self.units.known[part]] for part in self._members]
        kinds = [Alike.of(unknown.reshape(-1)[part], self.units.place[part]) for part in hidden]
        self._estimates = [Estimates(own, self.precision) for own in kinds]

    def too_many(self, rows: Ints, version: int, draw: int = 0, share: float = 1.0) -> bool:
        """Whether a universe of a version would bring a respondent into more near pairs than a share of those allowed, or
        tell as much by all universes together.
        """
        more, fresh = self._differences(rows, version, draw)
        if bool((self._pairs[more > 0] + more[more > 0] > round(self.most * share)).any()):
            return True
        return any(self._estimates[n].too_near(self._inside(n, packed), self.most * share) for n, packed in fresh)

    def answer(self, rows: Ints, version: int, draw: int = 0) -> None:
        """Remember an answered universe."""
        more, fresh = self._differences(rows, version, draw)
        self._pairs += more
        for number, packed in fresh:
            self._seen[number] = np.vstack((self._seen[number], packed))
            self._draws[number] = np.append(self._draws[number], draw)
            self._estimates[number].add(self._inside(number, packed))

    def _inside(self, number: int, packed: Bytes) -> Floats:
        members = self._members[number]
        return np.unpackbits(packed)[: len(members)][~self.units.known[members]].astype(np.float64)

    def _differences(self, rows: Ints, version: int, draw: int) -> tuple[Ints, list[tuple[int, Bytes]]]:
        """In how many new near pairs each respondent is the difference, and the sets that are new in a stratum."""
        inside = np.zeros(len(self.units.respondent), dtype=bool)
        inside[self.units.of_rows[version][rows]] = True
        more = np.zeros(len(self._pairs), dtype=np.int64)
        fresh: list[tuple[int, Bytes]] = []
        for number, (members, seen) in enumerate(zip(self._members, self._seen)):
            packed, hidden = np.packbits(inside[members]), self._hidden[number]
            if bool(((seen == packed).all(axis=1) & (self._draws[number] == draw)).any()):
                continue
            fresh.append((number, packed))
            sizes = np.bitwise_count((seen ^ packed) & hidden).sum(axis=1)
            for other in seen[(sizes > 0) & (sizes < 2 * self.near * self._most_units[number])]:
                who, held = self._held(members, packed & hidden, other & hidden)
                if float(held.sum()) ** 2 < self.near * float((held**2).sum()):
                    more[who] += held**2
        return more, fresh

    def _held(self, members: Ints, one: Bytes, other: Bytes) -> tuple[Ints, Ints]:
        """The respondents by whom two sets differ, and with how many records.

        One that was changed counts twice: a 0 that became a 1 is twice as far from a 1 that became a 0 as 0 is from 1.
        """
        n = len(members)
        owner = self.units.respondent[members]
        sides = [np.unpackbits(part)[:n].astype(bool) for part in (one & ~other, other & ~one)]
        who = np.unique(owner[sides[0] | sides[1]])
        counts = [np.bincount(np.searchsorted(who, owner[side]), minlength=len(who)) for side in sides]
        return who, (counts[0] + counts[1]).astype(np.int64)


@dataclass
class Measurements:
    """Near pairs in each stratum, and in the whole file for the categories that a regression shows beside its universe."""

    strata: NearPairs
    whole: NearPairs

    @classmethod
    def of(cls, units: Units, *, near: int, most: int, drop: int) -> "Measurements":
        """Nothing is answered yet."""
        undivided = replace(units, strata=(np.zeros(len(units.respondent), dtype=np.int64),))
        precision = pair_precision(drop)
        strata = NearPairs(units, near, most, precision)
        if len(units.strata) == 1 and not bool(np.ptp(units.strata[0]) if len(units.strata[0]) else 0):
            return cls(strata, strata)
        return cls(strata, NearPairs(undivided, near, most, precision))

    def too_many(
        self, rows: Ints, version: int, draw: int = 0, shown: Sequence[Ints] = (), *, shares: Sequence[float] = ()
    ) -> bool:
        """Whether a universe, or a set that its regression shows, would tell too much, each by its share of the pairs."""
        own = shares or [1.0] * (1 + len(shown))
        if self.strata is not self.whole and self.strata.too_many(rows, version, draw, own[0]):
            return True
        parts = zip((rows, *shown), own, strict=True)
        return any(self.whole.too_many(part, version, draw, share) for part, share in parts)

    def answer(self, rows: Ints, version: int, draw: int = 0, shown: Sequence[Ints] = ()) -> None:
        """Remember what was answered."""
        self.strata.answer(rows, version, draw)
        for part in (rows, *shown):
            self.whole.answer(part, version, draw)


@dataclass
class MeasuredBy:
    """The measurements of all answers together, and by themselves those of each response.

    Where most have one value of a response, a pair reveals more of it, and only a share of the pairs is allowed. What was
    counted, or summed of another response, reveals nothing of it: the first sum over the same two universes is a new pair.
    """

    make: Callable[[], Measurements]
    units: Units
    _of_name: dict[str, Measurements] = field(default_factory=dict, repr=False)

    def too_many(
        self, rows: Ints, version: int, draw: int, shown: Sequence[Ints], *, shares: Mapping[str, Sequence[float]]
    ) -> bool:
        """Whether a universe, or a set that its regression shows, would tell too much, by any of the shares."""
        every = {EVERY: (), **shares}.items()
        return any(self._of(name).too_many(rows, version, draw, shown, shares=own) for name, own in every)

    def answer(self, rows: Ints, version: int, draw: int, shown: Sequence[Ints], *, names: Collection[str]) -> None:
        """Remember what was answered."""
        for name in (EVERY, *names):
            self._of(name).answer(rows, version, draw, shown)

    def _of(self, name: str) -> Measurements:
        if name not in self._of_name:
            self._of_name[name] = self.make()
        return self._of_name[name]
