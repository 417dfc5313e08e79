# SPDX-License-Identifier: Apache-2.0
"""What follows from the released rows together with bounds that everybody knows (x ≥ 0, x ≤ 1, whole numbers).

Two questions, asked only after the linear algebra found nothing:

1. Is a class forced to its bound, so that each of its records is known (SUM{a, b} = 0 with x ≥ 0)? The true values are a
   feasible point. Only classes that truly lie at a bound can be forced there, and such a class is free exactly if some
   direction keeps all released rows and moves it inwards. If the classes strictly within their bounds span all rows, every
   class is free; else one linear program over directions finds all free classes at once. If none is forced, bounds imply
   no equation, so nothing else is fixed either.
2. Is an unsafe class narrowed below the policy's interval, or (for whole numbers) fixed? Databases that fit all releases
   are searched for, each showing for many classes at once that they are not; for the rest one program each, up to a cap.
   What cannot be checked is refused.

Solvers work with floating-point numbers, so what they find is only a proposal: a direction or a database counts if it fits
all rows and bounds in whole numbers (`witness`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.arrays import Floats
from reticent.base.errors import SolverError
from reticent.queries.audit.auditor import BoundStage
from reticent.queries.audit.bins import Bins
from reticent.queries.audit.witness import MOST_CLASSES, MOST_ROWS, ExactRows, candidates
from reticent.queries.columns import Columns
from reticent.queries.fixed import Whole, exact, fitting
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import StaffReason
from reticent.queries.rules import SetRules
from reticent.releases.rows import Partition, Proposal
from reticent.releases.rowspace import RowSpace
from reticent.solve.highs import solve
from reticent.solve.model import INFINITE, LinearModel, Solution, Status

MOST_PROBES = 200
SWEEPS = 12
SWEEP_SECONDS = 5.0
FREE_SECONDS = 30.0
PROBE_SECONDS = 5.0
FAR = 1_000.0
TINY = 1e-6
SMALLEST, LARGEST = Fraction(1, 1000), 10**12
KEPT_DIGITS = 6
FINE = 10**6
MOST_WEIGHT = 1_000
FEW_VALUES = 16
FORCED = StaffReason("bounds", "known bounds would fix the values of a class of records")
NARROW = StaffReason("interval", "known bounds would narrow an unsafe class too far")
UNCHECKED = StaffReason("bounds", "the check against known bounds could not be finished")


def bound_stage(
    columns: Columns, policy: Policy, key: tuple[str, ...], rules: SetRules, bins: Bins | None = None
) -> BoundStage | None:
    """The check for one response, or None where no bound is known for it, nor the bin that each value is in."""
    bounds = _bounds_of(policy, key)
    if bounds is None and bins is None:
        return None
    return _stage(columns, bounds or Bounds(), policy.interval, rules, bins)


def _stage(columns: Columns, bounds: Bounds, interval: float, rules: SetRules, bins: Bins | None) -> "_Stage":
    known = np.zeros(columns.n_columns, dtype=bool)
    known[columns.of_entities(rules.known)] = True
    nowhere = [None] * columns.n_columns
    lows, highs = (nowhere, nowhere) if bins is None else bins
    low = _Ends.of(columns, [_tighter(max, bounds.low, own) for own in lows])
    high = _Ends.of(columns, [_tighter(min, bounds.high, own) for own in highs])
    return _Stage(columns, bounds, interval, rules, known, low, high)


def _tighter(choose: Callable[..., Fraction], declared: float | None, own: Fraction | None) -> Fraction | None:
    """The tighter one of a declared bound and the end of a bin."""
    there = [end for end in (None if declared is None else exact(declared), own) if end is not None]
    return choose(there) if there else None


def guessed_stage(
    columns: Columns, policy: Policy, key: tuple[str, ...], rules: SetRules, bins: Bins | None = None
) -> BoundStage | None:
    """A check against what anybody guesses of few whole values, from the least to the greatest; None for other responses.

    It sees to classes that no rule lets anybody know the total of, while there are few; others may be at their bounds.
    """
    declared = policy.bounds.get(key[0], Bounds())
    if len(key) > 1 or declared.integer or columns.n_columns == 0 or columns.values.scale != 1:
        return None
    least, greatest = (int(end) for end in (columns.extremes[0].min(), columns.extremes[1].max()))
    if not 0 < greatest - least < FEW_VALUES:
        return None
    return _Guess(_stage(columns, Bounds(float(least), float(greatest), True), 0.0, rules, bins))


def _bounds_of(policy: Policy, key: tuple[str, ...]) -> Bounds | None:
    if len(key) == 1:
        return policy.bounds.get(key[0])
    if key[0] != key[1]:
        return None
    own = policy.bounds.get(key[0], Bounds())
    ends = [own.low, own.high]
    high = max(abs(e) for e in ends if e is not None) ** 2 if None not in ends else None
    return Bounds(0.0, high, own.integer)


@dataclass(frozen=True)
class _Ends:
    """For each column the least (or greatest) total that its values can have, and whether there is one."""

    amounts: Whole
    there: NDArray[np.bool_]
    denominator: int

    @classmethod
    def of(cls, columns: Columns, ends: Sequence[Fraction | None]) -> "_Ends":
        """By the bound of each column's values, in units of the values' scale over a common denominator."""
        denominator = lcm(1, *{end.denominator for end in ends if end is not None})
        each = [0 if end is None else int(end * denominator) * columns.values.scale for end in ends]
        there = np.array([end is not None for end in ends], dtype=bool)
        amounts = np.array(each, dtype=object) * columns.counts.astype(object)
        return cls(fitting(amounts), there, denominator)

    def by_class(self, partition: Partition) -> "_Ends":
        """The same for classes; a class with values that have no bound has none."""
        there = _by_class((~self.there).astype(np.int64), partition) == 0
        return _Ends(_by_class(self.amounts, partition), np.asarray(there, dtype=bool), self.denominator)

    def reached(self, totals: Whole) -> NDArray[np.bool_]:
        """Where totals are at their bound."""
        at = totals.astype(object) * self.denominator == self.amounts
        return np.asarray(self.there & np.asarray(at, dtype=bool), dtype=bool)


@dataclass(frozen=True)
class _Stage:
    columns: Columns
    bounds: Bounds
    interval: float
    rules: SetRules
    known: NDArray[np.bool_]
    low: _Ends
    high: _Ends

    def check(self, space: RowSpace, proposal: Proposal) -> StaffReason | None:
        """Why the proposed row must not be released, or None."""
        partition = proposal.partition
        totals, low, high = self._classes(partition)
        hidden = ~self.known[partition.representative]
        at_low, at_high = low.reached(totals) & hidden, high.reached(totals) & hidden
        pinned = at_low | at_high
        forced = bool(pinned.any()) and not space.free_basis(proposal, ~pinned)
        if not (self.interval > 0 or self.bounds.integer or forced):
            return None
        rows = ExactRows.of(space, proposal)
        # no solver finds whole numbers that fit weights of many digits: what these tell is counted in bits (`digits`)
        heavy = rows.largest > MOST_WEIGHT
        whole = self.bounds.integer and not heavy
        touched = np.zeros(partition.n_classes, dtype=bool)
        touched[rows.matrix.indices] = True
        pinned &= touched
        if forced and pinned.any():
            free = _free(rows, at_low & touched, at_high & touched)
            if free is None:
                return UNCHECKED
            if bool((pinned & ~free).any()):
                return FORCED
        scene = _Scene(partition, totals, (low, high), touched & hidden, pinned, self.columns.values.scale, whole)
        reason = self._probe(rows, scene) if self.interval > 0 or whole else None
        if reason is None and self.bounds.integer and heavy:
            return replace(self, interval=0.0)._probe(rows.without_heavy(MOST_WEIGHT), replace(scene, whole=True))
        return reason

    def probe_unsafe(self, rows: ExactRows, partition: Partition) -> StaffReason | None:
        """Show for each unsafe class that another total fits, in whole numbers."""
        totals, low, high = self._classes(partition)
        touched = np.zeros(partition.n_classes, dtype=bool)
        touched[rows.matrix.indices] = True
        touched &= ~self.known[partition.representative]
        nowhere = np.zeros(partition.n_classes, dtype=bool)
        return self._probe(
            rows, _Scene(partition, totals, (low, high), touched, nowhere, self.columns.values.scale, True)
        )

    def interior(self, partition: Partition) -> NDArray[np.bool_]:
        """Classes whose true total lies strictly within its bounds."""
        totals, low, high = self._classes(partition)
        return ~(low.reached(totals) | high.reached(totals))

    def _classes(self, partition: Partition) -> tuple[Whole, _Ends, _Ends]:
        """The true total of each class, and the least and the greatest that it can have."""
        return _by_class(self.columns.totals, partition), self.low.by_class(partition), self.high.by_class(partition)

    def _probe(self, rows: ExactRows, scene: "_Scene") -> StaffReason | None:
        """Show for each unsafe class a database, as good as the true one, in which it is far enough from the truth."""
        unsafe = np.zeros(len(scene.totals), dtype=bool)
        for j in np.flatnonzero(scene.touched).tolist():
            unsafe[j] = self.rules.broken(self.columns, scene.partition.class_of == j) is not None
        needs = _Needs(scene, unsafe, self.interval, whole=scene.whole)
        low, high = scene.box
        values = scene.values
        rng = np.random.default_rng(len(values))  # only a search order; verdicts do not depend on it
        room = np.ceil(10.0 + np.abs(values) * (1 + self.interval / 50))
        near = (np.maximum(low, values - room), np.minimum(high, values + room))
        for _ in range(SWEEPS):
            if needs.met:
                return None
            cost = np.zeros(len(values))
            cost[needs.open] = rng.choice((-1.0, 1.0), len(needs.open))
            found = self._solve(rows, cost, scene, near, limit=SWEEP_SECONDS)
            if found is not None and found.feasible:
                self._take(rows, scene, needs, found.values)
        if len(needs.open) > MOST_PROBES:
            return UNCHECKED
        return self._probe_each(rows, scene, needs, (low, high))

    def _probe_each(
        self, rows: ExactRows, scene: "_Scene", needs: "_Needs", box: tuple[Floats, Floats]
    ) -> StaffReason | None:
        for j in needs.open.tolist():
            for sign in (-1.0, 1.0):
                cost = np.zeros(len(scene.values))
                cost[j] = sign
                low, high = box[0].copy(), box[1].copy()
                reach = np.ceil(FAR + 10 * abs(scene.values[j]))  # so far is far enough: no program is unbounded
                low[j] = max(low[j], scene.values[j] - reach)
                high[j] = min(high[j], scene.values[j] + reach)
                found = self._solve(rows, cost, scene, (low, high), limit=PROBE_SECONDS)
                if found is None or found.status is Status.STOPPED:
                    return UNCHECKED
                if found.feasible:
                    self._take(rows, scene, needs, found.values)
            if j in needs.open:
                return NARROW
        return None

    def _take(self, rows: ExactRows, scene: "_Scene", needs: "_Needs", solution: Floats) -> None:
        """Learn from another database, if it fits all releases and the bounds exactly."""
        low, high = scene.box
        room = np.minimum(solution - low, high - solution)
        size = Fraction(scene.scale) * scene.unit / scene.grid
        for found, common in candidates(rows, (solution - scene.values) * scene.grid, np.where(room > TINY, room, 0.0)):
            step, denominator = found * size.numerator, common * size.denominator
            if self._within(scene, step, denominator) and rows.vanish(step):
                needs.take(step, denominator)
                return

    def _within(self, scene: "_Scene", step: Whole, denominator: int) -> bool:
        """Whether true totals plus step / denominator keep the bounds (and are whole)."""
        if scene.whole and bool((step % (denominator * scene.scale)).any()):
            return False
        there = scene.totals.astype(object) * denominator + step
        low, high = scene.ends
        below = low.there & np.asarray(there * low.denominator < low.amounts.astype(object) * denominator, dtype=bool)
        above = high.there & np.asarray(
            there * high.denominator > high.amounts.astype(object) * denominator, dtype=bool
        )
        return not bool((below | above).any())

    def _solve(
        self, rows: ExactRows, cost: Floats, scene: "_Scene", box: tuple[Floats, Floats], *, limit: float
    ) -> Solution | None:
        matrix = rows.floats
        sides = np.asarray(matrix @ scene.values, dtype=np.float64)
        whole = np.full(len(cost), True) if scene.whole and scene.unit == 1 else None
        model = LinearModel(cost, box[0], box[1], matrix, sides, sides, integer=whole, maximise=True)
        try:
            return solve(model, time_limit=limit)
        except SolverError:
            return None


@dataclass(frozen=True)
class _Guess:
    """The part of a check that is about classes which are unsafe, in whole numbers."""

    stage: _Stage

    def check(self, space: RowSpace, proposal: Proposal) -> StaffReason | None:
        """Why the proposed row must not be released, or None."""
        if space.rank >= MOST_ROWS or proposal.partition.n_classes > MOST_CLASSES:
            return None
        rows = ExactRows.of(space, proposal)
        light = rows if rows.largest <= MOST_WEIGHT else rows.without_heavy(MOST_WEIGHT)
        return self.stage.probe_unsafe(light, proposal.partition)

    def interior(self, partition: Partition) -> NDArray[np.bool_]:
        """Classes whose true total lies strictly within its bounds."""
        return self.stage.interior(partition)


@dataclass(frozen=True)
class _Scene:
    """The classes as they would be after the release, with their true totals; `pinned` ones lie at a bound."""

    partition: Partition
    totals: Whole
    ends: tuple[_Ends, _Ends]
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
        for own, nowhere in zip(self.ends, (-INFINITE, INFINITE)):
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


class _Needs:
    """Which classes still lack a database: low enough and high enough (unsafe ones), or different (whole numbers).

    A safe class at its bound needs a different one too: its records would be known one by one.
    """

    def __init__(self, scene: _Scene, unsafe: NDArray[np.bool_], interval: float, *, whole: bool) -> None:
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


def _by_class(amounts: Whole, partition: Partition) -> Whole:
    """Exact totals of each class."""
    out = np.zeros(partition.n_classes, dtype=amounts.dtype)
    np.add.at(out, partition.class_of, amounts)
    return out


def _free(rows: ExactRows, at_low: NDArray[np.bool_], at_high: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Classes at a bound that some direction moves inwards while every released row stays the same.

    max Σ t with matrix·d = 0, t ≤ d (at the lower bound) or t ≤ −d (at the upper), 0 ≤ t ≤ 1. Directions form a cone, so
    at the optimum every t is 0 or 1. The direction found is checked in whole numbers; None if no exact one is found.
    """
    matrix = rows.floats
    n = matrix.shape[1]
    pinned = np.flatnonzero(at_low | at_high)
    k = len(pinned)
    sign = np.where(at_low[pinned], 1.0, -1.0)
    link = sparse.csr_array((sign, (np.arange(k), pinned)), shape=(k, n))
    whole = sparse.vstack(
        (sparse.hstack((matrix, sparse.csr_array((matrix.shape[0], k)))), sparse.hstack((link, -sparse.eye_array(k)))),
        format="csr",
    )
    both = at_low & at_high
    lower = np.where(at_low, 0.0, -INFINITE)
    upper = np.where(at_high, 0.0, INFINITE)
    lower[both], upper[both] = 0.0, 0.0
    model = LinearModel(
        np.concatenate((np.zeros(n), np.ones(k))),
        np.concatenate((lower, np.zeros(k))),
        np.concatenate((upper, np.ones(k))),
        sparse.csr_array(whole),
        np.zeros(matrix.shape[0] + k),
        np.concatenate((np.zeros(matrix.shape[0]), np.full(k, INFINITE))),
        maximise=True,
    )
    try:
        found = solve(model, time_limit=FREE_SECONDS)
    except SolverError:
        return None
    if found.status is not Status.OPTIMAL:
        return None
    direction = found.values[:n]
    for step, _ in candidates(rows, direction, np.where(np.abs(direction) > TINY, np.abs(direction), 0.0)):
        inwards = np.asarray((at_low & (step > 0)) | (at_high & (step < 0)), dtype=bool)
        outwards = np.asarray((at_low & (step < 0)) | (at_high & (step > 0)), dtype=bool)
        if not outwards.any() and rows.vanish(step):
            return inwards
    return None
