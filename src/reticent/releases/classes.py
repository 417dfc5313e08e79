# SPDX-License-Identifier: Apache-2.0
"""Classes of unknowns: the coarsest partition on which all facts and watches are constant.

What everybody knows of a class total is the sum of the bounds of its unknowns: whole numbers within their bounds have every
whole total between these, so an attacker who reasons with class totals finds what one who reasons with unknowns finds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.base.errors import DataError
from reticent.releases.unknowns import OPEN

MOST_SUM = 2**61
MARKS = (0x51ED, 0xC0DE)
"""Two seeds of marks: unknowns that a set of sums treats alike have equal marks, and hardly any others."""


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

    def refined(self, sums: Sequence[tuple[Ints, Ints]]) -> "Classes":
        """The coarsest refinement on which the weights (0 elsewhere) of all these sums (places, weights) are constant."""
        sums = [one for one in sums if len(one[0])]
        if not sums:
            return self
        places = np.concatenate([own for own, _ in sums])
        weights = np.concatenate([own for _, own in sums])
        line = np.repeat(np.arange(len(sums)), [len(own) for own, _ in sums])
        marks = [_marked(places, weights, line, len(self.of), seed) for seed in MARKS]
        made = self._by_marks(*marks)
        assert made._constant(places, weights, line), "two different columns have the same marks"
        return made

    def parted(self, places: Ints, weights: Ints) -> "Classes":
        """As `refined` by one sum, in time that depends on its places; parents are the classes before."""
        own = self.of[places]
        order = np.lexsort((weights, own))
        own, sorted_weights = own[order], weights[order]
        new_class = np.append(True, own[1:] != own[:-1])[: len(own)]
        new_part = new_class | np.append(True, sorted_weights[1:] != sorted_weights[:-1])[: len(own)]
        starts = np.flatnonzero(new_part)
        sizes, parent = np.diff(np.append(starts, len(own))), own[starts]
        # the part that no weight touches keeps the number of the class; where there is none, the first part does
        covered = np.bincount(own, minlength=self.n)[parent] == np.bincount(self.of, minlength=self.n)[parent]
        names, fresh = parent.copy(), np.flatnonzero(~(covered & new_class[starts]))
        names[fresh] = self.n + np.arange(len(fresh))
        of = self.of.copy()
        of[places[order]] = np.repeat(names, sizes)
        return Classes(of, self.n + len(fresh), np.concatenate((np.arange(self.n), parent[fresh])))

    def _by_marks(self, first: Ints, second: Ints) -> "Classes":
        """Each class parted by the marks of its unknowns."""
        order = np.lexsort((second, first, self.of))
        of, first, second = self.of[order], first[order], second[order]
        new_class = np.append(True, of[1:] != of[:-1])
        new_part = new_class | np.append(True, (first[1:] != first[:-1]) | (second[1:] != second[:-1]))
        starts = np.flatnonzero(new_part)
        parent = of[starts]
        # the part that no weight touches keeps the number of the class; where there is none, the first part does
        untouched = (first[starts] == 0) & (second[starts] == 0)
        has = np.zeros(self.n, dtype=bool)
        has[parent[untouched]] = True
        keeps = untouched | (new_class[starts] & ~has[parent])
        names, fresh = parent.copy(), np.flatnonzero(~keeps)
        if len(fresh) == 0:
            return self
        names[fresh] = self.n + np.arange(len(fresh))
        out = np.empty_like(self.of)
        out[order] = names[np.cumsum(new_part) - 1]
        return Classes(out, self.n + len(fresh), np.concatenate((self.parent, self.parent[parent[fresh]])))

    def _constant(self, places: Ints, weights: Ints, line: Ints) -> bool:
        """Whether each sum gives all unknowns of a class the same weight: marks could be equal by chance."""
        own = self.of[places]
        order = np.lexsort((weights, own, line))
        own, line, weights = own[order], line[order], weights[order]
        new = np.append(True, (own[1:] != own[:-1]) | (line[1:] != line[:-1]))
        starts = np.flatnonzero(new)
        runs = np.diff(np.append(starts, len(own)))
        same = weights == np.repeat(weights[starts], runs)
        size = np.bincount(self.of, minlength=self.n)
        return bool(same.all() and (runs == size[own[starts]]).all())

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
        out[self.of[is_open]] = sentinel
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


def _marked(places: Ints, weights: Ints, line: Ints, n: int, seed: int) -> Ints:
    """A random linear mark of each unknown, from its weights in all sums; overflow is meant."""
    keys = np.random.default_rng(seed).integers(1, 2**62, size=int(line[-1]) + 1, dtype=np.int64)
    out = np.zeros(n, dtype=np.int64)
    with np.errstate(over="ignore"):
        np.add.at(out, places, weights * keys[line])
    return out
