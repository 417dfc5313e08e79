# SPDX-License-Identifier: Apache-2.0
"""Movements dealt out: what is known to move in the coarse classes of one release, in fine classes that keep everything else.

A table alone tells quickly how its hidden cells can move. Which records of a cell do so is open, and most other releases do
not see it if the records that move are alike in everything else. So for each coarse class that moves a fine one is chosen, as
near as possible to the others by its codes. Random marks of classes, linear in the rows, say at once which choices
keep all rows; whatever is proposed is checked in whole numbers before it counts. No program is solved.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from reticent.base.arrays import Ints, Mask
from reticent.releases.pool import Movement
from reticent.releases.stack import exact_product
from reticent.releases.system import System
from reticent.releases.unknowns import OPEN

MOST_ITEMS = 40
"""Movements of more coarse classes are left to the programs."""
MOST_ANCHORS = 48
MOST_CHOICES = 1_500
MOST_ABLE = 1_500
MOST_MENDED = 6
"""This many choices of the nearest classes are mended by changing two of them."""
MOST_LEFT = 8
MOST_SUMS = 200_000
"""Up to this many sums of the choices for half of what is left are matched with those of the other half."""
MOST_PLACES = 2**21
"""As many places as a table of bits has, which says at once that most of them do not match."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Item:
    """So much is to move in one of some fine classes."""

    amount: int
    choices: Ints


@dataclass(eq=False)
class Dealer:
    """Deals movements over the classes of a system with a center that satisfies everything."""

    system: System
    low: Ints
    high: Ints
    _new: dict[Any, Any] = field(default_factory=dict)
    _others: dict[int, Ints] = field(default_factory=dict)
    _able_ones: dict[tuple[int, int, int], Ints] = field(default_factory=dict)
    _barred: Ints | None = None
    _barred_mask: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @cached_property
    def center(self) -> Ints:
        """Class totals of the center."""
        return self.system.class_center()

    @cached_property
    def _by_class(self) -> sparse.csc_array:
        return self.system.stack.told_by_class

    @cached_property
    def _sums(self) -> Ints:
        return exact_product(self.system.rows, self.center)

    @cached_property
    def _keys(self) -> Ints:
        """A random number per row that leaves no room on a side, 0 for the others."""
        system = self.system
        tight = (self._sums == system.row_low) | (self._sums == system.row_high)
        keys = np.random.default_rng(len(tight)).integers(1, 2**62, size=len(tight), dtype=np.int64)
        return np.where(tight, keys, 0)

    @cached_property
    def _marks(self) -> Ints:
        """A mark per class, linear in the rows that leave no room on a side; overflow is meant."""
        with np.errstate(over="ignore"):
            return np.asarray(self._keys @ self.system.rows, dtype=np.int64)

    def _other_marks(self, release: int) -> Ints:
        """A mark per class from the rows of all releases but one."""
        if release not in self._others:
            keys = np.where(self.system.row_release == release, 0, self._keys)
            with np.errstate(over="ignore"):
                self._others[release] = np.asarray(keys @ self.system.rows, dtype=np.int64)
        return self._others[release]

    @cached_property
    def _frozen(self) -> Mask:
        """Classes that cannot move up: a row of theirs is as small as it can be."""
        system = self.system
        least = system.rows.min(axis=1).toarray().reshape(-1) if system.rows.shape[0] else np.zeros(0)
        floor = system.rows @ np.maximum(self.low, -(2**40))
        full = np.flatnonzero((least >= 0) & (floor == system.row_high))
        out = np.zeros(system.classes.n, dtype=bool)
        out[system.rows[full].indices] = True
        return out

    @cached_property
    def _left(self) -> tuple[Ints, Ints]:
        """How far each class can go down and up by itself before a row breaks that leaves some room on both sides now.

        Where relations say that values need somebody who has them, the last one of a class cannot leave it alone.
        """
        system, loose = self.system, np.flatnonzero(self._keys == 0)
        own, line = system.rows[loose], np.repeat(np.arange(len(loose)), np.diff(system.rows.indptr)[loose])
        low, high, sums = system.row_low[loose], system.row_high[loose], self._sums[loose]
        below = np.where(low > -OPEN, sums - low, OPEN)[line]
        above = np.where(high < OPEN, high - sums, OPEN)[line]
        rising, size = own.data > 0, np.abs(own.data)
        found = []
        for limit in (np.where(rising, below, above), np.where(rising, above, below)):
            out = np.full(system.classes.n, OPEN, dtype=np.int64)
            np.minimum.at(out, own.indices, limit // size)
            found.append(out)
        return found[0], found[1]

    def kept(self, key: str, make: Callable[[], T], release: int | None = None) -> T:
        """Something worked out of the classes, once for all releases to come; what is of the newest release counts only here."""
        newest = release is not None and release == len(self.system.names) - 1
        known = self._new if newest else self.system.kept
        if (key, release) not in known:
            known[key, release] = make()
        made: T = known[key, release]
        return made

    @property
    def _codes(self) -> Ints:
        return self.kept("codes", self._coded)

    def _coded(self) -> Ints:
        """The codes of a representative of each class, and the number of its response."""
        classes, layout = self.system.classes, self.system.layout
        response = np.repeat(np.arange(len(layout.columns)), [len(own.low) for own in layout.columns])
        codes = np.column_stack((layout.codes, response))
        first = np.zeros(classes.n, dtype=np.int64)
        first[classes.of[::-1]] = np.arange(len(classes.of) - 1, -1, -1)
        out = np.full((classes.n, codes.shape[1]), -1, dtype=np.int64)
        known = first < len(codes)
        out[known] = codes[first[known]]
        return out

    def home(self, release: int) -> tuple[Ints, Ints, Ints]:
        """The coarse class of each class by what one release tells and watches; and the classes by coarse class."""
        return self.kept("home", lambda: self._labelled(release), release)

    def _labelled(self, release: int) -> tuple[Ints, Ints, Ints]:
        system = self.system
        told = system.row_release == release
        keys = np.random.default_rng(release).integers(1, 2**62, size=len(told), dtype=np.int64)
        seen = np.array([system.names[release] == s.watch.release for s in system.sights], dtype=bool)
        more = np.random.default_rng(~release % 2**32).integers(1, 2**62, size=len(seen), dtype=np.int64)
        with np.errstate(over="ignore"):
            marks = np.where(told, keys, 0) @ system.rows + np.where(seen, more, 0) @ system.watched
        _, label = np.unique(np.asarray(marks, dtype=np.int64), return_inverse=True)
        label = label.reshape(-1)
        order = np.argsort(label, kind="stable")
        return label, order, np.searchsorted(label[order], np.arange(int(label.max()) + 2))

    def coarse(self, movement: Movement, release: int) -> dict[int, int]:
        """What a movement moves in the coarse classes of a release."""
        label = self.home(release)[0]
        labels, place = np.unique(label[movement.classes], return_inverse=True)
        totals = np.zeros(len(labels), dtype=np.int64)
        np.add.at(totals, place.reshape(-1), movement.steps)
        return {int(k): int(t) for k, t in zip(labels, totals, strict=True) if t}

    def deal(
        self, release: int, coarse: dict[int, int], barred: Ints | None = None, *, thorough: bool = False
    ) -> Movement | None:
        """A movement that does in the coarse classes of a release what it should, and keeps all rows; None if none is found.

        Classes that are `barred` do not move; `thorough` looks among many more choices.
        """
        items = self._items(release, coarse, barred)
        if items is None:
            return None
        anchor = min(range(len(items)), key=lambda k: len(items[k].choices))
        chosen, far = self._near(items, items[anchor].choices[:MOST_ANCHORS])
        amounts = np.array([item.amount for item in items], dtype=np.int64)
        with np.errstate(over="ignore"):
            missed = (self._marks[chosen] * amounts).sum(axis=1)
        by_nearness = np.argsort(far, kind="stable")
        for k in by_nearness[missed[by_nearness] == 0][:MOST_MENDED].tolist():
            found = self._checked(amounts, chosen[k])
            if found is not None:
                return found
        for k in by_nearness[:MOST_MENDED].tolist():
            for mended in self._mended(items, chosen[k], int(missed[k])):
                found = self._checked(amounts, mended)
                if found is not None:
                    return found
        return self._in_pairs(items, self._other_marks(release)) if thorough else None

    def _able(self, release: int, label: int, amount: int, barred: Ints | None) -> Ints:
        """The classes of a coarse class that can move so much."""
        if (release, label, amount) not in self._able_ones:
            _, order, starts = self.home(release)
            parts = order[starts[label] : starts[label + 1]]
            if amount > 0:
                parts = parts[~self._frozen[parts]]
            room = self.high[parts] - self.center[parts] if amount > 0 else self.center[parts] - self.low[parts]
            left = self._left[1 if amount > 0 else 0][parts]
            enough = np.minimum(room, left) >= abs(amount)
            self._able_ones[release, label, amount] = np.asarray(parts[enough], dtype=np.int64)
        able = self._able_ones[release, label, amount]
        return able if barred is None else able[~self._mask(barred)[able]]

    def able(self, release: int, coarse: dict[int, int]) -> Ints:
        """The classes of coarse classes that can move as is wanted there, by one; not all where there are very many."""
        found = [self._able(release, label, 1 if amount > 0 else -1, None) for label, amount in coarse.items()]
        able = np.concatenate([np.zeros(0, dtype=np.int64), *found])
        return able[:: -(-len(able) // MOST_ABLE) or 1]

    def _mask(self, barred: Ints) -> Mask:
        """The classes that are barred; the same ones are asked for many times in a row."""
        if self._barred is not barred:
            self._barred, self._barred_mask = barred, np.zeros(self.system.classes.n, dtype=bool)
            self._barred_mask[barred] = True
        return self._barred_mask

    def _in_pairs(self, items: list[_Item], own: Ints) -> Movement | None:
        """Pairs of classes, one up and one down, that no row tells apart but those of the release itself; the rest by sums."""
        down = [k for k, item in enumerate(items) if item.amount < 0]
        up = [k for k, item in enumerate(items) if item.amount > 0]
        pairs = {}
        for i in down:
            for j in up:
                if items[i].amount == -items[j].amount:
                    same, first, second = np.intersect1d(
                        own[items[i].choices], own[items[j].choices], return_indices=True
                    )
                    if len(same):
                        pairs[i, j] = items[i].choices[first], items[j].choices[second]
        matched = _matched(down, up, pairs)
        chosen = np.full(len(items), -1, dtype=np.int64)
        for i, j in matched.items():
            first, second = pairs[i, j]
            chosen[i], chosen[j] = first[0], second[0]
        amounts = np.array([item.amount for item in items], dtype=np.int64)
        left = np.flatnonzero(chosen < 0)
        if len(left) == 0:
            return self._checked(amounts, chosen)
        if len(left) > MOST_LEFT:
            return None
        for rest in self._met([items[k] for k in left], own):
            chosen[left] = rest
            found = self._checked(amounts, chosen)
            if found is not None:
                return found
        return None

    def _met(self, items: list[_Item], marks: Ints) -> Iterator[Ints]:
        """Choices that keep all rows: those of one half of the items that meet those of the other."""
        limit = max(int(MOST_SUMS ** (2 / len(items))), 1)
        near = [item.choices[:: -(-len(item.choices) // limit)] for item in items]
        halves = list(range(0, len(items), 2)), list(range(1, len(items), 2))
        sums: list[Ints] = []
        with np.errstate(over="ignore"):
            for half in halves:
                total = np.zeros(1, dtype=np.int64)
                for at in half:
                    own = marks[near[at]] * items[at].amount
                    total = (total[:, None] + own[None, :]).reshape(-1)
                sums.append(total)
            hits = _meeting(-sums[0], sums[1])
        for first, second in hits:
            found = np.empty(len(items), dtype=np.int64)
            for half, number in zip(halves, (first, second), strict=True):
                sizes = [len(near[at]) for at in half]
                for at, index in zip(half, np.unravel_index(number, sizes), strict=True):
                    found[at] = near[at][index]
            yield found

    def _items(self, release: int, coarse: dict[int, int], barred: Ints | None) -> list[_Item] | None:
        """What must move, each with the classes that can; None where something cannot, or too much must."""
        items: list[_Item] = []
        for label, amount in coarse.items():
            able = self._able(release, label, amount, barred)
            pieces = [amount]
            if len(able) == 0:
                sign = 1 if amount > 0 else -1
                able, pieces = self._able(release, label, sign, barred), [sign] * abs(amount)
            if len(able) == 0 or len(items) + len(pieces) > MOST_ITEMS:
                return None
            step = -(-len(able) // MOST_CHOICES)
            items += [_Item(piece, able[::step]) for piece in pieces]
        return items or None

    def _near(self, items: list[_Item], anchors: Ints) -> tuple[Ints, Ints]:
        """For each anchor the nearest class of each item by codes, and how far they are off in all."""
        wanted = self._codes[anchors]
        chosen = np.empty((len(anchors), len(items)), dtype=np.int64)
        far = np.zeros(len(anchors), dtype=np.int64)
        for at, item in enumerate(items):
            codes = self._codes[item.choices]
            off = np.zeros((len(anchors), len(codes)), dtype=np.int8)
            for variable in range(codes.shape[1]):
                off += wanted[:, variable, None] != codes[None, :, variable]
            best = off.argmin(axis=1)
            chosen[:, at] = item.choices[best]
            far += off[np.arange(len(anchors)), best]
        return chosen, far

    def _mended(self, items: list[_Item], chosen: Ints, missed: int) -> Iterator[Ints]:
        """Choices that keep all rows after two of them are changed."""
        marks = [self._marks[item.choices] * item.amount for item in items]
        own = [self._marks[c : c + 1] * item.amount for c, item in zip(chosen.tolist(), items, strict=True)]
        lost = np.array([missed], dtype=np.int64)
        order = [np.argsort(mark, kind="stable") for mark in marks]
        with np.errstate(over="ignore"):
            for i in range(len(items)):
                for j in range(i + 1, len(items)):
                    wanted = own[i] + own[j] - lost - marks[i]
                    ordered = marks[j][order[j]]
                    place = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
                    hits = np.flatnonzero(ordered[place] == wanted)
                    if len(hits):
                        found = chosen.copy()
                        found[i] = items[i].choices[hits[0]]
                        found[j] = items[j].choices[order[j][place[hits[0]]]]
                        yield found

    def _checked(self, amounts: Ints, chosen: Ints) -> Movement | None:
        """The movement, if it satisfies everything in whole numbers."""
        classes, place = np.unique(chosen, return_inverse=True)
        steps = np.zeros(len(classes), dtype=np.int64)
        np.add.at(steps, place.reshape(-1), amounts)
        movement = Movement(classes[steps != 0], steps[steps != 0])
        return movement if self.fits(movement) else None

    def fits(self, movement: Movement) -> bool:
        """Whether a movement ends within all bounds and rows."""
        totals = self.center[movement.classes] + movement.steps
        if bool((totals < self.low[movement.classes]).any() or (totals > self.high[movement.classes]).any()):
            return False
        own = self._by_class[:, movement.classes]
        change = own @ movement.steps
        rows = np.flatnonzero(change)
        sums = self._sums[rows] + change[rows]
        return bool((sums >= self.system.row_low[rows]).all() and (sums <= self.system.row_high[rows]).all())


def _meeting(wanted: Ints, there: Ints) -> list[tuple[int, int]]:
    """Places of equal marks in two long lists, the first few; that most have no like is seen from some of their bits."""
    own, others = _places(wanted), _places(there)
    first = np.flatnonzero(_seen(others)[own])
    second = np.flatnonzero(_seen(own[first])[others])
    if len(first) == 0 or len(second) == 0:
        return []
    second = second[np.argsort(there[second], kind="stable")]
    ordered = there[second]
    place = np.minimum(np.searchsorted(ordered, wanted[first]), len(ordered) - 1)
    hits = np.flatnonzero(ordered[place] == wanted[first])[:MOST_MENDED]
    return list(zip(first[hits].tolist(), second[place[hits]].tolist(), strict=True))


def _places(marks: Ints) -> Ints:
    """Some bits of marks."""
    return (marks >> 20) & (MOST_PLACES - 1)


def _seen(places: Ints) -> Mask:
    """Which places there are."""
    out = np.zeros(MOST_PLACES, dtype=bool)
    out[places] = True
    return out


def _matched(down: list[int], up: list[int], pairs: Mapping[tuple[int, int], object]) -> dict[int, int]:
    """As many pairs as possible with each item in one of them."""
    if not pairs:
        return {}
    graph = np.array([[(i, j) in pairs for j in up] for i in down])
    found = maximum_bipartite_matching(sparse.csr_array(graph), perm_type="column")
    return {i: up[j] for i, j in zip(down, found.tolist(), strict=True) if j >= 0}
