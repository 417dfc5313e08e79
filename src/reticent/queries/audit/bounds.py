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
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.errors import SolverError
from reticent.queries.audit.auditor import BoundStage
from reticent.queries.audit.rowspace import Partition, Proposal, RowSpace
from reticent.queries.columns import Columns
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import StaffReason
from reticent.queries.rules import SetRules
from reticent.solve.highs import solve
from reticent.solve.model import INFINITE, Floats, LinearModel, Solution, Status

MOST_PROBES = 200
SWEEPS = 12
SWEEP_SECONDS = 5.0
FREE_SECONDS = 30.0
PROBE_SECONDS = 5.0
SLACK = 1e-7
HALF = 0.5
FORCED = StaffReason("bounds", "known bounds would fix the values of a class of records")
NARROW = StaffReason("interval", "known bounds would narrow an unsafe class too far")
UNCHECKED = StaffReason("bounds", "the check against known bounds could not be finished")


def bound_stage(columns: Columns, policy: Policy, key: tuple[str, ...], rules: SetRules) -> BoundStage | None:
    """The check for one response, or None where no bound is known for it."""
    bounds = _bounds_of(policy, key)
    if bounds is None:
        return None
    known = np.zeros(columns.n_columns, dtype=bool)
    known[columns.of_entities(rules.known)] = True
    return _Stage(columns, bounds, policy.interval, rules, known)


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
class _Stage:
    columns: Columns
    bounds: Bounds
    interval: float
    rules: SetRules
    known: NDArray[np.bool_]

    def check(self, space: RowSpace, proposal: Proposal) -> StaffReason | None:
        """Why the proposed row must not be released, or None."""
        partition = proposal.partition
        totals = _by_class(self.columns.totals, partition)
        counts = _by_class(self.columns.counts, partition)
        hidden = ~self.known[partition.representative]
        at_low = self._at(self.bounds.low, totals, counts) & hidden
        at_high = self._at(self.bounds.high, totals, counts) & hidden
        probing = self.interval > 0 or self.bounds.integer
        if space.free_basis(proposal, ~(at_low | at_high)):
            at_low, at_high = np.zeros_like(at_low), np.zeros_like(at_high)
        if not (probing or at_low.any() or at_high.any()):
            return None
        matrix = _matrix(space, proposal)
        touched = np.zeros(partition.n_classes, dtype=bool)
        touched[matrix.indices] = True
        at_low, at_high = at_low & touched, at_high & touched
        if at_low.any() or at_high.any():
            free = _free(matrix, at_low, at_high)
            if free is None:
                return UNCHECKED
            if bool(((at_low | at_high) & ~free).any()):
                return FORCED
        if not probing:
            return None
        values = np.asarray(totals / self.columns.values.scale, dtype=np.float64)
        return self._probe(matrix, _Scene(partition, values, counts, touched & hidden))

    def interior(self, partition: Partition) -> NDArray[np.bool_]:
        """Classes whose true total lies strictly within its bounds."""
        totals = _by_class(self.columns.totals, partition)
        counts = _by_class(self.columns.counts, partition)
        return ~(self._at(self.bounds.low, totals, counts) | self._at(self.bounds.high, totals, counts))

    def _at(self, bound: float | None, totals: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Classes whose true total is the least (or most) that the bound allows."""
        if bound is None:
            return np.zeros(len(totals), dtype=bool)
        limit = Fraction(bound) * self.columns.values.scale
        return np.asarray(totals * limit.denominator == counts * limit.numerator, dtype=bool)

    def _probe(self, matrix: sparse.csr_array, scene: "_Scene") -> StaffReason | None:
        """Show for each unsafe class a database, as good as the true one, in which it is far enough from the truth."""
        watched = [
            j
            for j in np.flatnonzero(scene.touched).tolist()
            if self.rules.broken(self.columns, scene.partition.class_of == j) is not None
        ]
        if not watched:
            return None
        needs = _Needs(np.array(watched), scene.values, self.interval, whole=self.bounds.integer)
        low, high = self._box(scene)
        rng = np.random.default_rng(len(scene.values))  # only a search order; verdicts do not depend on it
        for _ in range(SWEEPS):
            if needs.met:
                return None
            cost = np.zeros(len(scene.values))
            cost[needs.open] = rng.choice((-1.0, 1.0), len(needs.open))
            room = 10.0 + np.abs(scene.values) * (1 + self.interval / 50)
            near = (np.maximum(low, scene.values - room), np.minimum(high, scene.values + room))
            found = self._solve(matrix, cost, scene, near, limit=SWEEP_SECONDS)
            if found is not None and found.feasible:
                needs.take(found.values)
        if len(needs.open) > MOST_PROBES:
            return UNCHECKED
        return self._probe_each(matrix, scene, needs, (low, high))

    def _probe_each(
        self, matrix: sparse.csr_array, scene: "_Scene", needs: "_Needs", box: tuple[Floats, Floats]
    ) -> StaffReason | None:
        for j in needs.open:
            for sign in (-1.0, 1.0):
                cost = np.zeros(len(scene.values))
                cost[j] = sign
                found = self._solve(matrix, cost, scene, box, limit=PROBE_SECONDS)
                if found is None or found.status is Status.STOPPED:
                    return UNCHECKED
                if found.status is Status.UNBOUNDED:
                    needs.unbounded(int(j), upwards=sign > 0)
                elif found.feasible:
                    needs.take(found.values)
            if j in needs.open:
                return NARROW
        return None

    def _box(self, scene: "_Scene") -> tuple[Floats, Floats]:
        n = len(scene.values)
        low, high = np.full(n, -INFINITE), np.full(n, INFINITE)
        if self.bounds.low is not None:
            low = np.asarray(scene.counts * self.bounds.low, dtype=np.float64)
        if self.bounds.high is not None:
            high = np.asarray(scene.counts * self.bounds.high, dtype=np.float64)
        return low, high

    def _solve(
        self, matrix: sparse.csr_array, cost: Floats, scene: "_Scene", box: tuple[Floats, Floats], *, limit: float
    ) -> Solution | None:
        sides = np.asarray(matrix @ scene.values, dtype=np.float64)
        whole = np.full(len(cost), True) if self.bounds.integer else None
        model = LinearModel(cost, box[0], box[1], matrix, sides, sides, integer=whole, maximise=True)
        try:
            return solve(model, time_limit=limit)
        except SolverError:
            return None


@dataclass(frozen=True)
class _Scene:
    """The classes as they would be after the release, with their true totals."""

    partition: Partition
    values: Floats
    counts: NDArray[np.int64]
    touched: NDArray[np.bool_]


class _Needs:
    """Which unsafe classes still lack a database that is low enough, high enough, or (whole numbers) different."""

    def __init__(self, watched: NDArray[np.int64], values: Floats, interval: float, *, whole: bool) -> None:
        self._watched, self._true = watched, values[watched]
        distance = np.abs(self._true) * interval / 100
        slack = SLACK * np.maximum(1.0, np.abs(self._true))
        self._low, self._high = self._true - distance + slack, self._true + distance - slack
        start = np.full(len(watched), interval == 0)
        self._below, self._above = start.copy(), start.copy()
        self._other = np.full(len(watched), not whole)

    @property
    def open(self) -> NDArray[np.int64]:
        """The classes not yet shown to be wide enough."""
        return np.asarray(self._watched[~(self._below & self._above & self._other)], dtype=np.int64)

    @property
    def met(self) -> bool:
        """Whether all are."""
        return len(self.open) == 0

    def take(self, solution: Floats) -> None:
        """Learn from another database that fits all releases."""
        there = solution[self._watched]
        self._below |= there <= self._low
        self._above |= there >= self._high
        self._other |= np.abs(there - self._true) > HALF

    def unbounded(self, chosen: int, *, upwards: bool) -> None:
        """One class can be as large (or small) as one likes."""
        here = self._watched == chosen
        self._other |= here
        if upwards:
            self._above |= here
        else:
            self._below |= here


def _by_class(amounts: NDArray[np.int64], partition: Partition) -> NDArray[np.int64]:
    """Exact totals of each class."""
    out = np.zeros(partition.n_classes, dtype=np.int64)
    np.add.at(out, partition.class_of, amounts)
    return out


def _matrix(space: RowSpace, proposal: Proposal) -> sparse.csr_array:
    """All released rows and the proposed one over the classes."""
    places = proposal.partition.representative
    rows = (*space.rows(), proposal.row)
    entries = [row.coefficients(places) for row in rows]
    columns = [np.flatnonzero(entry) for entry in entries]
    number = np.repeat(np.arange(len(rows)), [len(column) for column in columns])
    amounts = np.concatenate([entry[column] for entry, column in zip(entries, columns)]).astype(np.float64)
    shape = (len(rows), len(places))
    return sparse.csr_array((amounts, (number, np.concatenate(columns))), shape=shape)


def _free(matrix: sparse.csr_array, at_low: NDArray[np.bool_], at_high: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Classes at a bound that some direction moves inwards while every released row stays the same.

    max Σ t with matrix·d = 0, t ≤ d (at the lower bound) or t ≤ −d (at the upper), 0 ≤ t ≤ 1. Directions form a cone, so
    at the optimum every t is 0 or 1.
    """
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
    free = np.zeros(n, dtype=bool)
    free[pinned] = found.values[n:] > HALF
    return free
