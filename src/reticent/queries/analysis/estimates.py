# SPDX-License-Identifier: Apache-2.0
"""How well all answered universes of a stratum together reveal a respondent's value.

A pair of universes that differ by one respondent measures that one; so do a universe less its parts, and two larger groups that
differ by one, each asked for many times. Whoever uses all answers takes the combination with the least error. Let values
of different respondents be independent with variance 1 and let each universe carry the noise of its dropped records: then the
variance that is left of a respondent's value is 1 − Σ v², where v are the rows of universes (how many records each respondent has
in them), each freed of what the rows before it reveal. It stays at least as large as the allowed number of pairs leaves it.

Respondents whom no universe tells apart are one column, so that the work grows with the combinations of filters.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Floats, Ints

MOST_ENTRIES = 20_000_000
BESIDE = 17 / 16
"""What the allowed pairs reveal, and a little more: every universe reveals a little of those in it."""
SLACK = 1e-9


def pair_precision(most: int) -> float:
    """What a pair of universes reveals of a value with variance 1, as 1 / variance: the mean over what both may have dropped.

    >>> round(pair_precision(5), 3)
    0.151
    """
    sizes = np.arange(2, most + 1)
    return float((1.0 / np.add.outer(sizes, sizes)).mean())


@dataclass(frozen=True)
class Alike:
    """Respondents of a stratum, those with records in the same places together: how many they are, and one of each kind.

    `unit` and `kind` are the records of those that stand for their kind.
    """

    count: Floats = field(repr=False)
    unit: Ints = field(repr=False)
    kind: Ints = field(repr=False)

    @classmethod
    def of(cls, owner: Ints, place: Ints) -> "Alike":
        """The kinds, by the respondent of each record and the place where conditions put it."""
        words = np.random.default_rng(0).integers(0, 2**63, int(place.max(initial=0)) + 1, dtype=np.uint64)
        _, person = np.unique(owner, return_inverse=True)
        person = person.reshape(-1)
        sums = np.zeros(int(person.max(initial=-1)) + 1, dtype=np.uint64)
        np.add.at(sums, person, words[place])
        _, first, kind, count = np.unique(sums, return_index=True, return_inverse=True, return_counts=True)
        chosen = np.zeros(len(sums), dtype=bool)
        chosen[first] = True
        units = np.flatnonzero(chosen[person])
        return cls(count.astype(np.float64), units, kind.reshape(-1)[person[units]].astype(np.int64))

    def row(self, inside: Floats) -> Floats:
        """How many records a respondent of each kind has in a set."""
        return np.bincount(self.kind, weights=inside[self.unit], minlength=len(self.count)).astype(np.float64)


@dataclass
class Estimates:
    """What the answered sets of one stratum reveal of each kind of respondent."""

    alike: Alike
    precision: float
    _basis: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    _told: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    _rows: int = 0

    def __post_init__(self) -> None:
        self._told = np.zeros(len(self.alike.count))
        self._basis = np.zeros((0, len(self._told)))

    def too_near(self, inside: Floats, pairs: float) -> bool:
        """Whether with one set more somebody's value would be known better than by this many pairs."""
        found = self._direction(inside)
        if found is None:
            return False
        more = found * found
        known = BESIDE * pairs * self.precision
        return bool((self._told + more)[more > SLACK].max(initial=0.0) > known / (1 + known) + SLACK)

    def add(self, inside: Floats) -> None:
        """Remember a set that was answered."""
        found = self._direction(inside)
        if found is None:
            return
        if self._rows == len(self._basis):
            larger = np.zeros((max(16, 2 * self._rows), len(found)))
            larger[: self._rows] = self._basis[: self._rows]
            self._basis = larger
        self._basis[self._rows] = found
        self._rows += 1
        self._told += found * found

    def _direction(self, inside: Floats) -> Floats | None:
        """The row of a set, freed of what earlier ones reveal and scaled by its spread; None for nobody, and beyond the limit."""
        if not inside.any() or (self._rows + 1) * len(self.alike.count) > MOST_ENTRIES:
            return None
        row = self.alike.row(inside)
        weighted = row * self.alike.count
        basis = self._basis[: self._rows]
        known = basis @ weighted
        left = max(float(row @ weighted) - float(known @ known), 0.0) + 1 / (2 * self.precision)
        return np.asarray((row - known @ basis) / math.sqrt(left), dtype=np.float64)
