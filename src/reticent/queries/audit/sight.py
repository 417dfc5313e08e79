# SPDX-License-Identifier: Apache-2.0
"""Who knows what of the classes before a search: anybody with the bounds, an insider with their own values as well."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.queries.audit.ends import Ends, Members, by_class
from reticent.queries.audit.witness import MOST_CLASSES, MOST_ROWS, ExactRows
from reticent.queries.columns import Columns
from reticent.queries.fixed import Whole
from reticent.releases.rows import Partition, Proposal
from reticent.releases.rowspace import RowSpace
from reticent.solve.model import INFINITE

SMALLEST, LARGEST = Fraction(1, 1000), 10**12
FEW_CLASSES = 40
KEPT_DIGITS = 6
FINE = 10**6


@dataclass(frozen=True)
class Sight:
    """What somebody knows of the classes: their least and greatest totals, and of an insider which are own."""

    low: Ends
    high: Ends
    interval: float
    own: NDArray[np.bool_]
    one_other: NDArray[np.bool_]
    inside: bool = False


@dataclass(frozen=True)
class View:
    """The rows as they would be after the release, made when first needed, and who sees what of them."""

    columns: Columns
    ends: tuple[Ends, Ends]
    interval: float
    space: RowSpace
    proposal: Proposal

    @property
    def partition(self) -> Partition:
        """The classes."""
        return self.proposal.partition

    @cached_property
    def members(self) -> Members:
        """Who is in the classes."""
        return Members(self.columns, self.partition)

    @cached_property
    def totals(self) -> Whole:
        """The true totals."""
        return by_class(self.columns.totals, self.partition)

    @cached_property
    def anybody(self) -> Sight:
        """What everybody knows."""
        low, high = self.ends[0].by_class(self.partition), self.ends[1].by_class(self.partition)
        nowhere = np.zeros(self.partition.n_classes, dtype=bool)
        return Sight(low, high, self.interval, nowhere, nowhere)

    def of(self, who: int) -> Sight:
        """What a respondent knows, who must learn no value of anybody else."""
        units = self.members.units_of(who)
        low = self.ends[0].known_to(self.anybody.low, self.members, units)
        high = self.ends[1].known_to(self.anybody.high, self.members, units)
        here = np.zeros(self.partition.n_classes, dtype=bool)
        here[self.members.where[units]] = True
        alone, two = self.members.alone, self.members.two
        return Sight(low, high, 0.0, here & alone, (here & two) | (~here & alone), inside=True)

    def crowd(self, without: set[int]) -> Sight | None:
        """What is open to every respondent but some, who have no class alone or with one other; None if that is not clear.

        Ends are the narrowest that one of them knows, so what moves within them moves for each.
        """
        if any(self._partly(own.there) for own in self.ends):
            return None
        spared = ~np.isin(self.columns.entity, np.fromiter(without, dtype=np.int64, count=len(without)))
        low, high = (
            self.members.narrowed(end, base, spared, sign)
            for end, base, sign in zip(self.ends, (self.anybody.low, self.anybody.high), (1, -1))
        )
        nowhere = np.zeros(self.partition.n_classes, dtype=bool)
        return Sight(low, high, 0.0, nowhere, self.members.alone, inside=True)

    def _partly(self, there: NDArray[np.bool_]) -> bool:
        """Whether some values of a class have a bound and others have none: whoever knows the latter has a bound for all."""
        number = by_class(there.astype(np.int64), self.partition)
        return bool(((number > 0) & (number < self.partition.size)).any())

    @cached_property
    def rows(self) -> ExactRows:
        """All rows, in whole numbers."""
        return ExactRows.of(self.space, self.proposal)

    @cached_property
    def touched(self) -> NDArray[np.bool_]:
        """Classes that some row has."""
        touched = np.zeros(self.proposal.partition.n_classes, dtype=bool)
        touched[self.rows.matrix.indices] = True
        return touched

    @property
    def small(self) -> bool:
        """Whether there are so few rows and classes that a search in whole numbers ends."""
        return self.space.rank < MOST_ROWS and self.partition.n_classes <= MOST_CLASSES

    @property
    def few(self) -> bool:
        """Whether there are so few classes that each insider can be given whole numbers."""
        return self.partition.n_classes <= FEW_CLASSES


@dataclass(frozen=True)
class Scene:
    """The classes as they would be after the release, with their true totals; `pinned` ones lie at a bound."""

    partition: Partition
    totals: Whole
    sight: Sight
    touched: NDArray[np.bool_]
    pinned: NDArray[np.bool_]
    scale: int
    whole: bool

    @cached_property
    def values(self) -> Floats:
        """The totals in units that a solver can work with."""
        size = self.scale * self.unit
        return np.array([float(total / size) for total in self.totals.tolist()])

    @cached_property
    def box(self) -> tuple[Floats, Floats]:
        """The least and the greatest totals in the same units."""
        sides = []
        for own, nowhere in zip((self.sight.low, self.sight.high), (-INFINITE, INFINITE)):
            size = own.denominator * self.scale * self.unit
            amounts = zip(own.amounts.tolist(), own.there.tolist())
            sides.append(np.array([float(amount / size) if there else nowhere for amount, there in amounts]))
        return sides[0], sides[1]

    @cached_property
    def unit(self) -> Fraction:
        """A power of ten; 1 unless the totals are too large or too small for a solver's tolerances."""
        largest = Fraction(max(map(abs, self.totals.tolist()), default=0), self.scale)
        if not largest or SMALLEST <= largest <= LARGEST:
            return Fraction(1)
        digits = len(str(largest.numerator)) - len(str(largest.denominator))
        return Fraction(10) ** (digits - KEPT_DIGITS)

    @property
    def grid(self) -> int:
        """How many steps of a unit a solver's answer is rounded to: those of the data, where these are not too fine."""
        return self.scale if self.unit == 1 and self.scale <= FINE else FINE


class Needs:
    """Which classes still lack a database: low enough and high enough (unsafe ones), or different (whole numbers).

    A safe class at its bound needs a different one too: its records would be known one by one.
    """

    def __init__(self, scene: Scene, unsafe: NDArray[np.bool_], interval: float, *, whole: bool) -> None:
        self._watched = np.flatnonzero(unsafe | (scene.pinned & whole))
        self._share = Fraction(str(interval)) / 100
        self._size = np.abs(scene.totals[self._watched]).astype(object)
        wanted = unsafe[self._watched] & (interval > 0)
        self._below, self._above = ~wanted, ~wanted
        self._other = np.full(len(self._watched), not whole)

    @property
    def open(self) -> NDArray[np.int64]:
        """The classes not yet shown to be wide enough."""
        return np.asarray(self._watched[~(self._below & self._above & self._other)], dtype=np.int64)

    @property
    def met(self) -> bool:
        """Whether all are."""
        return len(self.open) == 0

    def take(self, step: Whole, denominator: int) -> None:
        """Learn from a database that differs from the true one by step / denominator."""
        own = step[self._watched]
        moved = own * self._share.denominator
        distance = self._size * self._share.numerator * denominator
        self._below |= np.asarray(moved <= -distance, dtype=bool)
        self._above |= np.asarray(moved >= distance, dtype=bool)
        self._other |= np.asarray(own != 0, dtype=bool)
