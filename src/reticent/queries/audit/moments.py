# SPDX-License-Identifier: Apache-2.0
"""What sums and sums of squares of few whole values fix only together: the numbers of records with each value.

How many records of a class have each value is all that such rows depend on, and they depend on it linearly. So databases
that fit all answers are whole numbers that fit linear rows, for anybody and for each respondent who leaves out what is
their own. A class whose records all have one value needs another such database, or each of them would be known.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, floor

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import SolverError
from reticent.queries.audit.bins import Bins
from reticent.queries.audit.bounds import ENOUGH, FEW_VALUES, MOST_WEIGHT, UNCHECKED, known_ends
from reticent.queries.audit.sight import FEW_CLASSES
from reticent.queries.columns import Columns
from reticent.queries.policy import Bounds
from reticent.queries.refusals import StaffReason
from reticent.queries.rules import SetRules
from reticent.releases.rows import Partition
from reticent.releases.rowspace import RowSpace
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel

SWEEPS = 6
MOST_SEARCHES = 300
SECONDS = 5.0
FIXED = StaffReason("bounds", "sums and sums of squares together would fix the values of a class of records")


@dataclass(frozen=True)
class Moments:
    """The check for one response of whole values between two ends that everybody knows of each: `low` and `high`, by column."""

    columns: Columns
    low: Ints
    high: Ints
    rules: SetRules
    known: Mask

    @classmethod
    def of(cls, columns: Columns, bounds: Bounds | None, rules: SetRules, bins: Bins | None = None) -> "Moments | None":
        """For a response with such ends, by declared bounds or by the bins of its cutpoints; None for others."""
        declared = bounds or Bounds()
        if not columns.has_units or not (declared.integer or bins) or columns.values.scale != 1:
            return None
        ends = known_ends(columns, declared, bins)
        lows, highs = [[end for end in own if end is not None] for own in ends]
        if len(lows) + len(highs) < 2 * columns.n_columns:
            return None
        low, high = (np.array(own, dtype=np.int64) for own in ([*map(ceil, lows)], [*map(floor, highs)]))
        widest = int((high - low).max(initial=0))
        if widest >= FEW_VALUES or (widest < 2 and len(np.unique(low)) < 2):
            return None  # squares of two neighbouring values are a linear function of them
        known = np.zeros(columns.n_columns, dtype=bool)
        known[columns.of_entities(rules.known)] = True
        return cls(columns, low, high, rules, known)

    def check(self, sums: RowSpace, squares: RowSpace) -> StaffReason | None:
        """Why what is released of sums and of sums of squares must not stand together, or None."""
        if sums.rank == 0 or squares.rank == 0:
            return None
        partition = _joint(sums.partition.class_of, squares.partition.class_of, self.low, self.high)
        if partition.n_classes > FEW_CLASSES:
            return None
        scene = _Scene(self, partition, sums, squares)
        for own in self._viewers(scene):
            if not scene.open_to(own):
                return FIXED
            if scene.searches > MOST_SEARCHES:
                return UNCHECKED
        return None

    def _viewers(self, scene: "_Scene") -> Iterator[Ints]:
        """What somebody knows beforehand, as numbers of records: nothing, then what a respondent has; each once."""
        yield np.zeros(len(scene.counts), dtype=np.int64)
        if self.rules.minimum < ENOUGH:
            return
        order = self.columns.by_entity
        owner = self.columns.entity[order]
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        kept = [who not in self.rules.known for who in owner[starts].tolist()]
        parts = np.split(scene.places[order], starts[1:])
        for places in sorted({tuple(sorted(part.tolist())) for part, own in zip(parts, kept) if own}):
            yield np.bincount(places, minlength=len(scene.counts))


def _joint(*kinds: Ints) -> Partition:
    """Columns that are alike in all these."""
    _, first, class_of, size = np.unique(
        np.column_stack(kinds), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return Partition(class_of.reshape(-1).astype(np.int64), first.astype(np.int64), size.astype(np.int64))


@dataclass
class _Scene:
    """The classes, and the rows over the numbers of records of a class with each value (class by class).

    `worlds` are databases that fit all rows, found so far; what one respondent's search finds serves others too.
    """

    moments: Moments
    partition: Partition
    sums: RowSpace
    squares: RowSpace
    worlds: list[Ints] = field(default_factory=list)
    searches: int = 0

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """The least and the greatest value of each class."""
        places = self.partition.representative
        return self.moments.low[places], self.moments.high[places]

    @cached_property
    def values(self) -> Ints:
        """As many values of each class, from its least on, as the widest has."""
        low, high = self.ends
        return np.asarray(low[:, None] + np.arange(int((high - low).max(initial=0)) + 1))

    @property
    def width(self) -> int:
        """How many values of each class are looked at."""
        return int(self.values.shape[1])

    @cached_property
    def rows(self) -> sparse.csr_array:
        """What is released, and that every record has one value."""
        places = self.partition.representative
        parts = [
            (row.coefficients(places).astype(np.int64)[:, None] * amounts).reshape(1, -1)
            for space, amounts in ((self.sums, self.values), (self.squares, self.values**2))
            for row in space.rows()
            if int(np.abs(row.coefficients(places)).max(initial=0)) <= MOST_WEIGHT  # others are counted in bits
        ]
        each = np.kron(np.eye(len(places), dtype=np.int64), np.ones((1, self.width), dtype=np.int64))
        return sparse.csr_array(np.concatenate([*parts, each]))

    @cached_property
    def places(self) -> Ints:
        """The class and value of each unit, as one number."""
        columns = self.moments.columns
        value = np.asarray(columns.values.integers, dtype=np.int64) - self.moments.low[columns.column_of]
        return np.asarray(self.partition.class_of[columns.column_of] * self.width + value, dtype=np.int64)

    @cached_property
    def counts(self) -> Ints:
        """How many records of each class truly have each value."""
        return np.bincount(self.places, minlength=self.partition.n_classes * self.width)

    @cached_property
    def watched(self) -> Mask:
        """Classes that some row has and nobody knows beforehand, by name or because one value only is possible."""
        touched = np.zeros(self.rows.shape[1], dtype=bool)
        touched[self.rows[: self.rows.shape[0] - self.partition.n_classes].indices] = True
        hidden = ~self.moments.known[self.partition.representative] & (self.ends[0] < self.ends[1])
        return np.asarray(touched.reshape(-1, self.width).any(axis=1) & hidden, dtype=bool)

    @cached_property
    def most(self) -> Ints:
        """How many records of each class can have each value."""
        sizes = self.counts.reshape(-1, self.width).sum(axis=1)
        return np.where(self.values <= self.ends[1][:, None], sizes[:, None], 0).reshape(-1)

    def open_to(self, own: Ints) -> bool:
        """Whether for every class with one value only another database fits, to somebody who knows some records."""
        true = self.counts - own
        by_class = true.reshape(-1, self.width)
        same = (by_class.max(axis=1) == by_class.sum(axis=1)) & self.watched
        left = np.flatnonzero((by_class > 0) & same[:, None])
        for world in self.worlds:
            if bool((world >= own).all()):
                left = left[world[left] == self.counts[left]]
        rng = np.random.default_rng(len(true))  # only a search order; verdicts do not depend on it
        for _ in range(SWEEPS):
            if len(left) == 0:
                return True
            left = self._left(own, left, rng.random(len(left)))
        return all(len(self._left(own, np.array([place]), np.ones(1))) == 0 for place in left.tolist())

    def _left(self, own: Ints, watched: Ints, weights: Floats) -> Ints:
        """Those of some counts that are the same in a database found to differ in them; all if none is found."""
        self.searches += 1
        cost = np.zeros(len(own))
        cost[watched] = -weights - 0.1
        sides = np.asarray(self.rows @ self.counts, dtype=np.float64)
        model = LinearModel(
            cost,
            own.astype(np.float64),
            self.most.astype(np.float64),
            self.rows.astype(np.float64),
            sides,
            sides,
            integer=np.full(len(own), True),
            maximise=True,
        )
        try:
            found = solve(model, time_limit=SECONDS)
        except SolverError:
            return watched
        if not found.feasible:
            return watched
        world = np.rint(found.values).astype(np.int64)
        if bool(((world < own) | (world > self.most)).any()) or bool((self.rows @ (world - self.counts)).any()):
            return watched
        self.worlds.append(world)
        return np.asarray(watched[world[watched] == self.counts[watched]], dtype=np.int64)
