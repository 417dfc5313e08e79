# SPDX-License-Identifier: Apache-2.0
"""Which weights a published one may stand for, and whether these are those of one code, or of a narrow range of codes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask

FEWEST = 3
"""Respondents (or households) that must share a weight before it says something about where they live."""
LUCK = 0.001
"""How likely the nearby weights of any record may be those of one code by chance, before they count as telling it."""
NARROW = 2 / 3
"""The share of those who show a code among whom a weight must place a record, before it counts as telling a finer one."""
ONE_FACTOR = 1 + 1e-6
"""The ratio of the largest factor to the smallest, below which all weights were multiplied by one."""
Ends = tuple[float, float]
"""The smallest and the largest factor by which weights were multiplied."""


@dataclass(frozen=True)
class Nearby:
    """For each published record the weights of before that its disturbed one can stand for, as a range in their order."""

    order: Ints
    unit: Ints
    start: Ints
    stop: Ints
    here: Mask

    @classmethod
    def of(cls, before: Floats, unit: Ints, shown: Floats, own: Ints) -> "Nearby | None":
        """By the weights that the original records had at some time (NaN: gone); None where equal ones stayed equal."""
        here = own >= 0
        ends = _factors(np.where(here, before[own], np.nan), shown)
        if ends is None or ends[1] / ends[0] < ONE_FACTOR:
            return None
        there = np.flatnonzero(~np.isnan(before))
        order = there[np.lexsort((unit[there], before[there]))]
        start = np.searchsorted(before[order], shown / ends[1], "left")
        stop = np.searchsorted(before[order], shown / ends[0], "right")
        return cls(order, unit, start, stop, here)

    @classmethod
    def among(cls, before: Floats, unit: Ints, shown: Floats, ends: Ends) -> "Nearby":
        """The same among some published records, disturbed or not, by their weights of before and published ones."""
        low, high = ends
        order = np.lexsort((unit, before))
        start = np.searchsorted(before[order], shown / high, "left")
        stop = np.searchsorted(before[order], shown / low, "right")
        return cls(order, unit, start, stop, np.ones(before.size, dtype=bool))

    def one_code(self, codes: Ints, shown: Floats, *, trials: int = 1) -> Mask:
        """Records whose nearby weights are all those of one code, and of too many respondents for chance.

        `shown` is how likely the published code makes the true one, and `trials` how often something like this is looked at:
        chance has as many more ways.
        """
        code, unit = codes[self.order], self.unit[self.order]
        ends = np.append(np.flatnonzero(np.diff(code)) + 1, code.size)
        same = ends[np.searchsorted(ends, self.start, "right").clip(max=ends.size - 1)] >= self.stop
        counted = np.append(0, np.cumsum(np.append(True, np.diff(unit) != 0)))
        units = counted[self.stop] - counted[self.start]
        first = code[self.start.clip(max=code.size - 1)]
        share = np.maximum(np.bincount(code + 1, minlength=int(code.max()) + 2)[first + 1] / code.size, shown)
        with np.errstate(divide="ignore"):
            luck = np.log(share) * (units - 1) + np.log(code.size * max(trials, 1))
        return np.asarray(self.here & (first >= 0) & same & (units >= FEWEST) & (luck <= np.log(LUCK)))

    def reach(self, codes: Ints) -> tuple[Ints, Ints]:
        """The first and the last of the codes that the nearby weights of each have."""
        code = codes[self.order]
        return _extremes(code, self.start, self.stop), -_extremes(-code, self.start, self.stop)

    def narrow(self, codes: Ints, *, trials: int) -> Mask:
        """Records whose nearby weights leave a part of the codes only, by more respondents than chance puts there.

        The part is a range in the order of the codes, and of at most `NARROW` of the records.
        """
        code, unit = codes[self.order], self.unit[self.order]
        low, high = self.reach(codes)
        counted = np.append(0, np.cumsum(np.append(True, np.diff(unit) != 0)))
        units = counted[self.stop] - counted[self.start]
        upto = np.append(0, np.cumsum(np.bincount(code + 1, minlength=int(code.max()) + 2)))
        share = (upto[high + 2] - upto[low + 1]) / code.size
        ways = float(np.unique(code).size) ** 2 * np.unique(self.start).size * max(trials, 1)
        luck = np.log(np.maximum(share, 1e-300)) * units + np.log(ways)
        return np.asarray((low >= 0) & (share <= NARROW) & (units >= FEWEST) & (luck <= np.log(LUCK)))


def _extremes(values: Ints, start: Ints, stop: Ints) -> Ints:
    """The least value of each stretch from start to below stop, by tables of stretches of 1, 2, 4, … values."""
    tables = [values.astype(np.int32)]
    while 2 ** len(tables) <= values.size:
        last, step = tables[-1], 2 ** (len(tables) - 1)
        tables.append(np.append(np.minimum(last[:-step], last[step:]), last[-step:]))
    level = np.log2(np.maximum(stop - start, 1)).astype(np.int64)
    flat = np.stack(tables)
    first = start.clip(max=values.size - 1)
    return np.asarray(np.minimum(flat[level, first], flat[level, (stop - 2**level).clip(min=0)]), dtype=np.int64)


def _factors(before: Floats, shown: Floats) -> Ends | None:
    """The smallest and the largest factor by which weights were multiplied, a little outwards; None if there are none."""
    factor = (shown / before)[~np.isnan(before)]
    return (float(factor.min()) * (1 - 1e-9), float(factor.max()) * (1 + 1e-9)) if factor.size else None


def readings(before: Sequence[Floats], own: Ints, shown: Floats) -> list[tuple[Floats, Ends]]:
    """Weights that published ones may stand for, with the factors between: those of some time before, and as published.

    Where a sample makes weights, those of the source need not say anything of it: all of them may have been equal.
    """
    found = [(shown, (1 - 1e-9, 1 + 1e-9))]
    for column in before:
        weights = np.where(own >= 0, column[own], np.nan)
        ends = _factors(weights, shown)
        if ends is not None and ends[1] / ends[0] >= ONE_FACTOR:
            found.append((np.where(np.isnan(weights), 1.0, weights), ends))
    return found
