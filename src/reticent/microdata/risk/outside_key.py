# SPDX-License-Identifier: Apache-2.0
"""What published variables tell of a key that is recoded, blanked or dropped, to somebody who knows how they go together.

Records that share what a variable shows are looked at inside each published code of the key. They may have one true code of
the key; or codes and values may fall into parts that never mix, so that the variable tells a set of codes (five years of age
beside ten). Sets may also overlap: whoever was born in one year has one of two ages. All of them count where chance hardly makes
them. Values that a step moved from one record to another tell the codes of those who truly have them, if they stayed among these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.microdata.risk.outside_view import Moved, View

By = tuple[str, ...]


@dataclass(eq=False)
class OutsideKey:
    """One key: numbers of the true code of each record (−1: none) and of the code that it shows (−1: blank or dropped).

    `hidden` are records that do not show their code in full, `exactly` those whose code a source tells, and `by` has for each
    source of how many records it narrows the code, and of how many of these it tells the code; `by_owners` are sources whose
    values are those of other records. `wrong` has a code that these make of records of which it is not the true one.
    """

    name: str
    true: Ints = field(repr=False)
    shown: Ints = field(repr=False)
    hidden: Mask = field(repr=False)
    amounts: Ints = field(repr=False)
    exactly: Mask = field(init=False, repr=False)
    wrong: Ints = field(init=False, repr=False)
    by: dict[By, tuple[int, int]] = field(init=False, default_factory=dict)
    by_owners: set[By] = field(init=False, default_factory=set)
    views: list[View] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.hidden = self.hidden & (self.true >= 0)
        self.exactly, self.wrong = np.zeros(self.true.size, dtype=bool), np.full(self.true.size, -1)
        shows = self.hidden & (self.shown >= 0)
        blank = self.hidden & (self.shown < 0)
        coarse = np.zeros(int(self.shown.max(initial=-1)) + 2, dtype=bool)
        coarse[self.shown[shows]] = True
        self.views = []
        if shows.any():
            rows = np.flatnonzero(coarse[self.shown] & (self.true >= 0))
            self.views.append(View.of(rows, self.shown[rows], self.true, self.amounts, shows))
        if blank.any():  # a blank shows no code to look inside of: all records together say how things go together
            rows = np.flatnonzero(self.true >= 0)
            self.views.append(View.of(rows, np.zeros(rows.size, dtype=np.int64), self.true, self.amounts, blank))

    @property
    def open(self) -> bool:
        """Whether there are records whose code is not told so far."""
        return bool((self.hidden & ~self.exactly).any())

    def look(self, name: str, group: Ints, known: Mask, *, trials: int, overlapping: bool = True) -> None:
        """Take what a variable tells: its groups of records, and where it shows something.

        That nothing is shown may say which code it is (no fare where there is no train), or leave all codes possible.
        Sets of codes that overlap are looked for where somebody counts with them afterwards.
        """
        exactly, narrowed = np.zeros(self.true.size, dtype=bool), np.zeros(self.true.size, dtype=bool)
        for view in self.views:
            here = view.asked[view.rows]
            if (here & ~self.exactly[view.rows]).any():
                exactly[view.rows] |= view.one_code((group,), (), trials) & here
                for there in (known,) if known.all() else (known, np.ones_like(known)):
                    told = view.apart(group, there, trials)
                    narrowed[view.rows] |= here & there[view.rows] & (told > 0) & view.take_parts(told)
                if overlapping:
                    narrowed[view.rows] |= here & view.take_sets(view.sets_of(group, trials))
        self._take((name,), exactly, narrowed)

    def look_at_two(self, names: By, groups: Sequence[Ints], *, trials: int) -> None:
        """Take what two variables tell together and neither tells by itself: one code."""
        exactly = np.zeros(self.true.size, dtype=bool)
        for view in self.views:
            here = view.asked[view.rows]
            if (here & ~self.exactly[view.rows]).any():
                alone = [view.beside(name, group) for name, group in zip(names, groups, strict=True)]
                exactly[view.rows] |= view.one_code(groups, alone, trials) & here
        self._take(names, exactly, np.zeros(self.true.size, dtype=bool))

    def look_in_order(self, names: By, number: Floats, within: Ints | None = None, *, trials: int) -> None:
        """Take what the order of a number (or of texts) tells: stretches of one code inside each published code.

        With `within`, the order is that among the records that share the value of the first variable.
        """
        exactly = np.zeros(self.true.size, dtype=bool)
        for view in self.views:
            if not (view.asked & ~self.exactly).any():
                continue
            inside = view if within is None else view.inside(names[0], within)
            exactly |= inside.stretches(number, trials) & view.asked
        self._take(names, exactly, np.zeros(self.true.size, dtype=bool))

    def look_at_owners(self, names: By, moved: Moved, *, trials: int) -> None:
        """Take what values tell that a step moved to other records, to whoever knows who truly has them."""
        exactly, narrowed = np.zeros(self.true.size, dtype=bool), np.zeros(self.true.size, dtype=bool)
        for view in self.views:
            here = view.asked[view.rows]
            if (here & ~self.exactly[view.rows]).any():
                owned = view.sets_of_owners(moved, trials)
                if owned.wrong is not None:
                    self.wrong[view.rows] = np.where(here, owned.wrong, -1)
                view.owned = sets = view.together(view.owned, owned)
                one = np.array([own.size == 1 for own in sets.codes] + [False])
                exactly[view.rows] |= here & one[sets.of]
                narrowed[view.rows] |= here & view.take_sets(sets)
        if (narrowed | exactly).any():
            self.by_owners.add(names)
        self._take(names, exactly, narrowed)

    def guessed(self) -> Ints:
        """The code that sources tell of each record (−1: none), which is a wrong one where owners of moved values say so.

        Where they are wrong about some, nothing is certain, and whoever guesses has a guess for each record: for those of which
        no source says anything the true code is counted, which is the best that somebody may guess.
        """
        best = np.where(self.hidden & (self.wrong >= 0).any(), self.true, -1)
        return np.asarray(np.where(self.exactly, self.true, np.where(self.wrong >= 0, self.wrong, best)))

    def narrowed(self) -> tuple[Ints, Ints]:
        """The set of codes that each record may have by what sources tell (−1: they tell none), and pairs of code and set."""
        sets, pairs, n = np.full(self.true.size, -1, dtype=np.int64), [np.empty((0, 2), dtype=np.int64)], 0
        for view in self.views:
            if int(view.part.max(initial=0)) == int(view.stratum.max(initial=0)) and not view.sets.told:
                continue
            mine = view.asked[view.rows]
            cell, nodes = view.left(view.sets)
            true = np.zeros(int(view.node.max()) + 1, dtype=np.int64)
            true[view.node] = view.true
            sets[view.rows[mine]] = n + cell[mine]
            pairs += [np.column_stack((true[own], np.full(own.size, n + at))) for at, own in enumerate(nodes)]
            n += len(nodes)
        return sets, np.vstack(pairs)

    def _take(self, names: By, exactly: Mask, narrowed: Mask) -> None:
        if narrowed.any() or (exactly & ~self.exactly).any():
            self.exactly |= exactly
            self.by[names] = int(self.amounts[exactly | narrowed].sum()), int(self.amounts[exactly].sum())
