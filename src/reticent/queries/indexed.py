# SPDX-License-Identifier: Apache-2.0
"""Values that all changed in one way between two versions of the data: a rise of pay, an index, another currency.

Whoever knows the rise takes an answer about the new version for one about the old. So records whose new value lies on one
straight line over the old one count with their old value, times the slope of the line. Lines are found in the values, over
all records or for each code of a filter; records that follow none keep their own values.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.queries.ties import Groups, unit_of

AS_BEFORE = "~"
"""Marks the name of a response whose values count as they were before they all changed."""
FEWEST, SHARE = 5, 0.5
NEARLY, EXACTLY, NARROW = 1e-3, 1e-9, 0.02
MOST_DIGITS = 6


def plain_name(name: str) -> str:
    """The response that a marked name is about."""
    return name.removesuffix(AS_BEFORE)


@dataclass(frozen=True)
class Before:
    """The values of each version, those that follow a line over an earlier version as they were there.

    `line` has the place in `rates` of the line that each record follows (0: none); a rate is what a rise of the old value
    by 1 is in the new one.
    """

    values: list[Floats]
    line: list[Ints]
    rates: list[Fraction]

    @classmethod
    def of(
        cls, ids: Sequence[NDArray[np.uint64]], values: Sequence[Floats], groups: Sequence[Groups]
    ) -> "Before | None":
        """Compare each version with those before it; None if no values follow a line. `groups` are codes of the records."""
        made = cls([values[0]], [np.zeros(len(values[0]), dtype=np.int64)], [Fraction(1)])
        for number in range(1, len(values)):
            made.values.append(values[number].copy())
            made.line.append(np.zeros(len(values[number]), dtype=np.int64))
            for earlier in range(number):
                _, here, there = np.intersect1d(ids[number], ids[earlier], return_indices=True)
                both = ~np.isnan(values[number][here]) & ~np.isnan(values[earlier][there]) & (made.line[-1][here] == 0)
                old, new = values[earlier][there[both]], values[number][here[both]]
                for rows, rate in _lines(old, new, [codes[here[both]] for codes in groups[number]]):
                    made._follow(here[both][rows], there[both][rows], earlier, rate)
        return made if len(made.rates) > 1 else None

    def _follow(self, here: Ints, there: Ints, earlier: int, rate: Fraction) -> None:
        """Let records of the last version follow a line over an earlier one, which may follow a line itself."""
        self.values[-1][here] = self.values[earlier][there]
        for line in np.unique(self.line[earlier][there]).tolist():
            own = here[self.line[earlier][there] == line]
            self.line[-1][own] = len(self.rates)
            self.rates.append(rate * self.rates[line])

    def weights(self, power: int) -> list[int]:
        """The rates, or their squares, as whole numbers on a common scale."""
        scale = math.lcm(*(rate.denominator for rate in self.rates))
        return [int(rate * scale) ** power for rate in self.rates]


def _lines(old: Floats, new: Floats, groups: Groups) -> Iterator[tuple[Ints, Fraction]]:
    """The records that changed along one line, over all of them or within the codes of a filter, and its slope."""
    changed = np.flatnonzero(old != new)
    for codes in (np.zeros(len(old), dtype=np.int32), *groups):
        found = []
        for code in np.unique(codes[changed]):
            part: Ints = changed[codes[changed] == code]
            line = _on_a_line(old[part], new[part])
            found += [] if line is None else [(part[line[0]], line[1])]
        if found:
            yield from found
            return


def _on_a_line(old: Floats, new: Floats) -> tuple[Mask, Fraction] | None:
    """Which points lie on the line that most of them lie on, up to the rounding of both, and its slope."""
    if len(np.unique(old)) < FEWEST:
        return None
    order = np.argsort(old, kind="stable")
    half = len(old) // 2
    run, rise = (v[order[half : 2 * half]] - v[order[:half]] for v in (old, new))
    slope = float(np.median(rise[run > 0] / run[run > 0])) if bool((run > 0).any()) else 0.0
    rounding = unit_of(new) + abs(slope) * unit_of(old)
    near = _within(old, new, slope, rounding + NEARLY * np.abs(new))
    if slope == 0.0 or len(np.unique(old[near])) < FEWEST:
        return None
    slope = float(np.polyfit(old[near], new[near], 1)[0])
    allowed = rounding + EXACTLY * float(np.abs(new).max())
    follow = _within(old, new, slope, np.full(len(new), allowed))
    enough = np.mean(follow) >= SHARE and len(np.unique(old[follow])) >= FEWEST
    if not enough or allowed > NARROW * float(new[follow].std()):
        return None
    return follow, _simple(slope, allowed / float(np.ptp(old[follow])))


def _simple(slope: float, within: float) -> Fraction:
    """A fraction near a slope with few digits: two lines with the same rate must have the same one."""
    exact = Fraction(slope)
    for digits in range(1, MOST_DIGITS):
        found = exact.limit_denominator(10**digits)
        if found and abs(found - exact) <= within:
            return found
    return exact.limit_denominator(10**MOST_DIGITS) or Fraction(1)


def _within(old: Floats, new: Floats, slope: float, allowed: Floats) -> Mask:
    left = new - slope * old
    return np.asarray(np.abs(left - np.median(left)) <= allowed, dtype=bool)
