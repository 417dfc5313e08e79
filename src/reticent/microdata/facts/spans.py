# SPDX-License-Identifier: Apache-2.0
"""Which numbers a published number may stand for: exact intervals, and how each way of coarsening widens them."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from reticent.data.facts import Interval


@dataclass(frozen=True)
class Span:
    """Numbers from `low` to `high` (None: no end); an open end does not belong to it."""

    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False

    @classmethod
    def point(cls, value: float) -> "Span":
        """One number, as its shortest decimal text says."""
        exact = Fraction(repr(float(value)))
        return cls(exact, exact)

    def whole(self, scale: int) -> Interval:
        """The whole numbers x with x/scale inside, as ends; an empty span has its ends crossed."""
        low = None if self.low is None else ceil(self.low * scale)
        if low is not None and self.low_open and low == self.low * scale:  # type: ignore[operator]
            low += 1
        high = None if self.high is None else floor(self.high * scale)
        if high is not None and self.high_open and high == self.high * scale:  # type: ignore[operator]
            high -= 1
        return low, high

    def holds(self, value: Fraction) -> bool:
        """Whether a number lies inside."""
        above = self.low is None or value > self.low or (value == self.low and not self.low_open)
        below = self.high is None or value < self.high or (value == self.high and not self.high_open)
        return above and below

    def meets(self, low: Fraction | None, high: Fraction | None) -> bool:
        """Whether a number from `low` to `high` (None: no end) lies inside."""
        if self.low is not None and high is not None and (high < self.low or (high == self.low and self.low_open)):
            return False
        if self.high is not None and low is not None and (low > self.high or (low == self.high and self.high_open)):
            return False
        return self.low is None or self.high is None or self.low <= self.high


Inverse = Callable[[Span], Span]
"""The numbers that a step shows somewhere inside a span."""
NOTHING = Span(Fraction(1), Fraction(0))
EVERYTHING = Span()


@dataclass(frozen=True)
class Grid:
    """The points that numbers are rounded to: multiples of `base`, or the sorted `points`; `how` as in the method.

    `tie_up` says for two neighbouring points whether a number half way between them goes up.
    """

    base: Fraction | None
    points: tuple[Fraction, ...]
    how: str
    tie_up: Callable[[Fraction], bool]

    def inverse(self, shown: Span) -> Span:
        """The numbers that are rounded to a point inside the span."""
        first, last = self._first(shown), self._last(shown)
        if first is None or last is None or first > last:
            return NOTHING
        below, above = self._below(first), self._above(last)
        low, low_open = self._low(below, first)
        high, high_open = self._high(last, above)
        return Span(low, high, low_open, high_open)

    def _low(self, below: Fraction | None, point: Fraction) -> tuple[Fraction | None, bool]:
        """The end of the numbers that can go up to a point."""
        if below is None:
            return None, False
        if self.how == "down":
            return point, False
        if self.how in ("up", "random"):
            return below, True
        middle = (below + point) / 2
        return middle, not self.tie_up(middle)

    def _high(self, point: Fraction, above: Fraction | None) -> tuple[Fraction | None, bool]:
        """The end of the numbers that can go down to a point."""
        if above is None:
            return None, False
        if self.how == "up":
            return point, False
        if self.how in ("down", "random"):
            return above, True
        middle = (point + above) / 2
        return middle, self.tie_up(middle)

    def _first(self, shown: Span) -> Fraction | None:
        if self.base is not None:
            if shown.low is None:
                return Fraction(-(10**30))
            at = ceil(shown.low / self.base)
            return self.base * (at + (shown.low_open and at * self.base == shown.low))
        at = 0 if shown.low is None else (bisect_right if shown.low_open else bisect_left)(self.points, shown.low)
        return self.points[at] if at < len(self.points) else None

    def _last(self, shown: Span) -> Fraction | None:
        if self.base is not None:
            if shown.high is None:
                return Fraction(10**30)
            at = floor(shown.high / self.base)
            return self.base * (at - (shown.high_open and at * self.base == shown.high))
        at = len(self.points)
        if shown.high is not None:
            at = (bisect_left if shown.high_open else bisect_right)(self.points, shown.high)
        return self.points[at - 1] if at else None

    def _below(self, point: Fraction) -> Fraction | None:
        if self.base is not None:
            return None if point <= -(10**30) else point - self.base
        at = bisect_left(self.points, point)
        return self.points[at - 1] if at else None

    def _above(self, point: Fraction) -> Fraction | None:
        if self.base is not None:
            return None if point >= 10**30 else point + self.base
        at = bisect_right(self.points, point)
        return self.points[at] if at < len(self.points) else None


@dataclass(frozen=True)
class Limit:
    """Numbers beyond `limit` are shown as `replacement` (not on this side of the limit); `sign` −1 codes the bottom."""

    limit: Fraction
    replacement: Fraction
    sign: int

    def inverse(self, shown: Span) -> Span:
        """The numbers that are shown inside the span."""
        if self.sign < 0:
            mirrored = Limit(-self.limit, -self.replacement, 1).inverse(_mirror(shown))
            return _mirror(mirrored)
        inside = _until(shown, self.limit)
        if not shown.holds(self.replacement):
            return inside
        tail = Span(self.limit, None, low_open=self.replacement != self.limit)
        empty = inside.low is not None and inside.high is not None and inside.low > inside.high
        return tail if empty else Span(inside.low, None, inside.low_open)

    @property
    def beyond(self) -> Span:
        """The numbers that were replaced."""
        tail = Span(self.limit, None, low_open=True)
        return tail if self.sign > 0 else Span(None, self.limit, high_open=True)


def _until(shown: Span, limit: Fraction) -> Span:
    """The part of a span that is not above a limit."""
    if shown.high is not None and shown.high <= limit:
        return shown
    return Span(shown.low, limit, shown.low_open)


def _mirror(span: Span) -> Span:
    low = None if span.high is None else -span.high
    high = None if span.low is None else -span.low
    return Span(low, high, span.high_open, span.low_open)


def through(shown: Span, inverses: Sequence[Inverse]) -> Span:
    """The true numbers that all steps together show inside a span; the last step is undone first."""
    for inverse in reversed(inverses):
        shown = inverse(shown)
    return shown
