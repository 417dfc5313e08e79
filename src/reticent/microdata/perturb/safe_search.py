# SPDX-License-Identifier: Apache-2.0
"""SAFE's search: new counts for the patterns of a file, none of them 1 or 2, that keep controlled tables near the truth.

After Höhne's SAFE as Giessing and Höhne describe it (SORT 35, 2011): a first solution, then exchanges between patterns
that share most of their cells, against squared deviations, then higher powers, then against bounds that are lowered
until they cannot be kept. Cells of one variable and crossed cells have a bound each; the number of records never changes.

The search is a sequence of steps that depends on the data and the secret only. A limit of time or steps cuts the sequence,
and the best counts so far are the result: the same number of steps gives the same counts everywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Ints, Narrow
from reticent.base.errors import InfeasibleError
from reticent.base.progress import Progress, silent
from reticent.kernels import safe as kernel
from reticent.kernels.grouping import group_columns

SINGLE, CROSSED, WATCHED = 0, 1, 2

_ORDERS = 6
_POWERS = (2, 4, 6)
_SWEEPS = 12  # for each power
_REACH, _FAR = 2, 12  # places apart: in a sweep, and for patterns beyond their bounds
_WALKS = 20
_HEAT = 800  # what a drawn exchange may cost on average, in squares of deviations; one beyond its bound costs _BEYOND
_BEYOND = 200_000
_NO_BOUND = 2**40
_MOST_WATCHED = 78  # all tables of one and two of twelve variables
_PATIENCE = 25  # rounds without fewer deviations beyond the bounds
_SMALL = 3_000
"""So few patterns are searched by annealing over all pairs, and from more starts."""
_STARTS, _SMALL_STARTS = 2, 4
_PAIRS, _SMALL_PATIENCE = 100_000, 8


@dataclass(frozen=True, eq=False)
class Controls:
    """The controlled cells of each pattern (patterns × tables), and the class of each table and of each cell.

    Tables of one and two variables that are not controlled are watched, unless they are many: they have no bound, but
    their squares count. Without them counts drift wherever nobody looks.
    """

    cells: NDArray[np.int32] = field(repr=False)
    kinds: Ints
    kind_of_cell: Ints = field(repr=False)

    @property
    def n_cells(self) -> int:
        """How many cells there are, watched ones included."""
        return len(self.kind_of_cell)

    @property
    def controlled(self) -> NDArray[np.bool_]:
        """The cells that are controlled."""
        return np.asarray(self.kind_of_cell != WATCHED)

    @classmethod
    def of(cls, patterns: Narrow, tables: Sequence[Sequence[int]]) -> "Controls":
        """The cells that occur in the controlled tables, each given by columns of `patterns`, and in watched ones."""
        watched = _watched(patterns.shape[1], tables)
        kinds = [SINGLE if len(columns) == 1 else CROSSED for columns in tables] + [WATCHED] * len(watched)
        cells = np.empty((len(patterns), len(kinds)), dtype=np.int32)
        sizes: list[int] = []
        for number, columns in enumerate((*tables, *watched)):
            chosen = [np.ascontiguousarray(patterns[:, column]) for column in columns]
            group, count = group_columns(chosen, [int(column.max(initial=-1)) + 1 for column in chosen])
            cells[:, number] = group + sum(sizes)
            sizes.append(count)
        return cls(cells, np.array(kinds, dtype=np.int64), np.repeat(kinds, sizes))


def _watched(n_variables: int, tables: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    controlled = {tuple(sorted(columns)) for columns in tables}
    pairs = [columns for size in (1, 2) for columns in combinations(range(n_variables), size)]
    found = [columns for columns in pairs if columns not in controlled]
    return found if len(found) <= _MOST_WATCHED else []


@dataclass(frozen=True)
class Limits:
    """When the search may stop: at these largest deviations (both), after this many steps, after this many seconds."""

    single: int | None = None
    crossed: int | None = None
    steps: int | None = None
    seconds: float | None = None

    def content(self, largest: tuple[int, int]) -> bool:
        """Whether nothing better is asked for."""
        if max(largest) == 0:
            return True
        return (
            self.single is not None
            and self.crossed is not None
            and largest[SINGLE] <= self.single
            and largest[CROSSED] <= self.crossed
        )

    def floor(self, kind: int) -> int:
        """What a class of cells need not go below."""
        return (self.single if kind == SINGLE else self.crossed) or 0


NO_LIMITS = Limits()


@dataclass(frozen=True, eq=False)
class SafeCounts:
    """New counts of the patterns, how far controlled cells are from the truth, and how the search ended."""

    counts: Ints = field(repr=False)
    deviation: Ints = field(repr=False)
    largest: tuple[int, int]
    steps: int
    ended: str


def safe_counts(
    x: Ints,
    patterns: Narrow,
    controls: Controls,
    *,
    stream: np.random.Generator,
    limits: Limits = NO_LIMITS,
    progress: Progress = silent,
) -> SafeCounts:
    """Counts 0, 3, 4, … of the same total; `ended` is "content", "stuck", "steps" or "time"."""
    search = _Search(x, patterns, controls, stream, limits)
    began = clock.now()
    ended, steps = "stuck", 0
    for best in search.work():
        steps += 1
        passed = clock.now() - began
        progress(_share(steps, passed, limits), f"largest deviation {max(best.largest)}")
        if limits.content(best.largest):
            ended = "content"
        elif limits.steps is not None and steps >= limits.steps:
            ended = "steps"
        elif limits.seconds is not None and passed >= limits.seconds:
            ended = "time"
        else:
            continue
        break
    deviation = kernel.deviations(controls.cells, best.counts - x, controls.n_cells)
    return SafeCounts(best.counts, deviation[controls.controlled], best.largest, steps, ended)


def _share(steps: int, passed: float, limits: Limits) -> float:
    """How far the search is: of its limits, or on a scale without end."""
    shares = [1.0 - 0.99**steps]
    if limits.steps:
        shares.append(steps / limits.steps)
    if limits.seconds:
        shares.append(passed / limits.seconds)
    return min(max(shares), 1.0)


def first_counts(x: Ints, order: Narrow) -> Ints:
    """Remainders of 1 and 2 are carried along an order, so that sums along it stay near; the total is exact."""
    y = np.where(x >= 3, x, 0).astype(np.int64)
    small = order[(x[order] > 0) & (x[order] < 3)]
    threes = (np.cumsum(x[small]) + 1) // 3
    y[small] = 3 * np.diff(threes, prepend=0)
    _keep_total(y, int(x.sum()))
    return y


def _keep_total(y: Ints, total: int) -> None:
    """Carrying leaves at most 1 too many or too few: put it where counts stay 0 or at least 3."""
    missing = total - int(y.sum())
    large = np.flatnonzero(y >= 3)
    if missing == 1 and large.size:
        y[large[0]] += 1
    elif missing == -1 and (y > 3).any():
        y[np.flatnonzero(y > 3)[0]] -= 1
    elif missing == -1 and large.size > 1:  # 3 + 3 becomes 0 + 5
        y[large[0]] = 0
        y[large[1]] = 5
    elif missing:
        raise InfeasibleError("safe: fewer than 3 records have no counts without 1 and 2; leave the file out.")


@dataclass(frozen=True, eq=False)
class _Kept:
    """Counts that are the best so far, and how good they are."""

    score: tuple[int, ...]
    largest: tuple[int, int]
    counts: Ints = field(repr=False)


class _Search:
    """The state of the search: counts, deviations, orders of the patterns, the best counts since this start and of all."""

    def __init__(
        self, x: Ints, patterns: Narrow, controls: Controls, stream: np.random.Generator, limits: Limits
    ) -> None:
        self.x, self.patterns, self.controls = x.astype(np.int64), patterns, controls
        self.stream, self.limits = stream, limits
        self.starts, self.members = kernel.list_members(controls.cells, controls.n_cells)
        self.orders = np.empty((_ORDERS, len(x)), dtype=np.int32)
        self.places = np.empty_like(self.orders)
        self.turn = 0
        self.small = len(x) <= _SMALL
        self.y = np.zeros_like(self.x)
        self.deviation = np.zeros(controls.n_cells, dtype=np.int64)
        self.here: _Kept | None = None
        self.best: _Kept | None = None

    def work(self) -> Iterator["_Kept"]:
        """The best counts of all after each step; several starts, because each may get stuck somewhere else."""
        for _ in range(_SMALL_STARTS if self.small else _STARTS):
            self._begin()
            for _ in self._steps():
                self.keep_best()
                assert self.best is not None
                yield self.best

    def _steps(self) -> Iterator[None]:
        for power in _POWERS:
            yield from self._sweeps(_powers(power), _SWEEPS)
        for kind in (CROSSED, SINGLE):
            yield from self._tighten(kind)

    def keep_best(self) -> None:
        """Remember the counts if they are better: by the largest deviation, by class, then by the sum of squares."""
        single, crossed = self._largest()
        score = (max(single, crossed), crossed, single, int((self.deviation**2).sum()))
        if self.here is None or score < self.here.score:
            self.here = _Kept(score, (single, crossed), self.y.copy())
            if self.best is None or score < self.best.score:
                self.best = self.here

    def _largest(self) -> tuple[int, int]:
        sizes, kind = np.abs(self.deviation), self.controls.kind_of_cell
        return int(sizes[kind == SINGLE].max(initial=0)), int(sizes[kind == CROSSED].max(initial=0))

    def _begin(self) -> None:
        for _ in range(_ORDERS):
            self._renew_order()
        self.here = None
        self._take(first_counts(self.x, self.orders[0]))
        self.keep_best()

    def _take(self, counts: Ints) -> None:
        self.y = counts.copy()
        self.deviation = kernel.deviations(self.controls.cells, self.y - self.x, self.controls.n_cells)

    def _renew_order(self) -> Narrow:
        """Sort the patterns by their variables in a drawn sequence, the codes in drawn orders: neighbours share much."""
        self.turn = (self.turn + 1) % _ORDERS
        order = _sorted(self.patterns, self.stream)
        self.orders[self.turn] = order
        self.places[self.turn, order] = np.arange(len(order), dtype=np.int32)
        return order

    def _sweep(self, gains: Ints, order: Narrow) -> int:
        controls = self.controls
        return int(kernel.sweep(controls.cells, controls.kinds, self.deviation, gains, self.y, order, _REACH))

    def _sweeps(self, gains: Ints, rounds: int) -> Iterator[None]:
        idle = 0
        for number in range(rounds):
            made = self._sweep(gains, self.orders[number % _ORDERS])
            yield
            idle = 0 if made else idle + 1
            if idle == _ORDERS:
                return

    def _tighten(self, kind: int) -> Iterator[None]:
        """Lower the bound of a class, and of the other one where it is larger, as long as they can be kept."""
        while self.here is not None:
            before = self.here
            self._take(before.counts)
            goal = _lowered(before.largest, kind, self.limits)
            if goal is None:
                return
            yield from self._toward(goal)
            self.keep_best()
            if self.here.score[:3] >= before.score[:3]:
                return

    def _toward(self, goal: tuple[int, int]) -> Iterator[None]:
        """Mend deviations beyond the goal until there is none, or nothing helps any more."""
        controls, gains = self.controls, _bounded(goal, watch=not self.small)
        bounds = np.array((*goal, _NO_BOUND), dtype=np.int64)
        fewest, idle = np.inf, 0
        while idle < (_SMALL_PATIENCE if self.small else _PATIENCE):
            chosen = self._beyond(bounds)
            if not chosen.size:
                return
            made = kernel.mend(
                controls.cells, controls.kinds, self.deviation, gains, self.y, chosen, self.orders, self.places, _FAR, bounds
            )  # fmt: skip
            yield
            if made * 50 <= chosen.size:
                self._wander(gains, bounds)
                self._sweep(gains, self._renew_order())
                yield
            excess = int(np.maximum(np.abs(self.deviation) - bounds[controls.kind_of_cell], 0).sum())
            fewest, idle = (excess, 0) if excess < fewest else (fewest, idle + 1)

    def _wander(self, gains: Ints, bounds: Ints) -> None:
        """Drawn exchanges that may cost something: of all patterns in a small file, else of those beyond their bounds."""
        if self.small:
            pairs = self.stream.integers(0, len(self.y), (2, _PAIRS))
            cooling = np.linspace(_BEYOND, 0, _PAIRS)  # annealing: less and less may be lost
            self._exchange(gains, np.full(3, -1), pairs[0], pairs[1], cooling)
            return
        for _ in range(_WALKS):
            chosen = self._beyond(bounds)
            if not chosen.size:
                return
            self._exchange(gains, bounds, chosen, self._neighbours(chosen), np.full(chosen.size, _HEAT))

    def _exchange(
        self, gains: Ints, bounds: Ints, chosen: NDArray[Any], others: NDArray[Any], heat: NDArray[Any]
    ) -> None:
        limits = (2 * heat * self.stream.random(chosen.size)).astype(np.int64)
        controls = self.controls
        kernel.wander(controls.cells, controls.kinds, self.deviation, gains, self.y, chosen, others, limits, bounds)

    def _neighbours(self, chosen: Narrow) -> NDArray[Any]:
        """A drawn neighbour of each pattern in a drawn order; −1 beyond the ends."""
        last = len(self.y) - 1
        order = self.stream.integers(0, _ORDERS, chosen.size)
        away = self.stream.integers(1, _FAR + 1, chosen.size) * self.stream.choice((-1, 1), chosen.size)
        place = self.places[order, chosen] + away
        inside = (place >= 0) & (place <= last)
        return np.where(inside, self.orders[order, np.clip(place, 0, last)], -1)

    def _beyond(self, bounds: Ints) -> Narrow:
        """The patterns of cells beyond their bounds, in a drawn order."""
        bad = np.flatnonzero(np.abs(self.deviation) > bounds[self.controls.kind_of_cell])
        parts = [self.members[self.starts[cell] : self.starts[cell + 1]] for cell in bad.tolist()]
        return self.stream.permutation(np.unique(np.concatenate(parts))) if parts else np.zeros(0, dtype=np.int32)


def _powers(power: int) -> Ints:
    """A variable by itself is looked at most; what is watched counts with its squares."""
    sizes = np.arange(kernel.LIMIT + kernel.MOST + 1, dtype=np.int64)
    return kernel.gains_of(np.stack([2 * sizes**power, sizes**power, sizes**2]))


def _bounded(bounds: tuple[int, int], *, watch: bool) -> Ints:
    sizes = np.arange(kernel.LIMIT + kernel.MOST + 1, dtype=np.int64)
    rows = [_BEYOND * np.maximum(0, sizes - bound) ** 2 + sizes**2 + 20 * (sizes >= bound) for bound in bounds]
    return kernel.gains_of(np.stack([*rows, sizes**2 * watch]))


def _lowered(largest: tuple[int, int], kind: int, limits: Limits) -> tuple[int, int] | None:
    """The next goal: one less for the class whose turn it is; None where nothing less is asked for."""
    target = (max(largest) if kind == CROSSED else largest[SINGLE]) - 1
    if kind == SINGLE:
        return None if target < limits.floor(SINGLE) else (target, largest[CROSSED])
    goal = tuple(min(now, max(target, limits.floor(each))) for each, now in enumerate(largest))
    return None if target < 0 or goal == largest else (goal[SINGLE], goal[CROSSED])


def _sorted(patterns: Narrow, stream: np.random.Generator) -> Narrow:
    """An order by all variables, in a drawn sequence and with drawn orders of their codes."""
    columns = []
    for column in stream.permutation(patterns.shape[1]).tolist():
        codes = patterns[:, column]
        columns.append(stream.permutation(int(codes.max(initial=0)) + 1)[codes])
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if float(np.prod(np.array(sizes, dtype=np.float64))) >= 2.0**62:
        return np.lexsort(columns[::-1]).astype(np.int32)
    key = np.zeros(len(patterns), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key = key * size + column
    return np.argsort(key, kind="stable").astype(np.int32)
