# SPDX-License-Identifier: Apache-2.0
"""Whole-number points that reach an end of a watched sum, or proofs that none does.

The program looks for a small movement away from a point that satisfies everything (the center), so points differ from it in
few classes. It begins with few classes that may move; where these do not suffice, the solver's proof of that says which others
would help, and when none would, it is a proof for all of them. Floats propose: a point counts if it fits in whole numbers, a
proof if it holds in whole numbers. What is not settled within the limits, in steps, stays undecided.
"""

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints
from reticent.releases.certificate import Box, Branch, Proof, leaf
from reticent.releases.stack import Stack, exact_product
from reticent.releases.unknowns import OPEN
from reticent.solve.highs import HighsSession
from reticent.solve.model import INFINITE, LinearModel, Status

WHOLE = 1e-6
AT_ONCE = 100
"""This many classes begin to move at once where those that may move do not suffice."""
SETTLING = 10
"""This many times the steps of a question may be taken to find a first point."""
MOST_MOVING = 1_000
"""With more classes that may move a program is slow, and the next question begins again."""
MULTIPLES = (1, 2, 3, 4, 6)
"""A movement in fractions may be whole this many times over, and reach further then."""
AMONG = (300, 1_000, 2_500)
"""Whole numbers are looked for among this many classes that matter most, then among more."""
WHOLE_OPTIONS = {"mip_max_nodes": 30, "mip_rel_gap": 0.5, "mip_max_stall_nodes": 30, "mip_max_improving_sols": 1}
"""How long the solver itself looks for whole numbers before the search branches: in nodes, not in seconds."""
SLIGHT = 1e-9
"""A smaller multiplier is rounding of the solver."""


@dataclass(frozen=True)
class Limits:
    """How much work may be done: simplex steps and nodes of the search over whole numbers per question, steps per release.

    Where a short movement was looked for in vain, `proof` steps are for a proof that there is none. A release may cost
    `release` steps, `fact` more per fact (up to 100 facts) and `watch` more per watch.
    """

    steps: int = 6_000
    nodes: int = 400
    proof: int = 1_500
    release: int = 8_000
    fact: int = 50
    watch: int = 1_000


@dataclass
class Budget:
    """The steps that are left for a release; None is no limit."""

    left: int | None = None

    def spend(self, steps: int) -> None:
        """Take steps off."""
        if self.left is not None:
            self.left -= steps

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.left is not None and self.left <= 0


class OutOfSteps(Exception):
    """The limits are reached: undecided."""


@dataclass
class Search:
    """The programs over one system: rows A with their ends, bounds of the classes, watched sums W, and a center.

    The columns of the model are movements up and down of the classes that may move so far; its rows are those of A and W (free
    until asked for) that these classes change, or that the center misses.
    """

    stack: Stack
    row_low: Ints
    row_high: Ints
    low: Ints
    high: Ints
    center: Ints
    limits: Limits = field(default_factory=Limits)
    budget: Budget = field(default_factory=Budget)
    steps: int = 0
    nodes: int = 0
    _session: HighsSession | None = None
    _branched: set[int] = field(default_factory=set)
    _moving: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        self._sums = exact_product(self.stack.told, self.center)
        free = np.full(self.stack.n_rows - self.stack.n_told, INFINITE)
        self._row_low = np.concatenate((shifted(self.row_low, self._sums), -free))
        self._row_high = np.concatenate((shifted(self.row_high, self._sums), free))
        self._used: Ints = np.zeros(0, dtype=np.int64)
        self._at = np.full(self.stack.n_rows, -1, dtype=np.int64)
        self._now_low, self._now_high = self.low.copy(), self.high.copy()
        self._place = np.full(len(self.center), -1, dtype=np.int64)
        self._ray: Floats | None = None
        self.most = self.limits.steps
        self._prices: Floats = np.zeros(len(self._row_low))

    def reach(
        self, sight: int, end: int, *, upwards: bool, low: Ints, high: Ints, hint: Ints | None = None
    ) -> "Ints | Proof":
        """A movement to a point with W[sight]·x ≥ end (or ≤ end), within these bounds of classes; or a proof of none.

        The classes of `hint` are among those that may move from the beginning.
        """
        row, n = len(self.row_low) + sight, self.stack.n_told
        need = float(end - self._value(sight))
        target = (need, INFINITE) if upwards else (-INFINITE, need)
        box = Box(
            self.stack.asking(sight),
            np.append(self.row_low, end if upwards else -OPEN),
            np.append(self.row_high, OPEN if upwards else end),
            low,
            high,
        )
        self._tidy()
        self._rows(row, *target)
        if hint is not None:
            self._enter(hint[self._place[hint] < 0])
        try:
            return self._explore(box, np.append(np.arange(n), row))
        finally:
            self._rows(row, -INFINITE, INFINITE)

    def correct(self, row: int, change: int) -> Ints | None:
        """A movement that keeps all rows within their ends except for one, which it changes by so much; None if none is found."""
        value = int(self._sums[row])
        low, high = self.row_low.copy(), self.row_high.copy()
        low[row] = high[row] = value + change
        ends = float(self.row_low[row] - value), float(self.row_high[row] - value)
        self._tidy()
        self._rows(row, float(change), float(change))
        try:
            rows = np.arange(self.stack.n_told)
            found = self._explore(Box(self.stack.plain, low, high, self.low, self.high), rows)
        except OutOfSteps:
            return None
        finally:
            self._rows(row, *(end if abs(end) < OPEN // 2 else np.sign(end) * INFINITE for end in ends))
        return found if isinstance(found, np.ndarray) else None

    def settle(self, first: Ints) -> "Ints | Proof":
        """A movement from the center, which need not satisfy the rows, to a point that does; or a proof of none.

        It is tried with some classes alone first: what is known of the others may be true already.
        """
        rows, ends, told = np.arange(self.stack.n_told), (self.row_low, self.row_high), self.stack.plain
        self.most = SETTLING * self.limits.steps
        try:
            if len(first):
                low, high = self.center.copy(), self.center.copy()
                low[first], high[first] = self.low[first], self.high[first]
                with suppress(OutOfSteps):
                    found = self._explore(Box(told, *ends, low, high), rows)
                    if isinstance(found, np.ndarray):
                        return found
            return self._explore(Box(told, *ends, self.low, self.high), rows)
        finally:
            self.most = self.limits.steps

    def fits(self, movement: Ints, box: Box) -> bool:
        """Whether a movement ends within all rows and bounds, in whole numbers."""
        point = self.center + movement
        if bool((point < box.low).any() or (point > box.high).any()):
            return False
        asked = exact_product(box.rows.watched, point)
        sums = np.concatenate((self._sums + self.stack.change(movement), asked))
        return bool((sums >= box.row_low).all() and (sums <= box.row_high).all())

    def _value(self, sight: int) -> int:
        return int(exact_product(self.stack.watched[[sight]], self.center)[0])

    def _explore(self, box: Box, places: Ints) -> "Ints | Proof":
        """Depth first over whole numbers; `places` are the rows of the box in the model."""
        if self.budget.spent:
            raise OutOfSteps("release")
        self.steps, self.nodes = 0, 0
        # few classes move: from no movement at all it is a short way, much shorter than from the last question's basis
        self._loaded().forget_basis()
        changed = np.flatnonzero((box.low != self.low) | (box.high != self.high))
        try:
            self._bounds(changed, box.low[changed], box.high[changed])
            return self._node(box, places)
        finally:
            self.budget.spend(self.steps)
            touched = np.union1d(changed, np.array(sorted(self._branched), dtype=np.int64))
            self._branched.clear()
            self._bounds(touched, self.low[touched], self.high[touched])

    def _node(self, box: Box, places: Ints) -> "Ints | Proof":
        self.nodes += 1
        if self.nodes > self.limits.nodes:
            raise OutOfSteps("nodes")
        movement = self._solve()
        if movement is None:
            return self._refuted(box, places)
        whole = self._whole(movement, box)
        for most in AMONG if self.nodes == 1 else ():
            if whole is None:
                whole = self._in_whole_numbers(box, self._cheap(most, np.flatnonzero(movement)))
        if whole is not None:
            return whole
        off = np.abs(movement - np.rint(movement))
        column = int(np.argmax(off))
        if off[column] < WHOLE:
            raise OutOfSteps("rounding")  # rounding of the solver, not fractions, keeps it from fitting
        value = int(self.center[column]) + int(np.floor(movement[column]))
        return self._branch(box, places, column, value)

    def _whole(self, movement: Floats, box: Box) -> Ints | None:
        """A movement, or a multiple of it, in whole numbers, if it fits."""
        for times in MULTIPLES:
            whole = np.rint(movement * times)
            if (times == 1 or float(np.abs(movement * times - whole).max()) < WHOLE) and self.fits(
                whole.astype(np.int64), box
            ):
                return whole.astype(np.int64)
        return None

    def _cheap(self, most: int, moved: Ints) -> Ints:
        """Classes that would make the last movement shorter, or little longer, and those that it moves."""
        down, up = self._room(np.arange(len(self.center)))
        able = np.flatnonzero((down < 0) | (up > 0))
        gain = np.abs(self.stack.combined(self._prices)[able])
        return np.union1d(able[np.argsort(-gain, kind="stable")[:most]], moved)

    def _in_whole_numbers(self, box: Box, classes: Ints) -> Ints | None:
        """A whole movement of some classes, by the solver's own search; None if it finds none.

        Any movement is found much sooner than a short one, and what is superfluous in it is found at once then.
        """
        self._enter(classes[self._place[classes] < 0])
        columns = self.stack.columns(classes).tocsr()[self._used].astype(np.float64)
        found = self._whole_program(columns, *self._room(classes), np.zeros(len(classes)))
        if found is None:
            return None
        shorter = self._whole_program(columns, np.minimum(found, 0.0), np.maximum(found, 0.0), np.sign(found))
        for steps in (shorter, found):
            if steps is not None:
                movement = np.zeros(len(self.center))
                movement[classes] = steps
                whole = self._whole(movement, box)
                if whole is not None:
                    return whole
        return None

    def _whole_program(self, columns: sparse.csr_array, low: Floats, high: Floats, cost: Floats) -> Floats | None:
        """Whole steps between these ends that keep the rows of the model; cheap ones, if they have a cost."""
        free = np.flatnonzero((low < 0) | (high > 0))
        ends = self._row_low[self._used], self._row_high[self._used]
        whole = np.ones(len(free), dtype=bool)
        model = LinearModel(cost[free], low[free], high[free], columns[:, free], *ends, integer=whole)
        session = HighsSession(model)
        for option, value in WHOLE_OPTIONS.items():
            session.set_option(option, value)
        solution = session.solve()
        self.steps += max(session.steps, 1)
        if len(solution.values) == 0:
            return None
        found = np.zeros(len(low))
        found[free] = np.rint(solution.values)
        return found

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
        """The movement that the program proposes; None if there is none, whatever classes may move."""
        wanted, unclear = self._begin(), False
        while True:
            if len(self._moving) == 0:  # nothing that could move helps, so what is missed is a proof by itself
                self._ray = wanted
                return None
            session = self._loaded()
            session.set_option("simplex_iteration_limit", max(self.most - self.steps, 1))
            solution = session.solve()
            self.steps += session.steps + 1
            if self.steps >= self.most:
                raise OutOfSteps("steps")
            if solution.status is Status.OPTIMAL:
                movement = np.zeros(len(self.center))
                movement[self._moving] = solution.values[0::2] - solution.values[1::2]
                self._prices = self._of_all_rows(solution.row_duals)
                return movement
            ray = session.dual_ray() if solution.status is Status.INFEASIBLE else None
            self._ray = None if ray is None else self._of_all_rows(ray)
            if self._ray is None:
                if unclear:
                    raise OutOfSteps("unclear")
                unclear = True  # rounding of the solver: once more, from no movement
                session.forget_basis()
                continue
            unclear = False
            more = self._helpful(self._ray)
            if len(more) == 0:
                return None
            self._enter(more)

    def _begin(self) -> Floats:
        """Let classes move that matter for the rows that the center misses; returns the signs of these rows."""
        missed = np.flatnonzero((self._row_low > 0) | (self._row_high < 0))
        wanted = np.zeros(len(self._row_low))
        wanted[missed] = np.where(self._row_low[missed] > 0, 1.0, -1.0)
        self._take(missed)
        self._enter(self._best(self.stack.combined(wanted)))
        return wanted

    def _helpful(self, ray: Floats) -> Ints:
        """Classes that do not move yet and that break the solver's proof that those that do cannot suffice; none if none does."""
        reach = self.stack.combined(ray)
        return self._best(self._sign(ray, reach[self._moving]) * reach)

    def _sign(self, ray: Floats, reach: Floats) -> float:
        """The sign with which the multipliers are a proof: Σ y · row must be more than the moving classes can reach."""
        margins = []
        down, up = self._room(self._moving)
        for sign in (1.0, -1.0):
            y, own = sign * ray, sign * reach
            used = np.abs(y) > SLIGHT * np.abs(y).max(initial=0.0)
            ends = np.where(y > 0, self._row_low, self._row_high)[used]
            moved = np.abs(own) > SLIGHT * np.abs(own).max(initial=0.0)
            margins.append(float(y[used] @ ends) - float(np.where(own > 0, up, down)[moved] @ own[moved]))
        return 1.0 if margins[0] >= margins[1] else -1.0

    def _best(self, reach: Floats) -> Ints:
        """Among the classes that do not move yet those that change a combination of rows most, and few rows."""
        down, up = self._room(np.arange(len(reach)))
        room = np.where(reach > 0, up, -down)
        largest = float(np.abs(reach).max(initial=0.0))
        able = np.flatnonzero((self._place < 0) & (room > 0) & (np.abs(reach) > SLIGHT * largest))
        if len(able) <= AT_ONCE:
            return able
        score = np.abs(reach[able]) / np.sqrt(self.stack.entries[able])
        return np.sort(able[np.argsort(-score, kind="stable")[:AT_ONCE]])

    def _room(self, at: Ints) -> tuple[Floats, Floats]:
        """How far classes may move down and up."""
        return shifted(self._now_low[at], self.center[at]), shifted(self._now_high[at], self.center[at])

    def _refuted(self, box: Box, places: Ints) -> Proof:
        """The proof that the box has no point."""
        found = None if self._ray is None else leaf(box, self._ray[places])
        if found is None:
            raise OutOfSteps("no exact proof")
        return found

    def _loaded(self) -> HighsSession:
        if self._session is None:
            none = np.zeros(0)
            model = LinearModel(none, none, none, sparse.csr_array((0, 0), dtype=np.float64), none, none)
            self._session = HighsSession(model, algorithm="dual")
        return self._session

    def _take(self, rows: Ints) -> None:
        """Let the model have further rows, before anything that changes them may move."""
        rows = rows[self._at[rows] < 0]
        if len(rows):
            nothing = sparse.csr_array((len(rows), len(self._moving)), dtype=np.float64)
            self._loaded().add_rows(nothing, self._row_low[rows], self._row_high[rows])
            self._at[rows] = len(self._used) + np.arange(len(rows))
            self._used = np.concatenate((self._used, rows))

    def _of_all_rows(self, factors: Floats) -> Floats:
        """Factors of the rows of the model as factors of all rows."""
        out = np.zeros(len(self._row_low))
        out[self._used] = factors
        return out

    def _tidy(self) -> None:
        """Begin again with no class that may move, where too many do."""
        if len(self._moving) > MOST_MOVING:
            self._session, self._moving = None, np.zeros(0, dtype=np.int64)
            self._used, self._place[:], self._at[:] = np.zeros(0, dtype=np.int64), -1, -1

    def _enter(self, classes: Ints) -> None:
        """Let further classes move."""
        if len(classes) == 0:
            return
        own = self.stack.columns(classes).astype(np.float64)
        self._take(np.unique(own.indices))
        own = sparse.csc_array((own.data, self._at[own.indices], own.indptr), shape=(len(self._used), len(classes)))
        both = sparse.hstack((own, -own), format="csc")[:, np.arange(2 * len(classes)).reshape(2, -1).T.ravel()]
        low, high = self._ends(classes, self._now_low[classes], self._now_high[classes])
        self._loaded().add_columns(np.ones(2 * len(classes)), low, high, sparse.csc_array(both))
        self._place[classes] = len(self._moving) + np.arange(len(classes))
        self._moving = np.concatenate((self._moving, classes))

    def _ends(self, at: Ints, low: Ints, high: Ints) -> tuple[Floats, Floats]:
        """The bounds of movements up and down, in turn, that keep classes within these bounds."""
        least, most = shifted(low, self.center[at]), shifted(high, self.center[at])
        lows = np.column_stack((np.maximum(least, 0.0), np.maximum(-most, 0.0))).ravel()
        return lows, np.column_stack((np.maximum(most, 0.0), np.maximum(-least, 0.0))).ravel()

    def _bounds(self, at: Ints, low: Ints, high: Ints) -> None:
        self._now_low[at], self._now_high[at] = low, high
        inside = self._place[at] >= 0
        places = self._place[at[inside]]
        columns = np.column_stack((2 * places, 2 * places + 1)).ravel().astype(np.int32)
        self._loaded().set_column_bounds(columns, *self._ends(at[inside], low[inside], high[inside]))

    def _rows(self, row: int, low: float, high: float) -> None:
        self._row_low[row], self._row_high[row] = low, high
        if self._at[row] >= 0:
            at = np.array([self._at[row]], dtype=np.int32)
            self._loaded().set_row_bounds(at, np.array([low]), np.array([high]))


def shifted(ends: Ints, by: Ints) -> Floats:
    """Ends relative to a point, open ones as infinite."""
    out = (ends - by).astype(np.float64)
    out[ends <= -OPEN], out[ends >= OPEN] = -INFINITE, INFINITE
    return out
