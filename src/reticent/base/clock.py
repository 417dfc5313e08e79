"""The clock that searches look at: the machine's by default, or one that its owner sets.

Every time limit is read from here, so that a test (or whoever wants a run that does not depend on the load of the
machine) can put a clock of its own in place: `with clock.using(StepClock()): …`.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Clock(Protocol):
    """What a search needs to know about time."""

    def now(self) -> float:
        """Seconds since some start; never goes back."""
        ...

    def nodes(self, seconds: float) -> int | None:
        """How many nodes of branch and bound these seconds stand for; None: the solver watches the time itself."""
        ...


class MachineClock:
    """The machine's own seconds."""

    def now(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def nodes(self, seconds: float) -> int | None:
        """The solver watches the time itself."""
        return None


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

    def nodes(self, seconds: float) -> int | None:
        """A fixed number of nodes for each second; no limit where there is none."""
        return max(1, int(seconds * self._nodes_per_second)) if math.isfinite(seconds) else None


_current: Clock = MachineClock()


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
