# SPDX-License-Identifier: Apache-2.0
"""Intervals of statistics over a hull, in exact fractions and rounded outward: the truth lies in every one of them.

Exact for sums and means; for the others valid outer bounds. Ends are moved outward by a trillionth of their size before they are
rounded, so that a truth worked out in floating-point numbers lies inside too.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor, isqrt

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.queries.camouflage.hulls import Hull
from reticent.queries.fixed import Whole, as_number, exact

Interval = tuple[Fraction, Fraction]
SLACK = Fraction(1, 10**12)
FLOAT_SLACK = 1e-9
WEIGHT_SLACK = 1e-13
ROOT_BITS = 80


def outward(interval: Interval, unit: Fraction, *, slack: bool = True) -> tuple[float | int, float | int]:
    """The smallest interval of multiples of `unit` that holds the given one."""
    low, high = interval
    noise = SLACK * max(abs(low), abs(high)) if slack else Fraction(0)
    ends = floor((low - noise) / unit) * unit, ceil((high + noise) / unit) * unit
    return _down(ends[0]), _up(ends[1])


def _down(end: Fraction) -> float | int:
    """The nearest number that is not above, as its decimal text says."""
    found = as_number(end)
    return found if isinstance(found, int) or exact(found) <= end else float(np.nextafter(found, -np.inf))


def _up(end: Fraction) -> float | int:
    found = as_number(end)
    return found if isinstance(found, int) or exact(found) >= end else float(np.nextafter(found, np.inf))


def quantile_interval(hull: Hull, rows: Ints, share: Fraction) -> Interval:
    """Outer bounds of a quantile: order statistics grow with every value, so the ends of the cells give bounds."""
    low, high = (_quantile(np.sort(ends[rows]), share) for ends in (hull.low, hull.high))
    return low * hull.half, high * hull.half


def _quantile(ordered: Whole, share: Fraction) -> Fraction:
    """Linear between the order statistics, as usual."""
    place = share * (len(ordered) - 1)
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    return int(ordered[below]) + (place - below) * (int(ordered[above]) - int(ordered[below]))


def variance_interval(hull: Hull, rows: Ints) -> Interval:
    """Outer bounds of the variance (divisor n − 1): each value anywhere in its cell."""
    low, high = _squarable(hull.low[rows]), _squarable(hull.high[rows])
    n, scale = len(rows), hull.half**2 / (len(rows) - 1)
    # (n − 1)·variance ≤ Σ (x − c)² for every c, and the middle of the cells' middles is a good one
    centre = int((low.sum() + high.sum()) // (2 * n))
    upper = int(np.maximum((low - centre) ** 2, (high - centre) ** 2).sum())
    return _least_spread(low, high) * scale, Fraction(upper) * scale


def _squarable(ends: Whole) -> Whole:
    """Whole numbers whose squares can be summed."""
    largest = max(abs(int(ends.max())), abs(int(ends.min())), 1)
    return ends.astype(np.int64 if 8 * largest**2 * len(ends) < 2**62 else object)


def _least_spread(low: Whole, high: Whole) -> Fraction:
    """min over c of Σ distance(c, cell)²: convex and quadratic between the ends of cells, so solved exactly.

    Half the derivative is Σ over cells below c of (c − high) − Σ over cells above c of (low − c), which never falls.
    """
    n = len(low)
    highs, lows = np.sort(high), np.sort(low)
    high_sums, low_sums = (np.concatenate(([0], np.cumsum(ends))) for ends in (highs, lows))
    places = np.unique(np.concatenate((lows, highs)))
    below, above = np.searchsorted(highs, places, side="left"), np.searchsorted(lows, places, side="right")
    slope = below * places - high_sums[below] - (low_sums[n] - low_sums[above]) + (n - above) * places
    last = int(np.flatnonzero(slope <= 0)[-1])
    if int(slope[last]) == 0:
        centre = Fraction(int(places[last]))
    else:  # a cell that ends here lies below, one that begins here does not lie above
        under = int(np.searchsorted(highs, places[last], side="right"))
        over = n - int(np.searchsorted(lows, places[last], side="right"))
        centre = Fraction(int(high_sums[under]) + int(low_sums[n] - low_sums[n - over]), under + over)
    return _spread_about(centre, highs) + _spread_about(-centre, -lows)


def _spread_about(centre: Fraction, ends: Whole) -> Fraction:
    """Σ (centre − end)² over the ends below the centre."""
    chosen = ends[ends.astype(object) * centre.denominator < centre.numerator]
    total, squares = int(chosen.sum()), int((chosen * chosen).sum())
    return len(chosen) * centre**2 - 2 * centre * total + squares


def root_interval(interval: Interval) -> Interval:
    """The square roots, downward and upward."""
    low, high = (max(end, Fraction(0)) for end in interval)
    return _root(low, floor), _root(high, ceil)


def _root(amount: Fraction, way: Callable[[Fraction], int]) -> Fraction:
    shift = max(0, ROOT_BITS - amount.numerator.bit_length() + amount.denominator.bit_length())
    scaled = way(amount * 4**shift)
    found = isqrt(scaled)
    if way is ceil and found * found < scaled:
        found += 1
    return Fraction(found, 2**shift)


def regression_intervals(hull: Hull, rows: Ints, design: Floats) -> list[Interval]:
    """The range of each least-squares coefficient when the predictors are known: linear in the response.

    A weight that should be 0 is a little off, and the cell that it meets may be wider than all others by many orders of
    magnitude. So the error of all weights together is added (that of a pseudoinverse, to the first order), whatever they are.
    """
    scale = 2.0 ** np.floor(np.log2(np.abs(design).max(axis=0)))
    left, sizes, right = np.linalg.svd(design / scale, full_matrices=False)
    weights = (right.T / sizes) @ left.T / scale[:, None]
    largest = hull.in_units(np.maximum(np.abs(hull.low[rows]), np.abs(hull.high[rows])))
    top = max(float(largest.max()), float(np.finfo(np.float64).tiny))
    with np.errstate(over="ignore"):
        unsure = WEIGHT_SLACK * sizes[0] / sizes[-1] ** 2 / scale * np.linalg.norm(largest / top) * top
    found = []
    for row, off in zip(weights, unsure, strict=True):
        low, high = hull.linear_range(rows, row)
        noise = FLOAT_SLACK * float(np.abs(row) @ largest) + float(off)
        if not np.isfinite([low, high, noise]).all():
            raise OverflowError("a coefficient is beyond floating-point numbers")
        found.append((exact(low) - exact(noise), exact(high) + exact(noise)))
    return found


def ratio_interval(top: Interval, bottom: Interval) -> Interval | None:
    """Bounds of a ratio of two confidential sums; None if the divisor may be zero."""
    if bottom[0] <= 0 <= bottom[1]:
        return None
    ends = [t / b for t in top for b in bottom]
    return min(ends), max(ends)
