# SPDX-License-Identifier: Apache-2.0
"""The least and the greatest totals that everybody knows of columns and classes, and those that an insider knows."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.queries.columns import Columns
from reticent.queries.fixed import Whole, fitting
from reticent.releases.rows import Partition


@dataclass(frozen=True)
class Ends:
    """For each column the least (or greatest) total that its values can have, and whether there is one."""

    amounts: Whole
    there: Mask
    denominator: int

    @classmethod
    def of(cls, columns: Columns, ends: Sequence[Fraction | None]) -> "Ends":
        """By the bound of each column's values, in units of the values' scale over a common denominator."""
        different = {end for end in ends if end is not None}
        denominator = lcm(1, *{end.denominator for end in different})
        whole = {end: int(end * denominator) * columns.values.scale for end in different}
        each = [0 if end is None else whole[end] for end in ends]
        there = np.array([end is not None for end in ends], dtype=bool)
        amounts = np.array(each, dtype=object) * columns.counts.astype(object)
        return cls(fitting(amounts), there, denominator)

    def by_class(self, partition: Partition) -> "Ends":
        """The same for classes; a class with values that have no bound has none."""
        there = by_class((~self.there).astype(np.int64), partition) == 0
        return Ends(by_class(self.amounts, partition), np.asarray(there, dtype=bool), self.denominator)

    def known_to(self, base: "Ends", members: "Members", units: Ints) -> "Ends":
        """The same for classes (`base`: those of anybody), for somebody who knows the values of some units."""
        columns, places = members.columns, members.where[units]
        at = columns.column_of[units]
        amounts, there = base.amounts.astype(object), base.there.copy()
        own = columns.values.integers[units].astype(object) * self.denominator - self._each(columns)[at]
        np.add.at(amounts, places, own)
        if not self.there.all():
            without = ~self.there[columns.column_of]
            lacking = np.bincount(members.where[without], minlength=len(there))
            np.subtract.at(lacking, places[~self.there[at]], 1)
            there |= lacking == 0
        return Ends(amounts, there, self.denominator)

    def beyond(self, columns: Columns) -> Mask:
        """Which units are not at their bound, or have none."""
        return np.asarray(~self.there[columns.column_of] | (self.distances(columns) != 0), dtype=bool)

    def distances(self, columns: Columns) -> Whole:
        """How far each unit is above its bound, in the units of the amounts (without a bound: above 0)."""
        values = columns.values.integers.astype(object) * self.denominator
        return fitting(np.asarray(values - self._each(columns)[columns.column_of]))

    def _each(self, columns: Columns) -> Whole:
        """The bound of each unit of a column."""
        return np.asarray(self.amounts.astype(object) // np.maximum(columns.counts, 1).astype(object))

    def reached(self, totals: Whole) -> Mask:
        """Where totals are at their bound."""
        at = totals.astype(object) * self.denominator == self.amounts
        return np.asarray(self.there & np.asarray(at, dtype=bool), dtype=bool)


def by_class(amounts: Whole, partition: Partition) -> Whole:
    """Exact totals of each class."""
    out = np.zeros(partition.n_classes, dtype=amounts.dtype)
    np.add.at(out, partition.class_of, amounts)
    return out


@dataclass(frozen=True)
class Members:
    """Who is in the classes of a partition."""

    columns: Columns
    partition: Partition

    @cached_property
    def where(self) -> Ints:
        """The class of each unit."""
        return np.asarray(self.partition.class_of[self.columns.column_of], dtype=np.int64)

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """The least and the greatest number of a respondent in each class."""
        return first_and_last(self.columns.entity, self.where, self.partition.n_classes)

    @property
    def alone(self) -> Mask:
        """Classes with one respondent."""
        first, last = self.ends
        return np.asarray(first == last, dtype=bool)

    @cached_property
    def two(self) -> Mask:
        """Classes with two respondents."""
        first, last = self.ends
        two = np.asarray(first < last, dtype=bool)
        entity, where = self.columns.entity, self.where
        two[where[(entity != first[where]) & (entity != last[where])]] = False
        return two

    def sole(self, beyond: Mask) -> Ints:
        """In each class with several respondents the only one with units beyond a bound; −1 where there is no such.

        That one knows everybody else in it: where one of five is ill, the one who is ill knows that the others are not.
        """
        first, last = first_and_last(self.columns.entity[beyond], self.where[beyond], self.partition.n_classes)
        return np.where((first == last) & ~self.alone, first, -1)

    def of(self, classes: Mask) -> set[int]:
        """The respondents of classes that have one or two."""
        first, last = self.ends
        return {*first[classes].tolist(), *last[classes].tolist()}

    def narrowed(self, end: Ends, base: Ends, chosen: Mask, sign: int) -> Ends:
        """The ends of classes (`base`: those of anybody) moved as far as one of the respondents of some units knows."""
        pairs = self.where[chosen] * (int(self.columns.entity.max(initial=0)) + 1) + self.columns.entity[chosen]
        named, of_pair = np.unique(pairs, return_inverse=True)
        own = np.zeros(len(named), dtype=object)
        np.add.at(own, of_pair, sign * end.distances(self.columns)[chosen])
        most = np.zeros(len(base.amounts), dtype=object)
        np.maximum.at(most, named // (int(self.columns.entity.max(initial=0)) + 1), own)
        return Ends(base.amounts.astype(object) + sign * most, base.there, base.denominator)

    def unlike(self, chosen: Mask) -> set[int]:
        """One respondent for each different knowledge among those of some units: who has the same values in the same classes."""
        order = self.columns.by_entity[chosen[self.columns.by_entity]]
        owner = self.columns.entity[order]
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        values = list(zip(self.where[order].tolist(), self.columns.values.integers[order].tolist()))
        parts = zip(starts.tolist(), [*starts[1:].tolist(), len(order)])
        return set({tuple(sorted(values[a:b])): int(owner[a]) for a, b in parts}.values())

    def units_of(self, who: int) -> Ints:
        """The units of a respondent."""
        order = self.columns.by_entity
        owner = self.columns.entity[order]
        return np.asarray(
            order[np.searchsorted(owner, who) : np.searchsorted(owner, who, side="right")], dtype=np.int64
        )


def first_and_last(owner: Ints, where: Ints, n: int) -> tuple[Ints, Ints]:
    """The least and the greatest number of a respondent in each class; of an empty class, ends that differ."""
    first, last = np.full(n, np.iinfo(np.int64).max), np.full(n, -1, dtype=np.int64)
    np.minimum.at(first, where, owner)
    np.maximum.at(last, where, owner)
    return first, last
