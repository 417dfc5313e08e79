# SPDX-License-Identifier: Apache-2.0
"""What whole values spell out: rows that together reveal more of some values than they may, whatever linear algebra says.

Values are whole multiples of a unit within a range, so finitely many databases fit the answers, and an integer program or a
reduced lattice basis finds them. What counts is how many are left, in bits, and that depends on rows and ranges only: the same
count serves the mode whose refusals may not depend on values. Of classes with enough respondents the total may be known; of
every set of smaller classes at most half of the bits may be revealed (`bits`).

Weights count for what is left of them once whole multiples of other rows are taken off. A row that then still has weights of
many digits is measured coarsely, because values outside of a set hide it there. Its finer digits mix all
values under it: they are counted against all of these together, and where most weights leave the same remainder by some
number, against those that do not.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.queries.audit.bits import (
    SHARE,
    Measured,
    by_lattice,
    in_doubt,
    rests_on_few,
    told_of,
    total_bits,
    worst_group,
)
from reticent.queries.audit.ranges import People, Range
from reticent.queries.audit.weights import differences, has_weights, row_of
from reticent.queries.refusals import StaffReason
from reticent.releases.rows import LinearRow, Proposal
from reticent.releases.rowspace import RowSpace

PLAIN, SQUARES = 0, 1
WIDEST, NARROW, HARDLY = 400, 48, 0.05
LEAST_ROWS, LATTICE_ROWS, LATTICE_CLASSES = 2, 60, 400
MOST_FINE, MOST_TOGETHER = 64, 1_500
MOST_UNLOCKED = 8
LATTICE_WEIGHTS = 1_000
PRIMES = (2, 3, 5)
REMAINDERS = 256
# beyond this many entries of all rows, only what lies within this many columns is looked at
MOST_ENTRIES = 8_000_000
NEARBY, NEAR_ROWS, DIFFERENCES = 2_000, 200, 40
TINY = 1e-12
SPELLED = "digits: whole values would be spelled out"


@dataclass
class _Kind:
    """The rows of one kind, sums of values or of their squares, and how many of its row space are taken in."""

    measured: Measured
    space: RowSpace | None = None
    seen: int = 0


@dataclass(frozen=True)
class _Weighted:
    """A row with weights: its kind, its number there, its place in the order, its weights as small as other rows make them.

    `bits` are those of digits that are finer than what is measured.
    """

    kind: int
    number: int
    place: int
    row: Ints
    bits: float

    @property
    def inside(self) -> Mask:
        """Where the row is not 0."""
        return np.asarray(self.row != 0, dtype=bool)


@dataclass
class Digits:
    """All rows of one response, and of its squares, and whether one more tells too much of whole values."""

    name: str
    people: People
    range: Range
    minimum: int
    _kinds: tuple[_Kind, ...] = field(init=False)
    _taken: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    _weighted: list[_Weighted] = field(default_factory=list)
    _in_order: bool = True
    _known: dict[tuple[int, int], Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._kinds = tuple(map(_Kind, self._nothing()))

    def _nothing(self) -> tuple[Measured, ...]:
        """Nothing measured yet, of values and of their squares."""
        units = self.people.counts.astype(np.float64)
        return tuple(Measured(units, spread) for spread in (self.range.spread, self.range.squares))

    def follow(self, kind: int, space: RowSpace) -> None:
        """Take rows from the row space of the values, or of their squares."""
        self._kinds[kind].space = space

    def back_to(self, kind: int, rank: int) -> None:
        """Forget the rows of a kind that were released after its rank was this, and all that came later."""
        self._known = {at: row for at, row in self._known.items() if at[0] != kind or at[1] < rank}
        first = next((i for i, (own, number, _) in enumerate(self._taken) if own == kind and number >= rank), None)
        if first is None:
            self._kinds[kind].seen = min(self._kinds[kind].seen, rank)
            return
        if not self._in_order:  # everything is measured again
            for own, fresh in zip(self._kinds, self._nothing()):
                own.measured, own.seen = fresh, 0
            self._taken, self._weighted, self._in_order = [], [], True
            return
        lengths = self._taken[first][2]
        for place, own in enumerate(self._kinds):
            own.measured.back_to(lengths[place])
            own.seen = min([own.seen, *(number for k, number, _ in self._taken[first:] if k == place)])
        del self._taken[first:]
        self._weighted = [own for own in self._weighted if own.place < first]

    def check(self, kind: int, proposal: Proposal) -> StaffReason | None:
        """Why a proposed row must not be released, or None."""
        if self.minimum <= 1:
            return None
        rank = 1 + sum(own.space.rank for own in self._kinds if own.space is not None)
        if rank * len(self.people.counts) > MOST_ENTRIES:
            spelled = any(near.spells(kind, row) for near, row in self._nearby(kind, self._coefficients(proposal.row)))
        else:
            spelled = self._spells(kind, proposal)
        return StaffReason(SPELLED, f"{self.name}: too few bits would be left of some values") if spelled else None

    def spells(self, kind: int, row: Ints) -> bool:
        """Whether a row would spell out values."""
        space = self._kinds[kind].space
        assert space is not None
        found = space.propose(row_of(row))
        return isinstance(found, Proposal) and self._spells(kind, found)

    def _spells(self, kind: int, proposal: Proposal) -> bool:
        self._catch_up()
        at, row = self._measured_as(kind), self._coefficients(proposal.row)
        unlocked = self._unlocked(at, row)
        if unlocked:
            return any(self._in_other_order(kind, row, last) for last in unlocked[:MOST_UNLOCKED])
        measured = self._kinds[at].measured
        row = measured.lighter(row) if has_weights(row) else row
        new = measured.next(row)
        scene = None if new is None else self._scene(kind, (at, new, measured.fineness(row)), proposal)
        if scene is None or not scene.small.any():
            return False
        return (
            scene.spelled()
            or (at == PLAIN and self._lattice(proposal, row))
            or self._together(scene, at, row)
            or self._alike(scene, at, row)
        )

    def _unlocked(self, at: int, row: Ints) -> list[_Weighted]:
        """The rows with weights, measured before this one, that it makes lighter."""
        measured = self._kinds[at].measured
        if has_weights(row):
            return []
        return [w for w in self._weighted if self._measured_as(w.kind) == at and measured.shrinks(w.row, row)]

    def _in_other_order(self, kind: int, row: Ints, last: _Weighted) -> bool:
        """Whether the same rows spell out values, those without weights first and one with weights last."""
        others = [own for own in self._weighted if own is not last]
        kept = [(k, self._row(k, i)) for k, i in self._without_weights()]
        kept += [(kind, row), *((own.kind, self._row(own.kind, own.number)) for own in others)]
        again = self._over(kept, np.arange(len(row)))
        return again.spells(last.kind, self._row(last.kind, last.number))

    def _without_weights(self) -> list[tuple[int, int]]:
        """The kinds and numbers of the rows that have no weights."""
        heavy = {(own.kind, own.number) for own in self._weighted}
        numbered = [(k, i) for k, own in enumerate(self._kinds) for i in range(own.seen)]
        return [place for place in numbered if place not in heavy]

    def _row(self, kind: int, number: int) -> Ints:
        """A released row, as small numbers where that is enough: they are looked at again and again."""
        if (kind, number) not in self._known:
            space = self._kinds[kind].space
            assert space is not None
            row = self._coefficients(space.row(number))
            self._known[kind, number] = row.astype(np.min_scalar_type(-int(np.abs(row).max(initial=1))))
        return self._known[kind, number].astype(np.int64)

    def _nearby(self, kind: int, row: Ints) -> Iterator[tuple["Digits", Ints]]:
        """In databases too large to keep all rows: the row, and its differences to the nearest ones, with rows around them."""
        space = self._kinds[kind].space
        assert space is not None
        touched = np.asarray(row != 0, dtype=bool)
        if int(touched.sum()) <= NEARBY:
            yield self._around(kind, [row])
        apart, inside = [], np.zeros(len(row), dtype=bool)
        near = [self._row(kind, number) for number in space.near(touched, NEARBY)[:DIFFERENCES]]
        for own in differences(row, near):
            if own.any() and int((inside | (own != 0)).sum()) <= NEARBY:
                apart.append(own)
                inside |= own != 0
        if apart and int(inside.sum()) < int(touched.sum()):
            yield self._around(kind, apart)

    def _around(self, kind: int, rows: list[Ints]) -> tuple["Digits", Ints]:
        """Some rows with released ones that hang together with them, over their columns; the first is the one to judge."""
        kept = [(kind, own) for own in rows[1:]]
        inside = np.asarray(np.any(rows, axis=0), dtype=bool)
        for which, own in enumerate(self._kinds):
            numbers = [] if own.space is None else own.space.around(inside, np.ones_like(inside), (NEAR_ROWS, NEARBY))
            assert own.space is not None or not numbers
            kept += [(which, self._coefficients(own.space.row(number))) for number in numbers if own.space is not None]
        places = np.flatnonzero(np.any([rows[0], *(own for _, own in kept)], axis=0))
        return self._over(kept, places), rows[0][places]

    def _over(self, kept: list[tuple[int, Ints]], places: Ints) -> "Digits":
        """Some rows, each with its kind, over some columns."""
        found = Digits(self.name, self.people.at(places), self.range, self.minimum)
        for which in range(len(self._kinds)):
            space = RowSpace(len(places), rng=np.random.default_rng(0))  # only for screens, which miss nothing
            for new in (space.propose(row_of(own[places])) for own_kind, own in kept if own_kind == which):
                if isinstance(new, Proposal):
                    space.accept(new)
            found.follow(which, space)
        return found

    def _measured_as(self, kind: int) -> int:
        """Squares of values that are 0 or 1 are these values."""
        return kind if self.range.squares > 0 else PLAIN

    def _coefficients(self, row: LinearRow) -> Ints:
        return row.everywhere(len(self.people.counts))

    def _catch_up(self) -> None:
        """Take in what was released since the last look."""
        for kind, own in enumerate(self._kinds):
            while own.space is not None and own.seen < own.space.rank:
                row = self._row(kind, own.seen)
                unlocks = bool(self._unlocked(self._measured_as(kind), row))
                self._take(kind, own.seen, row)
                own.seen += 1
                if unlocks:
                    self._measure_again()

    def _take(self, kind: int, number: int, row: Ints) -> None:
        """Measure a row; what has weights as light as the rows before make it."""
        measured, place = self._kinds[self._measured_as(kind)].measured, len(self._taken)
        self._taken.append((kind, number, tuple(own.measured.length for own in self._kinds)))
        if has_weights(row):
            row = measured.lighter(row)
            self._weighted.append(_Weighted(kind, number, place, row, measured.excess(row)))
        measured.add(row)

    def _measure_again(self) -> None:
        """Measure all rows again, those with weights last: other rows have made them lighter."""
        order = [*self._without_weights(), *((own.kind, own.number) for own in self._weighted)]
        for own, fresh in zip(self._kinds, self._nothing()):
            own.measured = fresh
        self._taken, self._weighted, self._in_order = [], [], False
        for kind, number in order:
            self._take(kind, number, self._row(kind, number))

    def _scene(self, kind: int, new: tuple[int, Floats, float], proposal: Proposal) -> "_Scene":
        """The classes as they would be, their unknowns, and all that is measured of them."""
        class_of, places = proposal.partition.class_of, proposal.partition.representative
        others = [own.space for own in self._kinds if own.space is not None and own.space.rank]
        others = [space for space in others if space is not self._kinds[kind].space]
        for space in others:  # rows of the other kind may split these classes
            pairs = class_of * space.partition.n_classes + space.partition.class_of
            _, places, class_of = np.unique(pairs, return_index=True, return_inverse=True)
            class_of = class_of.reshape(-1)
        units = np.bincount(class_of, weights=self.people.counts, minlength=len(places)).astype(np.float64)
        scale = np.sqrt(units / self.people.counts[places])
        rows = [own.measured.rows[: own.measured.length] for own in self._kinds]
        known = [own.measured.known[places] for own in self._kinds]
        known[new[0]] = known[new[0]] + new[1][places] ** 2
        small = self.people.respondents(class_of, len(places)) < self.minimum
        small &= (sum(known) > TINY) & self.people.hidden[places]
        finest = max(new[2], *(own.measured.finest for own in self._kinds))
        known_of = tuple(own * scale**2 for own in known)
        return _Scene(places, units, scale, small, tuple(rows), known_of, new[:2], finest, self.range)

    def _lattice(self, proposal: Proposal, row: Ints) -> bool:
        """Whether sums whose other parts are multiples of something tell too much, of those that hang together with the row."""
        class_of, places = proposal.partition.class_of, proposal.partition.representative
        at_places = np.zeros(len(class_of), dtype=bool)
        at_places[places] = True
        kinds = [(k, own.space) for k, own in enumerate(self._kinds) if k == PLAIN or not self.range.squares]
        spaces = [(kind, space) for kind, space in kinds if space is not None]
        rows, lighter = [row[places]], {(own.kind, own.number): own.row for own in self._weighted}
        for kind, space in spaces:
            numbers = space.around(np.asarray(row != 0, dtype=bool), at_places, (LATTICE_ROWS, LATTICE_CLASSES))
            found = [lighter.get((kind, number)) for number in numbers]
            rows += [self._row(kind, n)[places] if own is None else own[places] for n, own in zip(numbers, found)]
        table = np.array([own for own in rows if int(np.abs(own).max(initial=0)) <= LATTICE_WEIGHTS])
        if len(table) < LEAST_ROWS:
            return False
        touched = table.any(axis=0)
        # what these rows treat alike is one class; equal random sums stand for equal columns
        mixed = np.random.default_rng(0).integers(1, 2**62, len(table)) @ table[:, touched]
        _, first, alike = np.unique(mixed, return_index=True, return_inverse=True)
        apart = table[:, touched][:, first]
        number = np.full(len(places), apart.shape[1])
        number[touched] = alike.reshape(-1)
        own = number[class_of]
        respondents = self.people.respondents(own, apart.shape[1] + 1)[:-1]
        small = respondents < self.minimum
        if not small.any():
            return False
        if any(
            math.log2(prime) > SHARE * self.range.bits and rests_on_few(apart, respondents, self.minimum, prime)
            for prime in PRIMES
        ):
            return True
        units = np.bincount(own, weights=self.people.counts, minlength=apart.shape[1] + 1)[:-1].astype(np.float64)
        told = by_lattice(apart.astype(np.float64), units, small, (self.range.bits, self.range.spread))
        return told > SHARE * self.range.bits * float(units[small].sum()) > 0

    def _together(self, scene: "_Scene", at: int, row: Ints) -> bool:
        """Whether the fine digits of rows, with all else, tell too much of all values under them together.

        From the values under the new row on, the rows whose digits need the fewest further values come first.
        """
        inside = np.asarray(row != 0, dtype=bool)[scene.places]
        bits = self._kinds[at].measured.excess(row)
        fine = [own for own in self._weighted if own.bits > 0]
        left = [(own.inside[scene.places], own.bits) for own in fine[-MOST_FINE:]]
        if bits == 0 and not any(bool((own & inside).any()) for own, _ in left):
            return False
        while True:
            if bits and not scene.enough_left(inside, bits):
                return True
            near = [(float(scene.unknown(own & ~inside).sum()) - more, i) for i, (own, more) in enumerate(left)]
            if not near:
                return False
            own, more = left.pop(min(near)[1])
            inside, bits = inside | own, bits + more

    def _alike(self, scene: "_Scene", at: int, row: Ints) -> bool:
        """Whether weights that leave the same remainder but for few values tell about these by the remainder of the sum."""
        weights = row[scene.places]
        if self._kinds[at].measured.excess(row) == 0:
            return False
        return any(not scene.enough_left(others, math.log2(divisor)) for divisor, others in odd_ones(weights))


@dataclass(frozen=True)
class _Scene:
    """Classes of columns with their units, those that are small, and what is measured of them with the new row."""

    places: Ints
    units: Floats
    scale: Floats
    small: Mask
    rows: tuple[Floats, ...]
    known: tuple[Floats, ...]
    new: tuple[int, Floats]
    finest: float
    range: Range

    def unknown(self, chosen: Mask) -> Floats:
        """The bits of all values of the chosen classes; where the total may be known, the bits of the total."""
        units = self.units[chosen]
        totals = total_bits(units, self.range.bits, self.range.spread)
        return np.where(self.small[chosen], units * self.range.bits, totals)

    def told(self, chosen: Mask) -> float:
        """How many bits the rows reveal of the chosen classes; of very many, an upper bound."""
        own = np.flatnonzero(chosen)
        parts = self._parts(own)
        if min(len(own), max(map(len, parts))) > MOST_TOGETHER:
            return self._most(own) * float(sum(known[own].sum() for known in self.known))
        return told_of([part @ part.T if len(part) < len(own) else part.T @ part for part in parts])

    def enough_left(self, chosen: Mask, more: float) -> bool:
        """Whether half of the bits of the small classes among the chosen ones would be left if this many more were revealed."""
        small = chosen & self.small
        if not small.any():
            return True
        left = float(self.unknown(chosen).sum()) - self.told(chosen) - more
        return left >= (1 - SHARE) * float(self.unknown(small).sum())

    def spelled(self) -> bool:
        """Whether the rows reveal too much of some set of small classes."""
        own = np.flatnonzero(self.small)
        unknown = self.unknown(self.small)
        if bool((sum(known[own] for known in self.known) * self._most(own) <= SHARE * unknown).all()):
            return False
        if len(own) > NARROW:  # sets that the new row hardly tells of were looked at before
            moved = (self.new[1][self.places[own]] * self.scale[own]) ** 2
            order = np.argsort(-moved, kind="stable")
            kept = order[: max(int((moved >= HARDLY * moved.max()).sum()), NARROW)]
            if len(kept) > WIDEST:
                broad = np.zeros(len(self.small), dtype=bool)
                broad[own[kept]] = True
                if self.told(broad) > SHARE * float(unknown[kept].sum()):
                    return True
            kept = np.sort(kept[:WIDEST])
            own, unknown = own[kept], unknown[kept]
        if bool((sum(known[own] for known in self.known) * self._most(own) <= SHARE * unknown).all()):
            return False
        shares = [part.T @ part for part in self._parts(own)]
        left = in_doubt(shares, unknown)
        if len(left) == 0:
            return False
        return worst_group([share[np.ix_(left, left)] for share in shares], unknown[left]).beyond > 0

    def _most(self, own: Ints) -> float:
        """Σ of the classes' shares of the projection times this is at least what rows reveal of any set of them.

        −½·log2(1 − λ) is convex in λ, so it lies below the line to the largest λ, that of a sum over all of them.
        """
        ratio = 1 + float(self.units[own].sum()) * self.finest
        return 0.5 * math.log2(ratio) / (1 - 1 / ratio)

    def _parts(self, own: Ints) -> list[Floats]:
        """What is measured of some classes, row by row, for each kind of rows."""
        places, scale = self.places[own], self.scale[own]
        parts = [rows[:, places] * scale for rows in self.rows]
        parts[self.new[0]] = np.vstack((parts[self.new[0]], self.new[1][places] * scale))
        return parts


def odd_ones(weights: Ints) -> Iterator[tuple[int, Mask]]:
    """Numbers by which most weights leave the same remainder, each with the classes that leave another one.

    If most do, differences of weights drawn at random have the number as a common divisor often enough to be found.
    """
    there = np.flatnonzero(weights)
    if len(there) < 4:
        return
    draw = np.random.default_rng(len(there)).integers(0, len(there), size=(REMAINDERS, 4))  # only a search order
    chosen = weights[there[draw]]
    common = np.gcd(chosen[:, 0] - chosen[:, 1], chosen[:, 2] - chosen[:, 3])
    seen: set[tuple[int, int]] = set()
    for divisor, first in zip(common.tolist(), chosen[:, 0].tolist()):
        if divisor > 1 and (divisor, first % divisor) not in seen:
            seen.add((divisor, first % divisor))
            others = (weights != 0) & (weights % divisor != first % divisor)
            if 0 < int(others.sum()) < len(there) // 2:
                yield divisor, np.asarray(others, dtype=bool)
