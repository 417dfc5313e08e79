"""How often two answered universes may differ by a few records only, one of them being the same.

What a universe loses is drawn anew for every set of records in a stratum. Two universes that differ in a stratum by a few
records are a measurement of these records, with the noise of two draws; padding both with other records of the stratum
makes the measurement again. Each record may stand in the difference of a few such pairs, and not of more: the attacker's
error after so many is `attacker_error`. Padding with records of other strata draws nothing anew. Universes of all versions
of the data count together: the same records in a new version are no new chance.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.queries.analysis.linked import Units

Bytes = NDArray[np.uint8]


def attacker_error(most: int, pairs: int, share: float = 0.5) -> float:
    """How probably an attacker mistakes a value of 0 or 1 after so many pairs, where `share` of the others have a 1.

    A pair gives the value plus the difference of what two draws lost: q records each, q uniform on {2, …, most}, of which
    a binomial number have a 1. The attacker averages the pairs and decides at ½ (normal approximation).

    >>> round(attacker_error(5, 4), 2), round(attacker_error(5, 110), 4)
    (0.26, 0.0003)
    """
    sizes = np.arange(2, most + 1)
    noise = 2.0 * float(sizes.var() * share**2 + sizes.mean() * share * (1 - share))
    return 0.5 * math.erfc(0.5 / math.sqrt(2.0 * noise / pairs))


@dataclass
class NearPairs:
    """The sets answered in each stratum, and in how many near pairs each respondent was part of the difference.

    Several versions of a data set may have several strata; a difference that is small by any of them counts.
    """

    units: Units
    near: int
    most: int
    _members: list[Ints] = field(default_factory=list, repr=False)
    _seen: list[Bytes] = field(default_factory=list, repr=False)
    _pairs: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)

    def __post_init__(self) -> None:
        for stratum in self.units.strata:
            order = np.argsort(stratum, kind="stable")
            cuts = np.flatnonzero(np.diff(stratum[order])) + 1
            self._members += np.split(order, cuts)
        self._seen = [np.zeros((0, (len(part) + 7) // 8), dtype=np.uint8) for part in self._members]
        self._pairs = np.zeros(int(self.units.respondent.max(initial=-1)) + 1, dtype=np.int64)

    def too_many(self, rows: Ints, version: int) -> bool:
        """Whether a universe of a version would bring a respondent into more near pairs than allowed."""
        return bool((self._pairs[self._differences(rows, version)[0]] >= self.most).any())

    def answer(self, rows: Ints, version: int) -> None:
        """Remember an answered universe."""
        touched, fresh = self._differences(rows, version)
        self._pairs[touched] += 1
        for number, packed in fresh:
            self._seen[number] = np.vstack((self._seen[number], packed))

    def _differences(self, rows: Ints, version: int) -> tuple[Ints, list[tuple[int, Bytes]]]:
        """The respondents by whom a universe differs a little from answered ones, and its sets that are new in a stratum."""
        inside = np.zeros(len(self.units.respondent), dtype=bool)
        inside[self.units.of_rows[version][rows]] = True
        touched: list[Ints] = []
        fresh: list[tuple[int, Bytes]] = []
        for number, (members, seen) in enumerate(zip(self._members, self._seen)):
            packed = np.packbits(inside[members])
            differs = seen ^ packed
            sizes = np.bitwise_count(differs).sum(axis=1) if len(seen) else np.zeros(0, dtype=np.int64)
            if bool((sizes == 0).any()):
                continue
            fresh.append((number, packed))
            close = differs[sizes < self.near]
            if len(close):
                bits = np.unpackbits(np.bitwise_or.reduce(close, axis=0))[: len(members)]
                touched.append(members[bits.astype(bool)])
        units = np.concatenate([*touched, np.zeros(0, dtype=np.int64)]).astype(np.int64)
        return np.unique(self.units.respondent[units]), fresh
