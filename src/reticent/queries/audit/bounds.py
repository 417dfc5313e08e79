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

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.arrays import Floats
from reticent.base.errors import SolverError
from reticent.queries.audit.auditor import BoundStage
from reticent.queries.audit.bins import Bins
from reticent.queries.audit.ends import Ends, by_class
from reticent.queries.audit.sight import Needs, Scene, Sight, View
from reticent.queries.audit.witness import ExactRows, candidates
from reticent.queries.columns import Columns
from reticent.queries.fixed import Whole, exact
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import StaffReason
from reticent.queries.rules import SetRules
from reticent.releases.freedom import FreeBasis
from reticent.releases.rows import Partition, Proposal
from reticent.releases.rowspace import RowSpace
from reticent.solve.highs import HighsSession
from reticent.solve.model import INFINITE, LinearModel, Solution, Status

MOST_PROBES = 200
SWEEPS = 12
MOST_NODES, MOST_STEPS = 1_000, 200_000
"""A program ends after this many nodes or steps of the simplex method, never after seconds: no verdict depends on the machine."""
FAR = 1_000.0
TINY = 1e-6
MOST_WEIGHT = 1_000
ENOUGH = 3
"""Fewest respondents of a set of which nobody may compute another."""
FEW_VALUES = 16
FORCED = StaffReason("bounds", "known bounds would fix the values of a class of records")
NARROW = StaffReason("interval", "known bounds would narrow an unsafe class too far")
UNCHECKED = StaffReason("bounds", "the check against known bounds could not be finished")


def bound_stage(
    columns: Columns, declared: Bounds | None, interval: float, rules: SetRules, bins: Bins | None = None
) -> BoundStage | None:
    """The check for one response (or its squares), or None where no bound is known for it, nor the bin that each value is in."""
    bounds = _squared(declared or Bounds()) if rules.squares else declared
    if columns.factors or (bounds is None and bins is None):
        return None
    return _stage(columns, bounds or Bounds(), interval, rules, bins)


def _stage(columns: Columns, bounds: Bounds, interval: float, rules: SetRules, bins: Bins | None) -> "_Stage":
    known = np.zeros(columns.n_columns, dtype=bool)
    known[columns.of_entities(rules.known)] = True
    low, high = (Ends.of(columns, ends) for ends in known_ends(columns, bounds, bins))
    return _Stage(columns, bounds, interval, rules, known, low, high)


def known_ends(columns: Columns, bounds: Bounds, bins: Bins | None) -> tuple[list[Fraction | None], ...]:
    """Between which values those of each column lie, by declared bounds and the bins they are in."""
    low, high = (None if end is None else exact(end) for end in (bounds.low, bounds.high))
    if bins is None:
        return [low] * columns.n_columns, [high] * columns.n_columns
    return [_tighter(max, low, own) for own in bins[0]], [_tighter(min, high, own) for own in bins[1]]


def _tighter(choose: Callable[..., Fraction], declared: Fraction | None, own: Fraction | None) -> Fraction | None:
    """The tighter one of a declared bound and the end of a bin."""
    there = [end for end in (declared, own) if end is not None]
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


def _squared(own: Bounds) -> Bounds:
    """What is known of squares."""
    ends = [own.low, own.high]
    high = max(abs(e) for e in ends if e is not None) ** 2 if None not in ends else None
    return Bounds(0.0, high, own.integer)


@dataclass(frozen=True)
class _Stage:
    columns: Columns
    bounds: Bounds
    interval: float
    rules: SetRules
    known: NDArray[np.bool_]
    low: Ends
    high: Ends

    def check(self, space: RowSpace, proposal: Proposal) -> StaffReason | None:
        """Why the proposed row must not be released, or None."""
        view = self.view(space, proposal)
        return self._check(view, view.anybody) or self._check_insiders(view)

    def view(self, space: RowSpace, proposal: Proposal) -> View:
        """The rows as they would be, and who sees what of them."""
        return View(self.columns, (self.low, self.high), self.interval, space, proposal)

    def _check(self, view: View, sight: Sight) -> StaffReason | None:
        known = self.known[view.partition.representative]
        at_low, at_high = sight.low.reached(view.totals) & ~known, sight.high.reached(view.totals) & ~known
        fixed = at_low | at_high
        pinned = fixed & ~sight.own
        forced = bool(pinned.any()) and FreeBasis.found(view.space, view.proposal, ~fixed) is None
        if not (sight.interval > 0 or self.bounds.integer or forced):
            return None
        rows, touched = view.rows, view.touched
        pinned &= touched
        if forced and pinned.any():
            free = _free(rows, at_low & touched, at_high & touched)
            if free is None:
                return UNCHECKED
            if bool((pinned & ~free).any()):
                return FORCED
        if sight.inside and not view.few:
            return None
        # no solver finds whole numbers that fit weights of many digits: what these tell is counted in bits (`digits`)
        heavy = rows.largest > MOST_WEIGHT
        whole = self.bounds.integer and not heavy
        seen = touched & ~known & ~sight.own
        scene = Scene(view.partition, view.totals, sight, seen, pinned, self.columns.values.scale, whole)
        reason = self._probe(rows, scene) if sight.interval > 0 or whole else None
        if reason is None and self.bounds.integer and heavy:
            scene = replace(scene, whole=True, sight=replace(sight, interval=0.0))
            return self._probe(rows.without_heavy(MOST_WEIGHT), scene)
        return reason

    def _check_insiders(self, view: View) -> StaffReason | None:
        """The same for everybody who knows more than others: their own values, and what follows from them with bounds."""
        if self.rules.minimum - int(self.rules.squares) < ENOUGH:
            return None
        if not self.columns.has_units:
            return UNCHECKED if self._one_beyond(view) or self._one_alone(view) else None
        known = self.known[view.partition.representative]
        pins = tuple(end.reached(view.totals) & ~known for end in (view.anybody.low, view.anybody.high))
        soles = tuple(np.where(known, -1, view.members.sole(beyond)) for beyond in self._beyond)
        inside = _Insiders(view, pins, soles)
        if self.bounds.integer and view.few:
            people = inside.sole | view.members.of(view.members.alone | view.members.two)
            people |= self._crowd(view, people | self.rules.known, np.logical_or.reduce(pins))
        elif inside.any():
            people = inside.suspects()
        else:
            return None
        people -= self.rules.known
        if len(people) > MOST_PROBES:
            return UNCHECKED
        return next((why for who in sorted(people) if (why := self._check(view, view.of(who))) is not None), None)

    def _crowd(self, view: View, others: set[int], pinned: NDArray[np.bool_]) -> set[int]:
        """Those of the respondents besides some who may learn in whole numbers what others have, one of each kind."""
        if not bool(((pinned | view.members.alone) & view.touched).any()):
            return set()
        sight = view.crowd(others)
        if sight is not None and self._check(view, sight) is None:
            return set()
        return view.members.unlike(~np.isin(self.columns.entity, np.fromiter(others, np.int64, len(others))))

    @cached_property
    def _beyond(self) -> tuple[NDArray[np.bool_], ...]:
        """Which units are not at their low and at their high end."""
        return tuple(end.beyond(self.columns) for end in (self.low, self.high))

    def _one_beyond(self, view: View) -> bool:
        """Whether in some class one record alone is not at a bound, by totals and extremes: in an engine there are no units."""
        for end, extreme in zip((self.low, self.high), self.columns.extremes[::-1]):
            away = np.abs(self.columns.totals.astype(object) * end.denominator - end.amounts.astype(object))
            bound = end.amounts.astype(object) // np.maximum(self.columns.counts, 1).astype(object)
            most = np.abs(extreme.astype(object) * end.denominator - bound)
            one, more = (away > 0) & (away == most), ~end.there | (away != most)
            number = by_class(np.where(more, 2, one.astype(np.int64)).astype(np.int64), view.partition)
            several = by_class(self.columns.counts, view.partition) > 1
            if bool(((number == 1) & several & view.touched).any()):
                return True
        return False

    def _one_alone(self, view: View) -> bool:
        """Whether somebody who has a class alone may learn of another class that it lies at its bound."""
        known = self.known[view.partition.representative]
        pins = [end.reached(view.totals) & ~known for end in (view.anybody.low, view.anybody.high)]
        alone = by_class(self.columns.counts, view.partition) == 1
        pinned = pins[0] | pins[1]
        if not (bool(pinned.any()) and bool(alone.any())):
            return False
        basis = FreeBasis.found(view.space, view.proposal, ~pinned)
        if basis is not None:
            return not all(basis.without(np.array([j])) for j in basis.classes.tolist() if alone[j])
        at_low, at_high = ((mask | alone) & view.touched for mask in pins)
        moved = _free(view.rows, at_low, at_high)
        return moved is None or bool((pinned & ~alone & view.touched & ~moved).any())

    def probe_unsafe(self, view: View, rows: ExactRows) -> StaffReason | None:
        """Show for each unsafe class that another total fits, in whole numbers."""
        touched = view.touched & ~self.known[view.partition.representative]
        nowhere = np.zeros(view.partition.n_classes, dtype=bool)
        scale = self.columns.values.scale
        return self._probe(rows, Scene(view.partition, view.totals, view.anybody, touched, nowhere, scale, True))

    def interior(self, partition: Partition) -> NDArray[np.bool_]:
        """Classes whose true total lies strictly within its bounds."""
        totals, low, high = self.classes(partition)
        return ~(low.reached(totals) | high.reached(totals))

    def classes(self, partition: Partition) -> tuple[Whole, Ends, Ends]:
        """The true total of each class, and the least and the greatest that it can have."""
        return by_class(self.columns.totals, partition), self.low.by_class(partition), self.high.by_class(partition)

    def _probe(self, rows: ExactRows, scene: Scene) -> StaffReason | None:
        """Show for each unsafe class a database, as good as the true one, in which it is far enough from the truth."""
        unsafe = self._unsafe(scene)
        needs = Needs(scene, unsafe, scene.sight.interval, whole=scene.whole)
        low, high = scene.box
        values = scene.values
        rng = np.random.default_rng(len(values))  # only a search order; verdicts do not depend on it
        room = np.ceil(10.0 + np.abs(values) * (1 + scene.sight.interval / 50))
        near = (np.maximum(low, values - room), np.minimum(high, values + room))
        for _ in range(SWEEPS):
            if needs.met:
                return None
            cost = np.zeros(len(values))
            cost[needs.open] = rng.choice((-1.0, 1.0), len(needs.open))
            found = self._solve(rows, cost, scene, near)
            if found is not None and found.feasible:
                self._take(rows, scene, needs, found.values)
        if len(needs.open) > MOST_PROBES:
            return UNCHECKED
        return self._probe_each(rows, scene, needs, (low, high))

    def _unsafe(self, scene: Scene) -> NDArray[np.bool_]:
        """Classes whose total must not be known; to an insider, what one other respondent has in it."""
        if scene.sight.inside:
            return scene.touched & scene.sight.one_other
        unsafe = np.zeros(len(scene.totals), dtype=bool)
        for j in np.flatnonzero(scene.touched).tolist():
            unsafe[j] = self.rules.broken(self.columns, scene.partition.class_of == j) is not None
        return unsafe

    def _probe_each(
        self, rows: ExactRows, scene: Scene, needs: Needs, box: tuple[Floats, Floats]
    ) -> StaffReason | None:
        for j in needs.open.tolist():
            for sign in (-1.0, 1.0):
                cost = np.zeros(len(scene.values))
                cost[j] = sign
                low, high = box[0].copy(), box[1].copy()
                reach = np.ceil(FAR + 10 * abs(scene.values[j]))  # so far is far enough: no program is unbounded
                low[j] = max(low[j], scene.values[j] - reach)
                high[j] = min(high[j], scene.values[j] + reach)
                found = self._solve(rows, cost, scene, (low, high))
                if found is None or found.status is Status.STOPPED:
                    return UNCHECKED
                if found.feasible:
                    self._take(rows, scene, needs, found.values)
            if j in needs.open:
                return NARROW
        return None

    def _take(self, rows: ExactRows, scene: Scene, needs: Needs, solution: Floats) -> None:
        """Learn from another database, if it fits all releases and the bounds exactly."""
        low, high = scene.box
        room = np.minimum(solution - low, high - solution)
        size = Fraction(scene.scale) * scene.unit / scene.grid
        for found, common in candidates(rows, (solution - scene.values) * scene.grid, np.where(room > TINY, room, 0.0)):
            step, denominator = found * size.numerator, common * size.denominator
            if self._within(scene, step, denominator) and rows.vanish(step):
                needs.take(step, denominator)
                return

    def _within(self, scene: Scene, step: Whole, denominator: int) -> bool:
        """Whether true totals plus step / denominator keep the bounds (and are whole)."""
        if scene.whole and bool((step % (denominator * scene.scale)).any()):
            return False
        there = scene.totals.astype(object) * denominator + step
        low, high = scene.sight.low, scene.sight.high
        below = low.there & np.asarray(there * low.denominator < low.amounts.astype(object) * denominator, dtype=bool)
        above = high.there & np.asarray(
            there * high.denominator > high.amounts.astype(object) * denominator, dtype=bool
        )
        return not bool((below | above).any())

    def _solve(self, rows: ExactRows, cost: Floats, scene: Scene, box: tuple[Floats, Floats]) -> Solution | None:
        matrix = rows.floats
        sides = np.asarray(matrix @ scene.values, dtype=np.float64)
        whole = np.full(len(cost), True) if scene.whole and scene.unit == 1 else None
        model = LinearModel(cost, box[0], box[1], matrix, sides, sides, integer=whole, maximise=True)
        return _solved(model)


@dataclass(frozen=True)
class _Insiders:
    """Respondents who learn more from bounds than others: who alone is not at a bound in a class, or has a class alone.

    `pins` are the classes that lie at their low and at their high end, `soles` those who are alone beyond it in a class.
    """

    view: View
    pins: tuple[NDArray[np.bool_], ...]
    soles: tuple[NDArray[np.int64], ...]

    @property
    def sole(self) -> set[int]:
        """Those who are alone beyond a bound."""
        return {who for found in self.soles for who in found[found >= 0].tolist()}

    def any(self) -> bool:
        """Whether bounds matter to anybody."""
        return any(bool(mask.any()) for mask in self.pins) or bool(self.sole)

    def suspects(self) -> set[int]:
        """Those for whom a program of their own is needed: nothing quicker shows that they learn nothing."""
        pinned = np.logical_or.reduce(self.pins)
        basis = FreeBasis.found(self.view.space, self.view.proposal, ~pinned)
        return self._not_moved() if basis is None else self._in_basis(basis, watching=bool(pinned.any()))

    def _in_basis(self, basis: FreeBasis, *, watching: bool) -> set[int]:
        """Who would have to do without classes of the basis for which no others are found; `watching`: all have a stake."""
        alone = np.where(self.view.members.alone, self.view.members.ends[0], -1)
        owners = np.stack((*self.soles, alone))
        people = set(owners[:, basis.classes].ravel().tolist()) - {-1}
        if not watching:
            people &= self.sole
        return {who for who in people if not basis.without(np.flatnonzero((owners == who).any(axis=0)))}

    def _not_moved(self) -> set[int]:
        """Who is left after one program for all insiders together: what moves under all their conditions moves for each."""
        alone = self.view.members.alone
        at_low, at_high = (mask | (who >= 0) | alone for mask, who in zip(self.pins, self.soles))
        touched = self.view.touched
        moved = _free(self.view.rows, at_low & touched, at_high & touched)
        if moved is None or bool((np.logical_or.reduce(self.pins) & touched & ~moved).any()):
            return self.sole | self.view.members.of(alone)
        return {who for found in self.soles for who in found[(found >= 0) & touched & ~moved].tolist()}


@dataclass(frozen=True)
class _Guess:
    """The part of a check that is about classes which are unsafe, in whole numbers."""

    stage: _Stage

    def check(self, space: RowSpace, proposal: Proposal) -> StaffReason | None:
        """Why the proposed row must not be released, or None."""
        view = self.stage.view(space, proposal)
        if not view.small:
            return None
        light = view.rows if view.rows.largest <= MOST_WEIGHT else view.rows.without_heavy(MOST_WEIGHT)
        return self.stage.probe_unsafe(view, light)

    def interior(self, partition: Partition) -> NDArray[np.bool_]:
        """Classes whose true total lies strictly within its bounds."""
        return self.stage.interior(partition)


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
    found = _solved(model)
    if found is None or found.status is not Status.OPTIMAL:
        return None
    direction = found.values[:n]
    for step, _ in candidates(rows, direction, np.where(np.abs(direction) > TINY, np.abs(direction), 0.0)):
        inwards = np.asarray((at_low & (step > 0)) | (at_high & (step < 0)), dtype=bool)
        outwards = np.asarray((at_low & (step < 0)) | (at_high & (step > 0)), dtype=bool)
        if not outwards.any() and rows.vanish(step):
            return inwards
    return None


def _solved(model: LinearModel) -> Solution | None:
    """What the solver finds within its steps; None where it fails."""
    session = HighsSession(model, presolve=True)
    session.set_option("mip_rel_gap", 0.0)
    session.set_option("mip_max_nodes", MOST_NODES)
    session.set_option("simplex_iteration_limit", MOST_STEPS)
    try:
        return session.solve()
    except SolverError:
        return None
