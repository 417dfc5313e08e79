# SPDX-License-Identifier: Apache-2.0
"""Respondents whom combinations of answers must rest on: all of them, or those who have another value than the rest.

With Σ x² over some records everybody also has Σ x and their number, so Σ (x − v)² for any v. Where it is 0, all are v; where one
respondent has another value than v, this one takes off the own share and sees that all others are v. So a combination of sums
of squares must rest on two who have another value than the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from reticent.base.arrays import Ints
from reticent.queries.audit.blocks import Block, deal, rests_on_enough
from reticent.queries.audit.few import FewRespondents, Found
from reticent.queries.columns import Columns
from reticent.queries.fixed import Fixed, Whole
from reticent.releases.rows import LinearRow, Proposal, Undecided
from reticent.releases.rowspace import RowSpace

MOST_VALUES = 64
TOO_LARGE = 2**62


@dataclass
class Resting:
    """The respondents whom combinations must rest on, and how many of them."""

    columns: Columns
    minimum: int
    rng: np.random.Generator
    _blocks: list[Block] | None = None

    def proved(self, space: RowSpace, proposal: Proposal) -> bool:
        """Whether a quick proof shows that every combination rests on enough of them."""
        if self.minimum <= 0:
            return True
        if self._blocks is None:
            self._blocks = deal(self.columns, self.minimum, self.rng)
        return rests_on_enough(self._blocks, space, proposal.row)

    def search(self, space: RowSpace, proposal: Proposal) -> Found | None:
        """A combination that rests on too few; None if there is none."""
        if self.proved(space, proposal):
            return None
        return FewRespondents(self.columns, self.minimum, space, proposal).search()

    def proved_all(self, space: RowSpace) -> bool:
        """Whether the quick proof holds for each released row with those before it."""
        if self.minimum > 0 and self._blocks is None:
            self._blocks = deal(self.columns, self.minimum, self.rng)
        crowded, *others = [block.separated(space) for block in self._blocks or ()] or [set(range(space.rank))]
        shared = set.intersection(*others) if others else set()
        return len(crowded | shared) == space.rank

    def back_to(self, rank: int) -> None:
        """Forget the rows that were released after the rank was this."""
        for block in self._blocks or ():
            block.back_to(rank)


@dataclass
class CommonSquares:
    """Whether sums of squares rest on two respondents who have another value than the rest.

    Combinations rest on at least `minimum` respondents in all, which is seen to elsewhere, so rarer values hide nobody. Where two
    are enough, nobody is kept from computing another, and one with another value will do.
    """

    columns: Columns
    minimum: int
    rng: np.random.Generator
    _without: dict[int, Resting] = field(default_factory=dict)

    @property
    def others(self) -> int:
        """How many respondents must have another value."""
        return 2 if self.minimum > 2 else 1

    def search(self, space: RowSpace, proposal: Proposal) -> Found | None:
        """A combination that rests on equal values only; None if there is none."""
        if self._spread.proved(space, proposal):
            return None
        values, left_over = self._common
        many = Resting(self.columns, left_over + self.others if left_over else 0, self.rng)
        if many.search(space, proposal) is not None:
            raise Undecided("Too many values are common to decide what is left without each of them.")
        found = (self._taken_off(value).search(space, proposal) for value in values)
        return next((one for one in found if one is not None), None)

    def back_to(self, rank: int) -> None:
        """Forget the rows that were released after the rank was this."""
        for resting in (self._spread, *self._without.values()):
            resting.back_to(rank)

    @cached_property
    def _codes(self) -> Ints:
        return codes_of(self.columns.values)

    @cached_property
    def _spread(self) -> Resting:
        """In each column those who are left whatever value is taken off."""
        left = left_whatever(self.columns, [self._codes])
        start = np.concatenate(([0], np.cumsum(left))).astype(np.int64)
        return Resting(
            with_units(self.columns, start, np.arange(int(start[-1]), dtype=np.int64)), self.others, self.rng
        )

    @cached_property
    def _common(self) -> tuple[list[int], int]:
        """The most common values, and how many respondents have one of the others at most."""
        shared = by_holders(self.columns, self._codes, max(self.minimum + 1 - self.others, 1))
        left_over = max((holders for _, holders in shared[MOST_VALUES:]), default=0)
        return [value for value, _ in shared[:MOST_VALUES]], left_over

    def _taken_off(self, value: int) -> Resting:
        if value not in self._without:
            kept = self._codes != value
            column = np.repeat(np.arange(self.columns.n_columns), self.columns.counts)
            counts = np.bincount(column[kept], minlength=self.columns.n_columns)
            start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
            own = with_units(self.columns, start, self.columns.entity[kept])
            self._without[value] = Resting(own, self.others, self.rng)
        return self._without[value]


def by_holders(columns: Columns, codes: Ints, least: int) -> list[tuple[int, int]]:
    """The values that this many respondents have, and how many have them, the most common first."""
    held = np.unique(np.column_stack((codes, columns.entity)), axis=0)
    values, holders = np.unique(held[:, 0], return_counts=True)
    order = np.argsort(-holders, kind="stable")
    found = zip(values[order].tolist(), holders[order].tolist())
    return [(value, n) for value, n in found if n >= least]


def left_whatever(columns: Columns, kinds: Sequence[Ints]) -> Ints:
    """For each column how many respondents are left at least, whatever value of each kind is taken off.

    Only values that several respondents have, here or elsewhere, are taken off. A respondent with several columns counts
    in the first of them only, so that nobody is counted twice.
    """
    column = np.repeat(np.arange(columns.n_columns), columns.counts)
    _, first, of_unit = np.unique(columns.entity, return_index=True, return_inverse=True)
    home = column[first][of_unit] == column
    left = np.bincount(column[first], minlength=columns.n_columns).astype(np.int64)
    for codes in kinds:
        n_values = int(codes.max(initial=0)) + 1
        common = np.zeros(n_values, dtype=bool)
        common[[value for value, _ in by_holders(columns, codes, 2)]] = True
        held = np.unique(np.column_stack((column * n_values + codes, of_unit))[home & common[codes]], axis=0)
        cells, holders = np.unique(held[:, 0], return_counts=True)
        most = np.zeros(columns.n_columns, dtype=np.int64)
        np.maximum.at(most, cells // n_values, holders)
        left -= most
    return np.asarray(left.clip(min=0), dtype=np.int64)


def codes_of(values: Fixed) -> Ints:
    """A number from 0 on for each different value."""
    return np.unique(values.integers, return_inverse=True)[1].reshape(-1).astype(np.int64)


def weighted(weights: Whole) -> LinearRow:
    """The row that counts each column with its weight."""
    levels = sorted(set(weights.tolist()) - {0})
    if any(abs(level) >= TOO_LARGE for level in levels):
        raise Undecided("The audit cannot work with weights as large as these.")
    return LinearRow(tuple((level, np.asarray(weights == level, dtype=bool)) for level in levels))


def with_units(columns: Columns, start: Ints, entity: Ints) -> Columns:
    """The same columns with other units, of which only the respondents count."""
    return Columns(columns.name, columns.atom_of, start, entity, Fixed(np.zeros(len(entity), dtype=np.int64), 1))
