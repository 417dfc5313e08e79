# SPDX-License-Identifier: Apache-2.0
"""What the auditor speaks of: released rows, classes of columns, proposals, and certificates of what they imply."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints, Mask
from reticent.base.errors import SolverError
from reticent.kernels import echelon
from reticent.kernels.echelon import PRIME, Residues
from reticent.releases.rational import reconstruct


@dataclass(frozen=True)
class LinearRow:
    """A released statistic: the sum over its terms of coefficient × (sum of the columns in the mask)."""

    terms: tuple[tuple[int, Mask], ...]

    @classmethod
    def of(cls, mask: Mask) -> "LinearRow":
        """A plain sum over some columns."""
        return cls(((1, mask),))

    def coefficients(self, columns: Ints) -> Ints:
        """The coefficients at some columns."""
        out = np.zeros(len(columns), dtype=np.int64)
        for coefficient, mask in self.terms:
            out[mask[columns]] += coefficient
        return out

    def everywhere(self, n_columns: int) -> Ints:
        """The coefficients at all columns."""
        out = np.zeros(n_columns, dtype=np.int64)
        for coefficient, mask in self.terms:
            out[mask] += coefficient
        return out


class Undecided(SolverError):
    """A membership that can be neither proved nor excluded in reasonable time; the caller must refuse."""


@dataclass(frozen=True)
class Partition:
    """Columns grouped into classes: class of each column, one column of each class, class sizes."""

    class_of: NDArray[np.int64]
    representative: Ints
    size: Ints

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.size)

    def split(self, mask: Mask) -> tuple["Partition", Ints]:
        """The partition refined by a mask, and the parent of each new class (the part without representative is new)."""
        n = self.n_classes
        inside = np.bincount(self.class_of[mask], minlength=n)
        cut = (inside > 0) & (inside < self.size)
        parents = np.flatnonzero(cut)
        if len(parents) == 0:
            return self, parents
        number = np.full(n, -1, dtype=np.int64)
        number[parents] = n + np.arange(len(parents))
        moved = cut[self.class_of] & (mask != mask[self.representative][self.class_of])
        class_of = np.where(moved, number[self.class_of], self.class_of)
        places = np.flatnonzero(moved)[::-1]
        fresh = np.empty(len(parents), dtype=np.int64)
        fresh[class_of[places] - n] = places
        size = np.bincount(class_of, minlength=n + len(parents)).astype(np.int64)
        return Partition(class_of, np.concatenate((self.representative, fresh)), size), parents


@dataclass(frozen=True)
class Certificate:
    """target = Σ factor · released row (row −1 is the proposed one), proved in integers."""

    combination: tuple[tuple[int, Fraction], ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """The released rows used."""
        return tuple(row for row, _ in self.combination if row >= 0)


@dataclass(frozen=True)
class Proposal:
    """A row that is not implied, as if it were released: the finer classes and vectors orthogonal to everything."""

    row: LinearRow
    partition: Partition
    new_classes: Ints
    parents: Ints
    values: Residues
    null: Residues
    removed: Residues
    scale: int

    def unit_candidates(self) -> Ints:
        """Classes whose total may be implied (a superset of those that are)."""
        return np.flatnonzero((self.null == 0).all(axis=0))

    def pair_candidates(self) -> list[tuple[int, int]]:
        """Pairs of classes whose joint total may be implied while neither is alone."""
        first = self.null[0]
        usable = np.flatnonzero(first)
        either = np.minimum(first[usable], np.uint64(PRIME) - first[usable])  # the same for opposite ones
        order = np.argsort(either, kind="stable")
        again = np.unique(either[order][1:][np.diff(either[order]) == 0])
        places = np.searchsorted(either[order], again), np.searchsorted(either[order], again, side="right")
        pairs: list[tuple[int, int]] = []
        for start, end in zip(*(own.tolist() for own in places)):
            alike = usable[order[start:end]]
            low = first[alike] == either[order[start]]
            pairs += [(min(i, j), max(i, j)) for i in alike[low].tolist() for j in alike[~low].tolist()]
        return sorted((i, j) for i, j in pairs if all((int(h[i]) + int(h[j])) % PRIME == 0 for h in self.null))

    def triple_candidates(self) -> list[tuple[int, int, int]]:
        """Three classes whose joint total may be implied while neither one nor two of them are; cost grows with their square."""
        prime = np.uint64(PRIME)
        usable = np.flatnonzero(self.null[0])
        usable = usable[np.argsort(self.null[0][usable], kind="stable")]
        values = self.null[0][usable]
        found: list[tuple[int, int, int]] = []
        for i in range(len(usable)):
            both = (values[i] + values[i + 1 :]) % prime
            third = prime - both
            start, end = (np.searchsorted(values, third, side=side) for side in ("left", "right"))
            for near in np.flatnonzero((start < end) & (both != 0)).tolist():
                j = i + 1 + near
                found += [(i, j, k) for k in range(max(int(start[near]), j + 1), int(end[near]))]
        named = (sorted(int(usable[at]) for at in chosen) for chosen in found)
        return sorted(
            (i, j, k) for i, j, k in named if all((int(h[i]) + int(h[j]) + int(h[k])) % PRIME == 0 for h in self.null)
        )

    def proportional(self, chosen: Ints) -> list[Ints]:
        """Groups of the chosen classes of which any two may have an implied combination: one total tells the others."""
        first, second = self.null[0], self.null[1]
        usable = chosen[(first[chosen] != 0) & (second[chosen] != 0)]
        if len(usable) < 2:
            return []
        ratio = echelon.ratios(first[usable], second[usable])
        order = np.argsort(ratio, kind="stable")
        cuts = np.flatnonzero(np.diff(ratio[order])) + 1
        return [usable[group] for group in np.split(order, cuts) if len(group) > 1]

    def weights(self, i: int, j: int) -> Ints:
        """The combination of two proportional classes that may be implied."""
        factor = -int(self.null[0][j]) * pow(int(self.null[0][i]), PRIME - 2, PRIME) % PRIME
        share = reconstruct(factor, PRIME)
        if share is None:
            raise Undecided("The audit cannot prove whether a combination of two classes is implied.")
        out = np.zeros(self.partition.n_classes, dtype=np.int64)
        out[i], out[j] = share.numerator, share.denominator
        return out
