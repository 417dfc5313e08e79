# SPDX-License-Identifier: Apache-2.0
"""The clock that searches look at: the machine's by default, or one that its owner sets.

Every time limit is read from here, so that a test (or whoever wants a run that does not depend on the load of the
machine) can put a clock of its own in place: `with clock.using(StepClock()): …`.

A limited run has one deadline, and all its parts end by it: `with clock.until(Deadline(moment)): …`. Inside, every program
of the solver gets the time that is left, `check` is called where much is done without the solver, and both raise `OutOfTime`
when it has passed. Deadlines nest: the earliest counts. Whoever opens one decides what is left of the work.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from reticent.base.errors import OutOfTime


class Clock(Protocol):
    """What a search needs to know about time."""

    def now(self) -> float:
        """Seconds since some start; never goes back."""
        ...

    def peek(self) -> float:
        """The same for those who only ask whether a deadline has passed: looking need not count as a step."""
        ...

    def nodes(self, seconds: float) -> int | None:
        """How many nodes of branch and bound these seconds stand for; None: the solver watches the time itself."""
        ...

    def wall(self, seconds: float) -> float:
        """For a solver that watches the time itself: about how many of the machine's seconds these are."""
        ...


class MachineClock:
    """The machine's own seconds."""

    def now(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def peek(self) -> float:
        """The same."""
        return time.monotonic()

    def nodes(self, seconds: float) -> int | None:
        """The solver watches the time itself."""
        return None

    def wall(self, seconds: float) -> float:
        """The same."""
        return seconds


class StepClock:
    """A clock that moves only when somebody looks: limits become counts of steps, whatever the machine is doing."""

    def __init__(self, *, tick: float = 0.01, nodes_per_second: float = 100.0) -> None:
        self._tick = tick
        self._nodes_per_second = nodes_per_second
        self._steps = 0

    @property
    def steps(self) -> int:
        """How often the clock has been looked at."""
        return self._steps

    def now(self) -> float:
        """One tick more than at the last look."""
        self._steps += 1
        return self._steps * self._tick

    def peek(self) -> float:
        """What the last look has seen."""
        return self._steps * self._tick

    def nodes(self, seconds: float) -> int | None:
        """A fixed number of nodes for each second; no limit where there is none."""
        return max(1, int(seconds * self._nodes_per_second)) if math.isfinite(seconds) else None

    def wall(self, seconds: float) -> float:
        """No limit: nodes are counted."""
        return math.inf


class CountingClock:
    """Another clock, and how often it was looked at: this many steps of a `StepClock` stand for the same work."""

    def __init__(self, inner: Clock) -> None:
        self._inner = inner
        self.looks = 0

    def now(self) -> float:
        """What the other says; the look counts."""
        self.looks += 1
        return self._inner.now()

    def peek(self) -> float:
        """What the other says."""
        return self._inner.peek()

    def nodes(self, seconds: float) -> int | None:
        """What the other says."""
        return self._inner.nodes(seconds)

    def wall(self, seconds: float) -> float:
        """What the other says."""
        return self._inner.wall(seconds)


class Deadline:
    """The moment by which some work ends; `checks` is how often what it finds is attacked again, by that of the work around.

    It may be brought forward; only who opened it may put it off.
    """

    def __init__(self, moment: float, *, checks: int = 0) -> None:
        self.moment = moment
        self._outer = _deadline.get()
        self.checks: int = checks + (0 if self._outer is None else self._outer.checks)

    def bring_forward(self, moment: float) -> None:
        """End earlier."""
        self.moment = min(self.moment, moment)

    @property
    def earliest(self) -> float:
        """The moment that counts: this one, or that of the work around it."""
        return self.moment if self._outer is None else min(self.moment, self._outer.earliest)


_MARGIN = 0.5  # share of the overrun after which work is stopped; the rest is for what does not stop at once
_current: Clock = MachineClock()
# one for each line of work: threads that work for the same run are given a copy
_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def limited(seconds: float, *, checks: int = 0) -> Deadline:
    """The deadline of a run that is given some seconds: what cannot be stopped at once still ends within `overrun`."""
    return Deadline(_current.peek() + seconds + _MARGIN * overrun(seconds), checks=checks)


def overrun(seconds: float) -> float:
    """By how much a limit may be passed: a tenth, or two seconds where that is more."""
    return max(0.1 * seconds, 2.0)


def peek() -> float:
    """Seconds of the clock in use, for those who only ask."""
    return _current.peek()


def now() -> float:
    """Seconds of the clock in use."""
    return _current.now()


def current() -> Clock:
    """The clock in use."""
    return _current


@contextmanager
def using(clock: Clock) -> Iterator[Clock]:
    """Use another clock for a while, in this process."""
    global _current
    before, _current = _current, clock
    try:
        yield clock
    finally:
        _current = before


@contextmanager
def until(deadline: Deadline) -> Iterator[Deadline]:
    """Work under a deadline: `left` and `check` see it."""
    token = _deadline.set(deadline)
    try:
        yield deadline
    finally:
        _deadline.reset(token)


@contextmanager
def within(moment: float) -> Iterator[None]:
    """Work that is given up at a moment, without a word; a deadline around it that has passed is still an error."""
    deadline = Deadline(moment)
    try:
        with until(deadline):
            yield
    except OutOfTime:
        check()


def deadline() -> Deadline | None:
    """The deadline of the work that is under way; None: it may take as long as it takes."""
    return _deadline.get()


def left() -> float:
    """Seconds until the deadline; infinite where there is none."""
    limit = _deadline.get()
    return math.inf if limit is None else limit.earliest - _current.peek()


def check() -> None:
    """Raise `OutOfTime` if the deadline has passed."""
    if left() < 0:
        raise OutOfTime(
            "The time limit has passed before the work was done; nothing may be published. Give more time (time_limit)."
        )
