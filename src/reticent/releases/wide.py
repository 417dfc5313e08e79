# SPDX-License-Identifier: Apache-2.0
"""Short movements that reach an end of a watched sum, among very many classes.

A program over few classes may miss the end at a price. Its dual values say which other classes would shorten the movement, or
save the price; these join, and the program is solved again, from no movement at all, which takes few steps of the dual
simplex method. Rows that leave room on both sides join when a movement breaks them. Costs of counts differ a little at
random: of many shortest movements one is the best then, and often whole. That an end cannot be reached is for others to
prove.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints, Mask
from reticent.releases.certificate import Box
from reticent.releases.programs import MULTIPLES, WHOLE, WHOLE_OPTIONS, Budget, Limits, OutOfSteps, shifted
from reticent.releases.stack import Stack, exact_product
from reticent.releases.unknowns import OPEN
from reticent.solve.highs import HighsSession
from reticent.solve.model import INFINITE, LinearModel, Solution, Status

SPREAD = 0.3
"""What costs 1 costs up to this much more at random."""
PRICES = (30.0, 300.0, 10_000.0)
"""What missing the end by one costs, in steps: little at first, so that only short movements count."""
AT_ONCE = 500
"""This many classes join at once."""
AMONG = (1_000, 1_000, 2_500)
"""Each time whole numbers are looked for, it is among this many columns with the least reduced costs."""
ROUNDS = 60
"""This many programs are solved for a question."""
REPEATS = 5
"""This many whole movements may break further rows, which join then."""


@dataclass(frozen=True, eq=False)
class _Asked:
    """A watched sum: its weight per class (of a sum that is to fall, negative), by how much it must rise, what must hold then."""

    weights: Ints
    need: int
    box: Box
    down: Floats
    up: Floats


@dataclass(frozen=True, eq=False)
class _Columns:
    """Classes that may move, each in one direction."""

    classes: Ints
    sign: Ints
    room: Floats
    cost: Floats

    def chosen(self, at: Ints) -> "_Columns":
        """Some of them."""
        return _Columns(self.classes[at], self.sign[at], self.room[at], self.cost[at])


@dataclass(eq=False)
class Wide:
    """The rows and bounds of a system, a center that satisfies them, and what a step of each class costs."""

    stack: Stack
    row_low: Ints
    row_high: Ints
    low: Ints
    high: Ints
    center: Ints
    cost: Floats
    limits: Limits
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        self._sums = exact_product(self.stack.told, self.center)
        self._ends = shifted(self.row_low, self._sums), shifted(self.row_high, self._sums)
        self._rows: Mask = (self._ends[0] == 0) | (self._ends[1] == 0)
        spread = SPREAD * np.random.default_rng(self.seed).random(len(self.center)) * (self.cost == 1.0)
        self._cost = self.cost + spread

    def reach(self, sight: int, end: int, *, upwards: bool, low: Ints, high: Ints, likely: Ints) -> Ints | None:
        """A movement to a point with W[sight]·x ≥ end (or ≤ end), within these bounds of classes; None if there seems to be none.

        It begins with classes that are likely to move.
        """
        if self.budget.spent:
            raise OutOfSteps("release")
        self.steps = 0
        try:
            return self._priced(self._asked(sight, end, upwards, low, high), likely)
        finally:
            self.budget.spend(self.steps)

    def _asked(self, sight: int, end: int, upwards: bool, low: Ints, high: Ints) -> _Asked:
        own = self.stack.asking(sight)
        ends = (np.append(self.row_low, end if upwards else -OPEN), np.append(self.row_high, OPEN if upwards else end))
        weights = own.watched.toarray()[0] * (1 if upwards else -1)
        need = (end - int(exact_product(own.watched, self.center)[0])) * (1 if upwards else -1)
        room = -shifted(low, self.center), shifted(high, self.center)
        return _Asked(weights, need, Box(own, *ends, low, high), *room)

    def _priced(self, asked: _Asked, likely: Ints) -> Ints | None:
        watched = np.flatnonzero(asked.weights)
        moving, price, unit = np.union1d(likely, watched), 0, float(self.cost[watched].max(initial=0.0))
        tried = 0
        for _ in range(ROUNDS):
            columns = self._columns(moving, asked)
            solution, duals = self._solved(columns, asked, unit * PRICES[price])
            movement = self._movement(columns, solution.values[:-1])
            broken = self._broken(movement)
            if broken.any():
                self._rows |= broken
                continue
            reached = float(solution.values[-1]) < WHOLE
            if reached:
                found = self._multiple(movement, asked.box)
                found = self._in_whole_numbers(columns, solution, asked, AMONG[tried]) if found is None else found
                if found is not None:
                    return found
                tried += 1
            more = self._helpful(moving, duals, asked)
            if len(more) and tried < len(AMONG):
                moving = np.union1d(moving, more)
            elif reached:
                raise OutOfSteps("whole numbers")
            elif price + 1 < len(PRICES):
                price += 1
            else:
                return None
        raise OutOfSteps("rounds")

    def _columns(self, moving: Ints, asked: _Asked) -> _Columns:
        up, down = moving[asked.up[moving] > 0], moving[asked.down[moving] > 0]
        classes = np.concatenate((up, down))
        sign = np.repeat(np.array([1, -1], dtype=np.int64), (len(up), len(down)))
        return _Columns(classes, sign, np.concatenate((asked.up[up], asked.down[down])), self._cost[classes])

    def _solved(self, columns: _Columns, asked: _Asked, price: float) -> tuple[Solution, Floats]:
        """The cheapest movement, with a last column by how much it misses the end; and the duals of all rows, then of the sum."""
        rows, matrix = self._matrix(columns, asked)
        missed = sparse.csr_array((np.ones(1), (np.array([len(rows)]), np.array([0]))), shape=(len(rows) + 1, 1))
        session = HighsSession(
            LinearModel(
                np.append(columns.cost, price),
                np.zeros(len(columns.cost) + 1),
                np.append(columns.room, INFINITE),
                sparse.csr_array(sparse.hstack((matrix, missed), format="csr")),
                np.append(self._ends[0][rows], asked.need),
                np.append(self._ends[1][rows], INFINITE),
            ),
            algorithm="dual",
        )
        session.set_option("simplex_iteration_limit", max(self.limits.steps - self.steps, 1))
        found = session.solve()
        self.steps += session.steps + 1
        if found.status is not Status.OPTIMAL:
            raise OutOfSteps("steps")
        duals = np.zeros(self.stack.n_told + 1)
        duals[np.append(rows, self.stack.n_told)] = found.row_duals
        return found, duals

    def _in_whole_numbers(self, columns: _Columns, solution: Solution, asked: _Asked, most: int) -> Ints | None:
        """A whole movement by the solver's own search among columns that are almost as good as those that move."""
        order = np.argsort(solution.reduced_costs[:-1], kind="stable")
        moved = np.flatnonzero(solution.values[:-1] > WHOLE)
        chosen = columns.chosen(np.union1d(order[:most], moved))
        for _ in range(REPEATS):
            values = self._whole_program(chosen, asked)
            if values is None:
                return None
            movement = self._movement(chosen, values)
            if self._fits(movement, asked.box):
                return movement.astype(np.int64)
            broken = self._broken(movement)
            if not broken.any():
                return None
            self._rows |= broken
        return None

    def _whole_program(self, columns: _Columns, asked: _Asked) -> Floats | None:
        """Whole steps of some columns, the others none; None if none are found."""
        rows, matrix = self._matrix(columns, asked)
        model = LinearModel(
            columns.cost,
            np.zeros(len(columns.cost)),
            columns.room,
            matrix,
            np.append(self._ends[0][rows], asked.need),
            np.append(self._ends[1][rows], INFINITE),
            integer=np.ones(len(columns.cost), dtype=bool),
        )
        session = HighsSession(model)
        for option, value in WHOLE_OPTIONS.items():
            session.set_option(option, value)
        found = session.solve()
        self.steps += session.steps + len(columns.cost) // 2  # most of the work is not in steps
        return np.rint(found.values) if len(found.values) else None

    def _matrix(self, columns: _Columns, asked: _Asked) -> tuple[Ints, sparse.csr_array]:
        """The rows of the model that columns change, and their matrix, with the watched sum as the last row."""
        own = self.stack.told_by_class[:, columns.classes]
        data = own.data * np.repeat(columns.sign, np.diff(own.indptr)).astype(np.float64)
        told = sparse.csc_array((data, own.indices, own.indptr), shape=own.shape).tocsr()
        rows = np.flatnonzero(self._rows & (np.diff(told.indptr) > 0))
        target = sparse.csr_array((asked.weights[columns.classes] * columns.sign).astype(np.float64)[None, :])
        return rows, sparse.csr_array(sparse.vstack((told[rows], target), format="csr"))

    def _helpful(self, moving: Ints, duals: Floats, asked: _Asked) -> Ints:
        """Classes that do not move yet and would make the movement cheaper: those that do so most."""
        watched = np.zeros(self.stack.n_rows - self.stack.n_told)
        worth = self.stack.combined(np.concatenate((duals[:-1], watched))) + asked.weights * duals[-1]
        gain = np.maximum(np.where(asked.up > 0, worth, 0.0), np.where(asked.down > 0, -worth, 0.0)) - self._cost
        gain[moving] = 0.0
        able = np.flatnonzero(gain > WHOLE)
        return able[np.argsort(-gain[able], kind="stable")[:AT_ONCE]]

    def _movement(self, columns: _Columns, values: Floats) -> Floats:
        """What columns mean for each class."""
        out = np.zeros(len(self.center))
        np.add.at(out, columns.classes, columns.sign * values)
        return out

    def _broken(self, movement: Floats) -> Mask:
        """Rows that a movement breaks and that the programs do not have."""
        moved = np.flatnonzero(movement)
        change = self.stack.told_by_class[:, moved] @ movement[moved]
        return ((change < self._ends[0] - WHOLE) | (change > self._ends[1] + WHOLE)) & ~self._rows

    def _multiple(self, movement: Floats, box: Box) -> Ints | None:
        """A movement, or a multiple of it, in whole numbers, if it fits."""
        for times in MULTIPLES:
            whole = np.rint(movement * times)
            if (times == 1 or float(np.abs(movement * times - whole).max()) < WHOLE) and self._fits(whole, box):
                return whole.astype(np.int64)
        return None

    def _fits(self, movement: Floats, box: Box) -> bool:
        """Whether a movement ends within all rows and bounds, in whole numbers."""
        whole = movement.astype(np.int64)
        point = self.center + whole
        if bool((point < box.low).any() or (point > box.high).any()):
            return False
        sums = np.concatenate((self._sums + self.stack.change(whole), exact_product(box.rows.watched, point)))
        return bool((sums >= box.row_low).all() and (sums <= box.row_high).all())
