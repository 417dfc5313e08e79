# SPDX-License-Identifier: Apache-2.0
"""Whether some combination of answers rests on too few respondents: an exact search with a limit on its steps.

A combination of the new row with released ones is not 0 at some class of every way to change the data that keeps all
released answers but changes the new one (a vector orthogonal to the released rows, not to the new one). So a combination
that rests on few respondents meets every such way at few of them. Ways that share no respondents bound their number from
below; where the bound is too weak, the search branches over the classes of one way. The branch where no way is left is a
combination that rests on the respondents chosen so far. All arithmetic is modulo 2^61 − 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.kernels import echelon
from reticent.kernels.echelon import PRIME, Residues
from reticent.queries.columns import Columns
from reticent.releases.rows import Proposal, Undecided
from reticent.releases.rowspace import RowSpace

MOST_WORK = 3_000_000_000
MOST_STEPS = 4_000
TRIED = 4
People = frozenset[int]


@dataclass(frozen=True)
class Found:
    """A combination of the new row with released ones (rows and factors) that rests on few respondents."""

    respondents: int
    rows: tuple[int, ...]
    factors: tuple[int, ...]


@dataclass
class _Basis:
    """Released rows solved for pivots outside of some classes; rows that vanish outside of them are asleep."""

    pivots: Ints
    inverse: Residues
    asleep: set[int] = field(default_factory=set)

    def copy(self) -> "_Basis":
        return _Basis(self.pivots.copy(), self.inverse.copy(), set(self.asleep))


class FewRespondents:
    """The search for one proposed row."""

    def __init__(self, columns: Columns, minimum: int, space: RowSpace, proposal: Proposal) -> None:
        self.minimum, self.space, self.proposal = minimum, space, proposal
        self.partition = proposal.partition
        self.people = _people_of_classes(columns, proposal, minimum)
        self.crowded = np.array([p is None for p in self.people], dtype=bool)
        self.empty = np.array([p is not None and not p for p in self.people], dtype=bool)
        self._classes_of: dict[int, list[int]] = {}
        for c, people in enumerate(self.people):
            for person in people or ():
                self._classes_of.setdefault(person, []).append(c)
        self._steps = 0
        cost = (space.rank + 1) * (space.rank + self.partition.n_classes)
        self._most = min(MOST_STEPS, MOST_WORK // max(cost, 1))

    def search(self) -> Found | None:
        """A combination that rests on fewer respondents than the minimum; None if there is none."""
        rank = self.space.rank
        start = _Basis(np.array(self.space.pivots, dtype=np.int64), self.space.inverse[:rank, :rank].copy())
        return self._below(frozenset(), start)

    def _below(self, chosen: People, basis: _Basis) -> Found | None:
        """A combination that rests on the chosen respondents and others, all together too few."""
        allowed = self._resting_on(chosen)
        first: list[int] | None = None
        left_out, bound, own = allowed.copy(), len(chosen), basis.copy()
        while bound < self.minimum:
            way = self._way(own, left_out)
            if isinstance(way, Found):
                if first is None:  # nothing is left outside of the chosen respondents
                    return Found(len(chosen), way.rows, way.factors)
                break
            if not way:
                return None  # it runs over crowded classes only: every combination touches one
            if first is None:
                first, here = way, own.copy()
            # a combination meets this way in at least one class, and no earlier way has any of its respondents: add up
            bound += min(len((self.people[c] or frozenset()) - chosen) for c in way)
            left_out |= self._sharing(frozenset().union(*((self.people[c] or frozenset()) for c in way)) - chosen)
        if bound >= self.minimum or first is None:
            return None
        # branch over one way only, as for hitting sets of bounded size (Niedermeier 2006): every combination meets it
        for c in first:
            more = chosen | (self.people[c] or frozenset())
            if len(more) < self.minimum:
                found = self._below(more, here)
                if found is not None:
                    return found
        return None

    def _resting_on(self, chosen: People) -> Mask:
        """The classes all of whose respondents are chosen, and those without any."""
        out = self.empty.copy()
        for c in {c for person in chosen for c in self._classes_of.get(person, ())}:
            out[c] = (self.people[c] or frozenset()) <= chosen
        return out

    def _sharing(self, people: Iterable[int]) -> Mask:
        """The classes that have one of the respondents."""
        out = np.zeros(self.partition.n_classes, dtype=bool)
        out[[c for person in people for c in self._classes_of.get(person, ())]] = True
        return out

    def _way(self, basis: _Basis, left_out: Mask) -> "list[int] | Found":
        """The classes, crowded ones apart, of a way outside of some classes; or what rests on these alone."""
        self._steps += 1
        if self._steps > self._most:
            raise Undecided("The audit cannot decide in time whether a combination rests on too few respondents.")
        self._leave(basis, left_out)
        rank = len(basis.pivots)
        factors = echelon.left_product(self.proposal.values[basis.pivots], basis.inverse, rank)
        differs = self.proposal.values != self.space.combined(factors, self.partition.representative)
        usable = np.flatnonzero(differs & ~left_out)
        if len(usable) == 0:
            used = np.flatnonzero(factors)
            return Found(0, tuple(used.tolist()), tuple((PRIME - int(f)) % PRIME for f in factors[used]))
        usable = usable[np.argsort(~self.crowded[usable], kind="stable")]
        best: list[int] | None = None
        for j in usable[:TRIED].tolist():
            column = self.space.column_at(int(self.partition.representative[j]))
            share = echelon.right_product(basis.inverse, column, rank)
            there = [j, *(int(basis.pivots[k]) for k in np.flatnonzero(share) if k not in basis.asleep)]
            way = [c for c in there if not self.crowded[c]]
            if best is None or len(way) < len(best):
                best = way
        assert best is not None
        return best

    def _leave(self, basis: _Basis, left_out: Mask) -> None:
        """Exchange the pivots in some classes for others; a row that has none elsewhere falls asleep."""
        rank = len(basis.pivots)
        taken = np.zeros(self.partition.n_classes, dtype=bool)
        taken[basis.pivots] = True
        for k in np.flatnonzero(left_out[basis.pivots]).tolist():
            if k in basis.asleep:
                continue
            row = self.space.combined(basis.inverse[k].copy(), self.partition.representative)
            usable = np.flatnonzero((row != 0) & ~left_out & ~taken)
            if len(usable) == 0:
                basis.asleep.add(k)
                continue
            liked = usable[self.crowded[usable]]
            j = int(liked[0] if len(liked) else usable[0])
            column = self.space.column_at(int(self.partition.representative[j]))
            share = echelon.right_product(basis.inverse, column, rank)
            echelon.exchange(basis.inverse, share, k, rank)
            taken[basis.pivots[k]], taken[j] = False, True
            basis.pivots[k] = j


def _people_of_classes(columns: Columns, proposal: Proposal, minimum: int) -> list[People | None]:
    """The respondents of each class; None for a crowded class, which has enough of them."""
    partition = proposal.partition
    classes, people = partition.class_of[columns.column_of], columns.entity
    if not columns.one_each:  # each respondent of a class counts once
        width = int(people.max(initial=0)) + 1
        classes, people = np.divmod(np.unique(classes * width + people), width)
    counts = np.bincount(classes, minlength=partition.n_classes)
    out: list[People | None] = [None if n >= minimum else frozenset() for n in counts.tolist()]
    few = np.flatnonzero(counts[classes] < minimum)
    members: dict[int, list[int]] = {}
    for c, person in zip(classes[few].tolist(), people[few].tolist()):
        members.setdefault(c, []).append(person)
    for c, own in members.items():
        out[c] = frozenset(own)
    return out
