"""Whole-number points that reach an end of a watched sum, or proofs that none does.

The program looks for the smallest movement away from a point that satisfies everything (the center), so points differ from
it in few classes. Floats propose: a point counts if it fits in
whole numbers, a proof if it holds in whole numbers. What is not settled within the limits, in steps, stays undecided.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import SolverError
from reticent.releases.certificate import Box, Branch, Proof, leaf
from reticent.releases.unknowns import OPEN
from reticent.solve.highs import HighsSession
from reticent.solve.model import INFINITE, LinearModel, Status

WHOLE = 1e-6
ROOM = 2.0**61


@dataclass(frozen=True)
class Limits:
    """How much work one question may cost: simplex steps, and nodes of the search over whole numbers."""

    steps: int = 200_000
    nodes: int = 400


class OutOfSteps(Exception):
    """The limits are reached: undecided."""


@dataclass
class Search:
    """The programs over one system: rows A with their ends, bounds of the classes, watched sums W, and a center.

    The columns of the model are movements up and down of each class; its rows are A, then W (free until asked for).
    """

    rows: sparse.csr_array
    row_low: Ints
    row_high: Ints
    watched: sparse.csr_array
    low: Ints
    high: Ints
    center: Ints
    limits: Limits = field(default_factory=Limits)
    steps: int = 0
    nodes: int = 0
    _session: HighsSession | None = None
    _branched: set[int] = field(default_factory=set)

    def reach(self, sight: int, end: int, *, upwards: bool, low: Ints, high: Ints) -> "Ints | Proof":
        """A movement to a point with W[sight]·x ≥ end (or ≤ end), within these bounds of classes; or a proof of none."""
        row, n = len(self.row_low) + sight, self.rows.shape[0]
        need = float(end - self._value(sight))
        target = (need, INFINITE) if upwards else (-INFINITE, need)
        box = Box(
            sparse.vstack((self.rows, self.watched[[sight]]), format="csr"),
            np.append(self.row_low, end if upwards else -OPEN),
            np.append(self.row_high, OPEN if upwards else end),
            low,
            high,
        )
        self._rows(row, *target)
        try:
            return self._explore(box, np.append(np.arange(n), row))
        finally:
            self._rows(row, -INFINITE, INFINITE)

    def correct(self, row: int, change: int) -> Ints | None:
        """A movement that keeps all rows within their ends but for one, which it changes by so much; None if none is found."""
        n = self.rows.shape[0]
        value = int(exact_product(self.rows[[row]], self.center)[0])
        low, high = self.row_low.copy(), self.row_high.copy()
        low[row] = high[row] = value + change
        ends = float(self.row_low[row] - value), float(self.row_high[row] - value)
        self._rows(row, float(change), float(change))
        try:
            found = self._explore(Box(self.rows, low, high, self.low, self.high), np.arange(n))
        except OutOfSteps:
            return None
        finally:
            self._rows(row, *(end if abs(end) < OPEN // 2 else np.sign(end) * INFINITE for end in ends))
        return found if isinstance(found, np.ndarray) else None

    def settle(self) -> "Ints | Proof":
        """A movement from the center, which need not satisfy the rows, to a point that does; or a proof of none."""
        box = Box(self.rows, self.row_low, self.row_high, self.low, self.high)
        return self._explore(box, np.arange(self.rows.shape[0]))

    def fits(self, point: Ints, box: Box) -> bool:
        """Whether a point satisfies all rows and bounds, in whole numbers."""
        if bool((point < box.low).any() or (point > box.high).any()):
            return False
        sums = exact_product(box.rows, point)
        return bool((sums >= box.row_low).all() and (sums <= box.row_high).all())

    def _value(self, sight: int) -> int:
        return int(exact_product(self.watched[[sight]], self.center)[0])

    def _explore(self, box: Box, places: Ints) -> "Ints | Proof":
        """Depth first over whole numbers; `places` are the rows of the box in the model."""
        self.steps, self.nodes = 0, 0
        # few classes move: from no movement at all it is a short way, much shorter than from the last question's basis
        self._loaded().forget_basis()
        changed = np.flatnonzero((box.low != self.low) | (box.high != self.high))
        try:
            self._bounds(changed, box.low[changed], box.high[changed])
            return self._node(box, places)
        finally:
            touched = np.union1d(changed, np.array(sorted(self._branched), dtype=np.int64))
            self._branched.clear()
            self._bounds(touched, self.low[touched], self.high[touched])

    def _node(self, box: Box, places: Ints) -> "Ints | Proof":
        self.nodes += 1
        if self.nodes > self.limits.nodes:
            raise OutOfSteps
        movement = self._solve()
        if movement is None:
            return self._refuted(box, places)
        whole = np.rint(movement).astype(np.int64)
        if self.fits(self.center + whole, box):
            return whole
        off = np.abs(movement - whole)
        column = int(np.argmax(off))
        if off[column] < WHOLE:
            raise OutOfSteps  # rounding of the solver, not fractions, keeps it from fitting
        value = int(self.center[column]) + int(np.floor(movement[column]))
        return self._branch(box, places, column, value)

    def _branch(self, box: Box, places: Ints, column: int, value: int) -> "Ints | Proof":
        at = np.array([column])
        self._branched.add(column)
        high, low = box.high.copy(), box.low.copy()
        high[column], low[column] = value, value + 1
        proofs = []
        for part in (
            Box(box.rows, box.row_low, box.row_high, box.low, high),
            Box(box.rows, box.row_low, box.row_high, low, box.high),
        ):
            self._bounds(at, part.low[at], part.high[at])
            found = self._node(part, places)
            if isinstance(found, np.ndarray):
                return found
            proofs.append(found)
        self._bounds(at, box.low[at], box.high[at])
        return Branch(column, value, proofs[0], proofs[1])

    def _solve(self) -> Floats | None:
        """The movement that the program proposes; None if there is none."""
        session = self._loaded()
        session.set_option("simplex_iteration_limit", max(self.limits.steps - self.steps, 1))
        solution = session.solve()
        self.steps += session.steps
        if solution.status is Status.INFEASIBLE:
            return None
        if solution.status is not Status.OPTIMAL or self.steps >= self.limits.steps:
            raise OutOfSteps
        n = len(self.center)
        return np.asarray(solution.values[:n] - solution.values[n:], dtype=np.float64)

    def _refuted(self, box: Box, places: Ints) -> Proof:
        """The proof that the box has no point."""
        ray = self._loaded().dual_ray()
        found = None if ray is None else leaf(box, ray[places])
        if found is None:
            raise OutOfSteps
        return found

    def _loaded(self) -> HighsSession:
        if self._session is None:
            self._session = HighsSession(self._model(), algorithm="dual")
        return self._session

    def _model(self) -> LinearModel:
        both = sparse.vstack((self.rows, self.watched), format="csr").astype(np.float64)
        sums = exact_product(self.rows, self.center)
        free = np.full(self.watched.shape[0], INFINITE)
        up, down = self._ends(np.arange(len(self.center)), self.low, self.high)
        return LinearModel(
            np.ones(2 * len(self.center)),
            np.concatenate((up[0], down[0])),
            np.concatenate((up[1], down[1])),
            sparse.hstack((both, -both), format="csr"),
            np.concatenate((_shifted(self.row_low, sums), -free)),
            np.concatenate((_shifted(self.row_high, sums), free)),
        )

    def _ends(self, at: Ints, low: Ints, high: Ints) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """The bounds of movements up and down that keep classes within these bounds."""
        least, most = _shifted(low, self.center[at]), _shifted(high, self.center[at])
        return (np.maximum(least, 0.0), np.maximum(most, 0.0)), (np.maximum(-most, 0.0), np.maximum(-least, 0.0))

    def _bounds(self, at: Ints, low: Ints, high: Ints) -> None:
        up, down = self._ends(at, low, high)
        columns = np.concatenate((at, at + len(self.center))).astype(np.int32)
        self._loaded().set_column_bounds(columns, np.concatenate((up[0], down[0])), np.concatenate((up[1], down[1])))

    def _rows(self, row: int, low: float, high: float) -> None:
        self._loaded().set_row_bounds(np.array([row], dtype=np.int32), np.array([low]), np.array([high]))


def exact_product(matrix: sparse.csr_array, point: Ints) -> Ints:
    """The products in whole numbers; what could leave 62 bits is an error."""
    if matrix.shape[0] == 0:
        return np.zeros(0, dtype=np.int64)
    largest = float((abs(matrix).astype(np.float64) @ np.abs(point).astype(np.float64)).max(initial=0.0))
    if largest >= ROOM:
        raise SolverError("releases: sums leave 61 bits; declare fewer decimals.")
    return np.asarray(matrix @ point, dtype=np.int64)


def _shifted(ends: Ints, by: Ints) -> Floats:
    """Ends relative to a point, open ones as infinite."""
    out = (ends - by).astype(np.float64)
    out[ends <= -OPEN], out[ends >= OPEN] = -INFINITE, INFINITE
    return out
