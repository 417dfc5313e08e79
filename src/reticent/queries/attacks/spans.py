# SPDX-License-Identifier: Apache-2.0
"""What an attacker holds of a number: the interval it must lie in. An exact answer is an interval of no width."""

from typing import Any, NamedTuple


class Span(NamedTuple):
    """From `low` to `high`."""

    low: float
    high: float

    @classmethod
    def of(cls, value: Any) -> "Span | None":
        """An answered value: a number, or a (low, high) pair; None for anything else."""
        if isinstance(value, tuple) and len(value) == 2:
            return cls(float(value[0]), float(value[1]))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return cls(float(value), float(value))
        return None

    def plus(self, other: "Span") -> "Span":
        """The sum."""
        return Span(self.low + other.low, self.high + other.high)

    def minus(self, other: "Span") -> "Span":
        """The difference."""
        return Span(self.low - other.high, self.high - other.low)

    def times(self, factor: float) -> "Span":
        """A multiple."""
        ends = sorted((self.low * factor, self.high * factor))
        return Span(ends[0], ends[1])

    def error(self, truth: float) -> float:
        """The relative distance of the worse end from the truth: small only if the attacker is near and sure."""
        worst = max(abs(self.low - truth), abs(self.high - truth))
        return worst / abs(truth) if truth else worst


def mean_of(spans: list[Span]) -> Span | None:
    """The average of several spans."""
    if not spans:
        return None
    return Span(sum(s.low for s in spans) / len(spans), sum(s.high for s in spans) / len(spans))
