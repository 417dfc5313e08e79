"""What follows from the released rows together with bounds that everybody knows (x ≥ 0, x ≤ 1, whole numbers).

Two questions, asked only after the linear algebra found nothing:

1. Is a class forced to its bound, so that each of its records is known (SUM{a, b} = 0 with x ≥ 0)? The true values are a
   feasible point. Only classes that truly lie at a bound can be forced there, and such a class is free exactly if some
   direction keeps all released rows and moves it inwards. One linear program over directions finds all free classes at
   once. If none is forced, bounds imply no equation, so nothing else is fixed either.
2. Is an unsafe class narrowed below the policy's interval, or (for whole numbers) fixed? A program each, up to a cap;
   what cannot be checked is refused.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.queries.audit.auditor import BoundStage
from reticent.queries.audit.rowspace import Partition, Proposal, RowSpace
from reticent.queries.canonical import Columns
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import StaffReason
from reticent.queries.rules import SetRules
from reticent.solve.highs import solve
from reticent.solve.model import INFINITE, LinearModel, Status

MOST_PROBES = 400
SLACK = 1e-7
HALF = 0.5
FORCED = StaffReason("bounds", "known bounds would fix the values of a class of records")
UNCHECKED = StaffReason("bounds", "the check against known bounds could not be finished")


def bound_stage(columns: Columns, policy: Policy, key: tuple[str, ...], rules: SetRules) -> BoundStage | None:
    """The check for one response, or None where no bound is known for it."""
    bounds = _bounds_of(policy, key)
    if bounds is None:
        return None
    known = np.zeros(columns.n_columns, dtype=bool)
    known[columns.of_entities(rules.known)] = True
    return _Stage(columns, bounds, policy.interval, rules, known).check


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
        counts = _by_class(np.diff(self.columns.start), partition)
        hidden = ~self.known[partition.representative]
        at_low = self._at(self.bounds.low, totals, counts) & hidden
        at_high = self._at(self.bounds.high, totals, counts) & hidden
        probing = self.interval > 0 or self.bounds.integer
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
        return self._probe(matrix, partition, totals, counts, touched & hidden) if probing else None

    def _at(self, bound: float | None, totals: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Classes whose true total is the least (or most) that the bound allows."""
        if bound is None:
            return np.zeros(len(totals), dtype=bool)
        limit = Fraction(bound) * self.columns.values.scale
        return np.asarray(totals * limit.denominator == counts * limit.numerator, dtype=bool)

    def _probe(
        self,
        matrix: sparse.csr_array,
        partition: Partition,
        totals: NDArray[np.int64],
        counts: NDArray[np.int64],
        touched: NDArray[np.bool_],
    ) -> StaffReason | None:
        """The interval of each unsafe class by two programs."""
        unsafe = [
            j
            for j in np.flatnonzero(touched).tolist()
            if self.rules.broken(self.columns, partition.class_of == j) is not None
        ]
        if len(unsafe) > MOST_PROBES:
            return UNCHECKED
        values = np.asarray(totals / self.columns.values.scale, dtype=np.float64)
        low = np.full(len(values), -INFINITE)
        high = np.full(len(values), INFINITE)
        if self.bounds.low is not None:
            low = np.asarray(counts * self.bounds.low, dtype=np.float64)
        if self.bounds.high is not None:
            high = np.asarray(counts * self.bounds.high, dtype=np.float64)
        for j in unsafe:
            ends = [self._end(matrix, j, values, low, high, maximise=m) for m in (False, True)]
            if ends[0] is None or ends[1] is None:
                return UNCHECKED
            if self._too_narrow(values[j], ends[0], ends[1]):
                return StaffReason("interval", "known bounds would narrow an unsafe class too far")
        return None

    def _too_narrow(self, value: float, low: float, high: float) -> bool:
        distance = abs(value) * self.interval / 100
        slack = SLACK * max(1.0, abs(value))
        if low > value - distance + slack or high < value + distance - slack:
            return True
        return high - low < (HALF if self.bounds.integer else slack)

    def _end(
        self,
        matrix: sparse.csr_array,
        chosen: int,
        values: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        *,
        maximise: bool,
    ) -> float | None:
        cost = np.zeros(len(values))
        cost[chosen] = 1.0
        sides = np.asarray(matrix @ values, dtype=np.float64)
        whole = np.full(len(values), True) if self.bounds.integer else None
        model = LinearModel(cost, low, high, matrix, sides, sides, integer=whole, maximise=maximise)
        found = solve(model)
        if found.status is Status.UNBOUNDED:
            return INFINITE if maximise else -INFINITE
        return float(found.objective) if found.status is Status.OPTIMAL else None


def _by_class(amounts: NDArray[np.int64], partition: Partition) -> NDArray[np.int64]:
    """Exact totals of each class."""
    out = np.zeros(partition.n_classes, dtype=np.int64)
    np.add.at(out, partition.class_of, amounts)
    return out


def _matrix(space: RowSpace, proposal: Proposal) -> sparse.csr_array:
    """All released rows and the proposed one over the classes."""
    places = proposal.partition.representative
    rows = [row.coefficients(places) for row in (*space.rows(), proposal.row)]
    return sparse.csr_array(np.vstack(rows).astype(np.float64))


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
    found = solve(model)
    if found.status is not Status.OPTIMAL:
        return None
    free = np.zeros(n, dtype=bool)
    free[pinned] = found.values[n:] > HALF
    return free
