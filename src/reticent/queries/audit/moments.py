# SPDX-License-Identifier: Apache-2.0
"""What sums and sums of squares of few whole values fix only together: the numbers of records with each value.

How many records of a class have each value is all that such rows depend on, and they depend on it linearly. So databases
that fit all answers are whole numbers that fit linear rows, for anybody and for each respondent who leaves out what is
their own. A class whose records all have one value needs another such database, or each of them would be known.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import SolverError
from reticent.queries.audit.ends import Members
from reticent.queries.columns import Columns
from reticent.queries.policy import Bounds
from reticent.queries.refusals import StaffReason
from reticent.queries.rules import SetRules
from reticent.releases.rows import Partition
from reticent.releases.rowspace import RowSpace
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel

FEW_CLASSES = 40
FEW_VALUES = 16
ENOUGH = 3
SWEEPS = 6
SECONDS = 5.0
MOST_WEIGHT = 1_000
FIXED = StaffReason("bounds", "sums and sums of squares together would fix the values of a class of records")


@dataclass(frozen=True)
class Moments:
    """The check for one response of whole values between two bounds that everybody knows."""

    columns: Columns
    low: int
    high: int
    rules: SetRules
    known: Mask

    @classmethod
    def of(cls, columns: Columns, bounds: Bounds | None, rules: SetRules) -> "Moments | None":
        """For a response with such bounds; None for others."""
        if not columns.has_units or bounds is None or not bounds.integer or bounds.low is None or bounds.high is None:
            return None
        low, high = int(bounds.low), int(bounds.high)
        if not 1 < high - low < FEW_VALUES or columns.values.scale != 1:
            return None
        known = np.zeros(columns.n_columns, dtype=bool)
        known[columns.of_entities(rules.known)] = True
        return cls(columns, low, high, rules, known)

    def check(self, sums: RowSpace, squares: RowSpace) -> StaffReason | None:
        """Why what is released of sums and of sums of squares must not stand together, or None."""
        if sums.rank == 0 or squares.rank == 0:
            return None
        partition = _joint(sums.partition, squares.partition)
        if partition.n_classes > FEW_CLASSES:
            return None
        scene = _Scene(self, partition, sums, squares)
        return next((FIXED for own in self._viewers(partition) if not scene.open_to(own)), None)

    def _viewers(self, partition: Partition) -> Iterator[Ints]:
        """The units that somebody knows beforehand: nobody's, then those of each respondent."""
        yield np.zeros(0, dtype=np.int64)
        if self.rules.minimum >= ENOUGH:
            members = Members(self.columns, partition)
            for who in np.unique(self.columns.entity).tolist():
                if who not in self.rules.known:
                    yield members.units_of(who)


def _joint(one: Partition, other: Partition) -> Partition:
    """Columns that both treat alike."""
    pairs = one.class_of * other.n_classes + other.class_of
    _, first, class_of, size = np.unique(pairs, return_index=True, return_inverse=True, return_counts=True)
    return Partition(class_of.astype(np.int64), first.astype(np.int64), size.astype(np.int64))


@dataclass(frozen=True)
class _Scene:
    """The classes, and the rows over the numbers of records of a class with each value (class by class)."""

    moments: Moments
    partition: Partition
    sums: RowSpace
    squares: RowSpace

    @property
    def values(self) -> Ints:
        """All values."""
        return np.arange(self.moments.low, self.moments.high + 1)

    def rows(self) -> sparse.csr_array:
        """What is released, and that every record has one value."""
        places = self.partition.representative
        parts = [
            np.kron(row.coefficients(places)[None, :], amounts[None, :])
            for space, amounts in ((self.sums, self.values), (self.squares, self.values**2))
            for row in space.rows()
            if int(np.abs(row.coefficients(places)).max(initial=0)) <= MOST_WEIGHT  # others are counted in bits
        ]
        each = np.kron(np.eye(len(places), dtype=np.int64), np.ones((1, len(self.values)), dtype=np.int64))
        return sparse.csr_array(np.concatenate([*parts, each]))

    def counts(self, left_out: Ints) -> Ints:
        """How many records of each class truly have each value, without some."""
        columns = self.moments.columns
        at = self.partition.class_of[columns.column_of] * len(self.values)
        at += np.asarray(columns.values.integers, dtype=np.int64) - self.moments.low
        return np.bincount(np.delete(at, left_out), minlength=self.partition.n_classes * len(self.values))

    def open_to(self, own: Ints) -> bool:
        """Whether for every class with one value only another database fits, to somebody who knows some units."""
        rows, true = self.rows(), self.counts(own)
        by_class = true.reshape(-1, len(self.values))
        hidden = ~self.moments.known[self.partition.representative]
        touched = np.zeros(rows.shape[1], dtype=bool)
        touched[rows[: rows.shape[0] - self.partition.n_classes].indices] = True
        same = (by_class.max(axis=1) == by_class.sum(axis=1)) & (by_class.sum(axis=1) > 0) & hidden
        same &= touched.reshape(by_class.shape).any(axis=1)
        watched = np.flatnonzero((by_class > 0) & same[:, None])
        rng = np.random.default_rng(len(true))  # only a search order; verdicts do not depend on it
        for _ in range(SWEEPS):
            if len(watched) == 0:
                return True
            watched = self._left(rows, true, watched, rng.random(len(watched)))
        return all(len(self._left(rows, true, np.array([place]), np.ones(1))) == 0 for place in watched.tolist())

    def _left(self, rows: sparse.csr_array, true: Ints, watched: Ints, weights: Floats) -> Ints:
        """Those of some counts that are the same in a database found to differ in them; all if none is found."""
        cost = np.zeros(len(true))
        cost[watched] = -weights - 0.1
        sizes = np.repeat(true.reshape(-1, len(self.values)).sum(axis=1), len(self.values))
        sides = np.asarray(rows @ true, dtype=np.float64)
        model = LinearModel(
            cost,
            np.zeros(len(true)),
            sizes.astype(np.float64),
            rows.astype(np.float64),
            sides,
            sides,
            integer=np.full(len(true), True),
            maximise=True,
        )
        try:
            found = solve(model, time_limit=SECONDS)
        except SolverError:
            return watched
        if not found.feasible:
            return watched
        other = np.rint(found.values).astype(np.int64)
        if bool((other < 0).any()) or bool((rows @ (other - true)).any()):
            return watched
        return np.asarray(watched[other[watched] == true[watched]], dtype=np.int64)
