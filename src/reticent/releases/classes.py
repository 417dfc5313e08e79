"""Classes of unknowns: the coarsest partition on which all facts and watches are constant.

What everybody knows of a class total is the sum of the bounds of its unknowns: whole numbers within their bounds have every
whole total between these, so an attacker who reasons with class totals finds what one who reasons with unknowns finds.
"""

from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.base.errors import DataError
from reticent.releases.unknowns import OPEN

MOST_SUM = 2**61


@dataclass(frozen=True, eq=False)
class Classes:
    """The class of each unknown; `parent` names the class that each came from in the partition before."""

    of: Ints
    n: int
    parent: Ints

    @classmethod
    def single(cls, groups: Ints) -> "Classes":
        """One class per group of unknowns that facts cannot mix."""
        n = int(groups.max()) + 1 if len(groups) else 0
        return cls(groups.astype(np.int64), n, np.arange(n))

    def split(self, places: Ints, weights: Ints) -> "Classes":
        """The coarsest refinement on which these weights (0 elsewhere) are constant."""
        if len(places) == 0:
            return self
        own = self.of[places]
        pairs, number = np.unique(np.column_stack((own, weights)), axis=0, return_inverse=True)
        size = np.bincount(self.of, minlength=self.n)
        rest = size - np.bincount(own, minlength=self.n)
        first = np.ones(len(pairs), dtype=bool)
        first[1:] = pairs[1:, 0] != pairs[:-1, 0]
        # the part that no weight touches keeps the number of the class; where there is none, the first part does
        keeps = first & (rest[pairs[:, 0]] == 0)
        names = pairs[:, 0].copy()
        fresh = np.flatnonzero(~keeps)
        names[fresh] = self.n + np.arange(len(fresh))
        if len(fresh) == 0:
            return self
        of = self.of.copy()
        of[places] = names[number.reshape(-1)]
        return Classes(of, self.n + len(fresh), np.concatenate((self.parent, self.parent[pairs[fresh, 0]])))

    def grown(self, n_more: int) -> "Classes":
        """With further unknowns, each a class of its own (and nobody's child)."""
        of = np.concatenate((self.of, self.n + np.arange(n_more)))
        return Classes(of, self.n + n_more, np.concatenate((self.parent, np.full(n_more, -1, dtype=np.int64))))

    def rebased(self) -> "Classes":
        """The same partition as a start for further refinement."""
        return Classes(self.of, self.n, np.arange(self.n))

    def totals(self, values: Ints) -> Ints:
        """The class totals of values of the unknowns."""
        if float(np.abs(values.astype(np.float64)).sum()) >= MOST_SUM:
            raise DataError("releases: sums of values leave 61 bits; declare fewer decimals.")
        out = np.zeros(self.n, dtype=np.int64)
        np.add.at(out, self.of, values)
        return out

    def bounds(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """Σ low and Σ high per class; open where one of them is."""
        return self._ends(low, low <= -OPEN, -OPEN), self._ends(high, high >= OPEN, OPEN)

    def _ends(self, ends: Ints, is_open: Mask, sentinel: int) -> Ints:
        out = self.totals(np.where(is_open, 0, ends))
        out[np.unique(self.of[is_open])] = sentinel
        return out

    def spread(self, totals: Ints, low: Ints, high: Ints, near: Ints) -> Ints:
        """Values of the unknowns, within their bounds and as they were where possible, that have these class totals."""
        values = near.copy()
        missing = totals - self.totals(values)
        order = np.argsort(self.of, kind="stable")
        starts = np.searchsorted(self.of[order], np.arange(self.n + 1))
        for c in np.flatnonzero(missing).tolist():
            places, left = order[starts[c] : starts[c + 1]], int(missing[c])
            ends = high if left > 0 else low
            for place in places.tolist():
                room = int(ends[place]) - int(values[place])
                step = min(left, room) if left > 0 else max(left, room)
                values[place] += step
                left -= step
                if left == 0:
                    break
        return values
