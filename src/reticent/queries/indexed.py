# SPDX-License-Identifier: Apache-2.0
"""Values that all changed in one way between two versions of the data: a rise of pay, an index, another currency.

Whoever knows the rise takes an answer about the new version for one about the old. So records whose new value lies on one
straight line over the old one count with their old value, times the slope of the line. Lines are found in the values, over
all records or for each code of a filter; records that follow none keep their own values. The same holds for a response that
repeats another one of an earlier version (the pay of the year before), and for two responses of one version if both may be
added up (`within`): where income is pay for all but one of a group, the two sums tell what else this one earns. What bounds
the new values bounds the old ones too: of ages up to 99 that all rose by 1, no old one was 99.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.queries.fixed import fixed_point
from reticent.queries.ties import MORE, Groups, unit_of

AS_BEFORE = "~"
"""Marks the name of a response whose values count as they were before they all changed."""
FEWEST, FEWEST_POINTS, SHARE = 5, 3, 0.5
NEARLY, EXACTLY, NARROW = 1e-3, 1e-9, 0.02
OF_A_UNIT = 1 / 16
"""The part of the unit of values by which an exact line may miss one, so small that most rounded values are not exact."""
LAST_DIGITS = 16 * 2.0**-52
SHORTEST = 2.0**-900
SLIGHT = 1e-3
MOST_DIGITS = 6
PAIRS, SCORED, USUAL = 96, 300, 16
ROUNDEST, FINEST = -12, 15


@dataclass(frozen=True)
class Layer:
    """The values of a response in one version, with the ids of the records and their codes for each filter."""

    version: int
    response: str
    ids: NDArray[np.uint64]
    values: Floats
    groups: Groups

    def common(self, earlier: "Layer") -> tuple[Ints, Ints]:
        """The records here and there that have both values."""
        _, here, there = np.intersect1d(self.ids, earlier.ids, return_indices=True)
        both = ~np.isnan(self.values[here]) & ~np.isnan(earlier.values[there])
        return here[both], there[both]

    def repeats(self, earlier: "Layer", *, within: bool) -> bool:
        """Whether another response of an earlier version has most of these values, or others on one line with them.

        With `within`, also of the same version: then some of its records, or some of a code, follow a line and others do not.
        """
        if self.version < earlier.version or self.response == earlier.response:
            return False
        here, there = self.common(earlier)
        if self.version > earlier.version:
            return any(True for _ in lines_of_another(earlier.values[there], self.values[here]))
        if not within or self.response < earlier.response:
            return False
        found = list(lines_in_common(earlier.values[there], self.values[here], [codes[here] for codes in self.groups]))
        plain_tie = len(found) == 1 and len(found[0][0]) == len(here)  # one line for all
        return bool(found) and not plain_tie


@dataclass(frozen=True)
class Line:
    """A new value is `rate` times the old one and an amount; amounts differ by rounding, from the `least` to the `most`."""

    rate: Fraction = Fraction(1)
    least: Fraction = Fraction(0)
    most: Fraction = Fraction(0)

    @classmethod
    def through(cls, rate: Fraction, old: Floats, new: Floats) -> "Line":
        """A line with a rate through some points, in exact arithmetic."""
        before, after = fixed_point(old), fixed_point(new)
        size = before.scale * after.scale * rate.denominator
        amounts = after.integers.astype(object) * (before.scale * rate.denominator)
        amounts = amounts - before.integers.astype(object) * (after.scale * rate.numerator)
        return cls(rate, Fraction(int(amounts.min()), size), Fraction(int(amounts.max()), size))

    @cached_property
    def amount(self) -> Fraction:
        """The roundest decimal number among the amounts."""
        if self.least <= 0 <= self.most:
            return Fraction(0)
        for decimals in range(ROUNDEST, FINEST):
            unit = Fraction(10) ** -decimals
            found = math.ceil(self.least / unit) * unit
            if found <= self.most:
                return found
        return self.least

    def old_ends(self, low: Fraction | None, high: Fraction | None) -> tuple[Fraction | None, Fraction | None]:
        """Between which values the old ones lie if the new ones lie between some ends."""
        below = None if low is None else (low - self.most) / self.rate
        above = None if high is None else (high - self.least) / self.rate
        return (below, above) if self.rate > 0 else (above, below)


@dataclass(frozen=True)
class Before:
    """The values of some responses in all versions, those that follow a line over an earlier version as they were there.

    `line` has the place in `lines` of the line that each record follows (0: its value is its own). Layers are ordered by
    response, then by version.
    """

    layers: tuple[Layer, ...]
    values: list[Floats]
    line: list[Ints]
    lines: list[Line]

    @classmethod
    def of(cls, layers: tuple[Layer, ...], *, within: bool = False) -> "Before":
        """Compare each layer with those of earlier versions, and `within` one version with those of earlier names."""
        values = [layer.values.copy() for layer in layers]
        made = cls(layers, values, [np.zeros(len(own), dtype=np.int64) for own in values], [Line()])
        order = sorted(range(len(layers)), key=lambda number: (layers[number].version, layers[number].response))
        for place, number in enumerate(order):
            for earlier in order[:place]:
                if within or layers[number].version != layers[earlier].version:
                    made._compare(number, earlier)
        return made

    @property
    def plain(self) -> bool:
        """Whether this is a single response of which no values follow a line."""
        return len(self.lines) == 1 and len({layer.response for layer in self.layers}) == 1

    @cached_property
    def amounts(self) -> list[int]:
        """By how much values rose along each line besides its rate, as whole numbers on a common scale."""
        scale = math.lcm(*(line.amount.denominator for line in self.lines))
        return [int(line.amount * scale) for line in self.lines]

    @property
    def name(self) -> str:
        """What the system of all layers is called."""
        return self.layers[0].response + AS_BEFORE

    def layer_of(self, response: str, version: int) -> int:
        """The number of a layer."""
        return next(n for n, layer in enumerate(self.layers) if (layer.response, layer.version) == (response, version))

    def _compare(self, number: int, earlier: int) -> None:
        own, other = self.layers[number], self.layers[earlier]
        here, there = own.common(other)
        free = self.line[number][here] == 0
        here, there = here[free], there[free]
        groups = [codes[here] for codes in own.groups]
        if own.version == other.version:
            found = lines_in_common(other.values[there], own.values[here], groups)
        else:
            same = own.response == other.response
            found = lines_between(other.values[there], own.values[here], groups if same else [])
        for rows, rate in found:
            self._follow((number, earlier), here[rows], there[rows], rate)

    def _follow(self, layers: tuple[int, int], here: Ints, there: Ints, rate: Fraction) -> None:
        """Let records of a layer follow a line over an earlier one, which may follow a line itself."""
        number, earlier = layers
        self.values[number][here] = self.values[earlier][there]
        for line in np.unique(self.line[earlier][there]).tolist():
            chosen = self.line[earlier][there] == line
            own, old = here[chosen], self.values[earlier][there[chosen]]
            self.line[number][own] = len(self.lines)
            self.lines.append(Line.through(rate * self.lines[line].rate, old, self.layers[number].values[own]))

    def weights(self, power: int) -> list[int]:
        """The rates, or their squares, as whole numbers on a common scale."""
        scale = math.lcm(*(line.rate.denominator for line in self.lines))
        return [int(line.rate * scale) ** power for line in self.lines]


def related(layers: Sequence[Layer], *, within: bool = False) -> list[set[str]]:
    """Responses that repeat each other in later versions (the pay of the year before), in groups; most are alone."""
    found = {layer.response: {layer.response} for layer in layers}
    for own, other in itertools.permutations(layers, 2):
        if own.response not in found[other.response] and own.repeats(other, within=within):
            together = found[own.response] | found[other.response]
            for name in together:
                found[name] = together
    return list({id(group): group for group in found.values()}.values())


def lines_between(old: Floats, new: Floats, groups: Groups, narrow: float = NARROW) -> Iterator[tuple[Ints, Fraction]]:
    """The records that changed along one line, over all of them or within the codes of a filter, and its slope.

    Rounding may blur a line by at most the part `narrow` of how far the values spread.
    """
    changed = np.flatnonzero(old != new)
    for codes in (np.zeros(len(old), dtype=np.int32), *groups):
        found = []
        for code in np.unique(codes[changed]):
            part: Ints = changed[codes[changed] == code]
            line = _on_a_line(old[part], new[part], narrow)
            if line is not None:
                rest = np.flatnonzero((old == new) & (codes == code))
                found.append((_with_equal(old, new, part[line[0]], rest, line[1]), line[1]))
        if found:
            yield from found
            return


def lines_of_another(old: Floats, new: Floats, narrow: float = NARROW) -> Iterator[tuple[Ints, Fraction]]:
    """The records with which another response of a later version repeats one, or rises along a line over it, and the slope."""
    same, left = np.flatnonzero(new == old), np.flatnonzero(new != old)
    if len(same) >= SHARE * len(new) and len(np.unique(new[same])) >= FEWEST:
        yield same, Fraction(1)
        same = same[:0]
    line = _on_a_line(old[left], new[left], narrow)
    if line is not None:
        yield _with_equal(old, new, left[line[0]], same, line[1]), line[1]
        return
    whole = _on_a_line(old, new, narrow) if len(same) else None  # most follow it, fewer of those with different values
    if whole is not None and 2 * whole[0][left].sum() >= SHARE * len(left):
        yield np.flatnonzero(whole[0]), whole[1]


def _with_equal(old: Floats, new: Floats, rows: Ints, equal: Ints, rate: Fraction) -> Ints:
    """The records of a line, and those with two equal values that lie on it too: a fifth of nothing is nothing."""
    with np.errstate(over="ignore", invalid="ignore"):
        left = new - float(rate) * old
        slack = LAST_DIGITS * float(np.abs(new[rows]).max())
        there = (left[equal] >= left[rows].min() - slack) & (left[equal] <= left[rows].max() + slack)
    return np.sort(np.append(rows, equal[there]))


def _through_few(old: Floats, new: Floats) -> Iterator[tuple[Ints, Fraction]]:
    """The records on a line through few points that many have (250 for each child), and its slope.

    Two points always have a line; there must be more that follow it than chance makes.
    """
    some = np.arange(len(old)) if len(old) <= SCORED else np.random.default_rng(0).integers(0, len(old), SCORED)
    points, counts = np.unique(np.column_stack((old, new))[some], axis=0, return_counts=True)
    usual = np.argsort(-counts, kind="stable")[:USUAL]
    best, most = np.zeros(len(old), dtype=bool), 0
    with np.errstate(over="ignore", invalid="ignore"):  # some values are as large as any
        for one, other in itertools.combinations(points[usual[counts[usual] > 1]], 2):
            on = np.zeros(0, dtype=bool)
            if one[0] != other[0] and one[1] != other[1]:
                risen = (other[1] - one[1]) / (other[0] - one[0]) * (old - one[0])
                on = np.abs(new - one[1] - risen) <= EXACTLY * np.abs(risen)
            best, most = (on, int(on.sum())) if on.sum() > most else (best, most)
    values, first = np.unique(old[best], return_index=True)
    if not (_two_points if len(values) == 2 else _more_points)(old, new, best):
        return
    (x, u), (y, v) = values[[0, -1]].tolist(), new[best][first[[0, -1]]].tolist()
    rate = (Fraction(v) - Fraction(y)) / (Fraction(u) - Fraction(x))
    yield np.flatnonzero(best), simple_fraction(rate, abs(rate) * Fraction(LAST_DIGITS))


def _more_points(old: Floats, new: Floats, on: Mask) -> bool:
    """Whether three points or more are a line, and where most have nothing half of the others follow it too."""
    counts = np.unique(old[on], return_counts=True)[1]
    if len(counts) < FEWEST_POINTS or on.sum() - np.sort(counts)[-2:].sum() < MORE:
        return False
    return bool(min(on.mean(), (on.sum() - counts.max()) / (len(on) - counts.max())) >= SHARE)


def _two_points(old: Floats, new: Floats, on: Mask) -> bool:
    """Whether half of those with each of two values follow, and of those with the rarer one far more than by chance.

    Of two responses that have two values each (ill this year, and last year) this says little, however alike they are.
    """
    if max(len(np.unique(old)), len(np.unique(new))) < FEWEST_POINTS:
        return False
    values, first, counts = np.unique(old[on], return_index=True, return_counts=True)
    shares = [count / (old == value).sum() for value, count in zip(values, counts)]
    rare = int(np.argmin(counts))
    chance = float(np.mean(new == new[on][first[rare]]))
    return bool(
        counts[rare] >= FEWEST and min(on.mean(), *shares) >= SHARE and shares[rare] - chance >= SHARE * (1 - chance)
    )


def lines_in_common(old: Floats, new: Floats, groups: Groups) -> Iterator[tuple[Ints, Fraction]]:
    """The records of one version in which two responses lie on a line, and its slope.

    First over all records, then, of those that are left, within the codes of each filter.
    """
    left = np.arange(len(old))
    for codes in (np.zeros(len(old), dtype=np.int32), *groups):
        follow = np.zeros(len(old), dtype=bool)
        order = left[np.argsort(codes[left], kind="stable")]
        for part in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
            if len(part) < FEWEST:
                continue
            found = list(lines_of_another(old[part], new[part]))
            for rows, rate in found or _through_few(old[part], new[part]):
                follow[part[rows]] = True
                yield part[rows], rate
        left = left[~follow[left]]


def _on_a_line(old: Floats, new: Floats, narrow: float) -> tuple[Mask, Fraction] | None:
    """Which points lie on the line that most of them lie on, up to the rounding of both, and its slope.

    Powers of two bring both to a size of at most 1, without loss of digits, so that no square overflows or vanishes.
    """
    if len(np.unique(old)) < FEWEST:
        return None
    powers = [-int(np.frexp(np.abs(values).max())[1]) for values in (old, new)]
    units = [float(np.ldexp(unit_of(values), power)) for values, power in zip((old, new), powers)]
    scaled = [np.ldexp(values, power) for values, power in zip((old, new), powers)]
    found = _on_a_scaled_line(scaled[0], scaled[1], (units[0], units[1]), narrow)
    if found is None:
        return None
    follow, slope, within = found
    back = Fraction(2) ** (powers[0] - powers[1])
    return follow, simple_fraction(Fraction(slope) * back, Fraction(within) * back)


def _on_a_scaled_line(
    old: Floats, new: Floats, units: tuple[float, float], narrow: float
) -> tuple[Mask, float, float] | None:
    lines = _through_pairs(old, new)
    if not len(lines[0]) or not new.any():
        return None
    usual = EXACTLY * float(np.median(np.abs(new[new != 0])))
    exact = min(usual, OF_A_UNIT * min(units))
    slope = _best(old, new, lines, np.full(len(new), exact))
    exactly = _follow(old, new, slope, exact)
    if exactly is not None:  # whole numbers of few digits too: everybody is a year older
        return exactly
    unit = units[1] or usual
    blurred = unit + float(np.median(np.abs(lines[0]))) * units[0]
    # points that are only near are let in where too few lie within the rounding of a line through two points
    for near_too in (0.0, NEARLY):
        slope = _best(old, new, lines, blurred + near_too * np.abs(new))
        allowed = unit + abs(slope) * units[0] + exact
        near = _within(old, new, slope, allowed + near_too * np.abs(new))
        if slope == 0.0 or len(np.unique(old[near])) < FEWEST:
            continue
        slope = _slope(old[near], new[near])
        near = _within(old, new, slope, np.full(len(new), 2 * allowed))  # without points that are near by chance
        if len(np.unique(old[near])) >= FEWEST:
            slope = _slope(old[near], new[near])
        found = _follow(old, new, slope, allowed)
        if found is not None and allowed <= narrow * float(new[found[0]].std()):
            return found
    return None


def _slope(old: Floats, new: Floats) -> float:
    """The slope of the line of least squares."""
    x, y = old - old.mean(), new - new.mean()
    x = x / np.abs(x).max()
    return float(x @ y / (x @ x) / np.abs(old - old.mean()).max())


def _through_pairs(old: Floats, new: Floats) -> tuple[Floats, Floats]:
    """Slopes and amounts of the lines through many pairs of points.

    If half of the points lie on one line, so do both points of each fourth pair: the median of all slopes may be another one.
    """
    n = len(old)
    if n * (n - 1) // 2 <= PAIRS:
        one, other = np.triu_indices(n, 1)
    else:  # always the same pairs: a ledger means the same whenever it is opened
        one, other = np.random.default_rng(0).integers(0, n, (2, PAIRS))
    order = np.argsort(old, kind="stable")
    one, other = np.append(one, order[: n // 2]), np.append(other, order[n // 2 : 2 * (n // 2)])
    run = old[other] - old[one]
    apart = np.abs(run) > SHORTEST
    slopes = (new[other] - new[one])[apart] / run[apart]
    if not len(slopes):
        return slopes, slopes
    middle = np.median(slopes[-(n // 2) :])
    slopes, one = slopes[:PAIRS], one[apart][:PAIRS]
    levels = np.append(new[one] - slopes * old[one], np.median(new - middle * old))
    return np.append(slopes, middle), levels


def _best(old: Floats, new: Floats, lines: tuple[Floats, Floats], allowed: Floats) -> float:
    """The slope of the line that most points are near."""
    some = np.arange(len(old)) if len(old) <= SCORED else np.random.default_rng(0).integers(0, len(old), SCORED)
    slopes, levels = lines
    risen = slopes[:, None] * old[some]
    near = np.abs(new[some] - risen - levels[:, None]) <= 2 * (allowed[some] + _last_digits(new[some], risen))
    return float(slopes[int(np.argmax(near.sum(axis=1)))])


def _last_digits(new: Floats, risen: Floats) -> Floats:
    """What floating-point numbers cannot hold of a point's distance from a line."""
    return np.asarray(LAST_DIGITS * np.maximum(np.abs(new), np.abs(risen)), dtype=np.float64)


def _follow(old: Floats, new: Floats, slope: float, allowed: float) -> tuple[Mask, float, float] | None:
    """Which points lie on a line with this slope, and the slope, and how far off it may be; None if these are too few."""
    follow = _within(old, new, slope, np.full(len(new), allowed))
    if slope == 0.0 or np.mean(follow) < SHARE or len(np.unique(old[follow])) < FEWEST:
        return None
    for _ in range(2):  # a line through two points may miss others by their last digits
        again = _within(old, new, _slope(old[follow], new[follow]), np.full(len(new), allowed))
        follow = again if again.sum() > follow.sum() else follow
    own, risen = old[follow], _slope(old[follow], new[follow])
    allowed += float(_last_digits(new[follow], risen * own).max())
    return follow, risen, allowed / float(np.ptp(own))


def simple_fraction(slope: float | Fraction, within: float | Fraction) -> Fraction:
    """A fraction near a slope with few digits: two lines with the same rate must have the same one."""
    exact = Fraction(slope)
    if 0 < abs(exact) < SLIGHT:
        return 1 / simple_fraction(1 / exact, Fraction(within) / exact**2)
    for digits in range(1, MOST_DIGITS):
        found = exact.limit_denominator(10**digits)
        if found and abs(found - exact) <= within:
            return found
    return exact.limit_denominator(10**MOST_DIGITS) or Fraction(1)


def _within(old: Floats, new: Floats, slope: float, allowed: Floats) -> Mask:
    """Which points are near the line of this slope that most are near."""
    left = new - slope * old
    allowed = allowed + _last_digits(new, slope * old)
    width = 2 * float(np.median(allowed))
    ordered = np.sort(left)
    inside = np.searchsorted(ordered, ordered + width, side="right") - np.arange(len(ordered))
    first = int(np.argmax(inside))
    middle = float(np.median(ordered[first : first + inside[first]]))
    return np.asarray(np.abs(left - middle) <= allowed, dtype=bool)
