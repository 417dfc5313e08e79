# SPDX-License-Identifier: Apache-2.0
"""Cells: for each record the whole range of a response is cut into intervals before anybody looks at a value.

The cuts come from the secret, the record's id and public numbers (bounds, bands, percent). A record's cell is the one that holds
its value; every other value of the cell would have given the same cell, so the cell tells no more than itself. Everything is
counted in steps of the grid (the declared unit), in whole numbers.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import PlanError
from reticent.queries.fixed import Fixed, Whole

SERIES = (1, 2, 5)
DECADES = 310
SAFE = 2**61
BITS = 24


@dataclass(frozen=True)
class Bands:
    """Public bands of a response: where each begins, and the least number of grid points of a cell in it.

    `edges[j]` is the first grid point of band j, `edges[-1]` the first one behind the last band. `low` and `high` are the known
    bounds as grid points, where there are any and they lie on the grid.
    """

    grid: Fraction
    edges: tuple[int, ...]
    sizes: tuple[int, ...]
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class CellDemand:
    """How wide cells must be: half-widths in percent of a band's smaller end, and a least half-width; all public."""

    percent: Fraction
    least: Fraction
    low: Fraction | None = None
    high: Fraction | None = None

    def width(self, start: Fraction, end: Fraction) -> Fraction:
        """The least width of a cell in a band; a band at zero goes by its larger end.

        Above 50 percent no band at zero is that wide. Where zero is a bound, such a band is one cell then: or else the only cell
        would be all that the bounds leave.
        """
        near, far = sorted((abs(start), abs(end)))
        share = self.percent / 100
        if not near and 0 in (self.low, self.high):
            share = min(share, Fraction(1, 2))
        return 2 * max(share * (near if near else far), self.least)


@lru_cache(maxsize=64)
def bands_of(demand: CellDemand, grid: Fraction, declared: tuple[Fraction, ...] = ()) -> Bands:
    """The declared bands, or those between 1, 2, 5, 10, 20, … on both sides of zero, within the bounds."""
    points = _declared(demand, declared) if declared else _series(demand)
    edges = [floor(point / grid + Fraction(1, 2)) for point in points]
    edges[-1] += 1
    sizes = []
    for (start, end), (first, behind) in zip(pairwise(points), pairwise(edges)):
        if behind - first < 2:
            raise PlanError("camouflage: a band must hold two multiples of `unit` or more; widen the bands or bounds.")
        sizes.append(min(max(ceil(demand.width(start, end) / grid), 2), behind - first))
    on_grid = [
        None if end is None or (end / grid).denominator > 1 else int(end / grid) for end in (demand.low, demand.high)
    ]
    return Bands(grid, tuple(edges), tuple(sizes), on_grid[0], on_grid[1])


def _declared(demand: CellDemand, declared: tuple[Fraction, ...]) -> list[Fraction]:
    if len(declared) < 2 or list(declared) != sorted(set(declared)):
        raise PlanError(
            "camouflage: bands must be two or more increasing numbers, from the least value to the greatest."
        )
    for known, end in ((demand.low, declared[0]), (demand.high, declared[-1])):
        if known is not None and known != end:
            raise PlanError("camouflage: bands must begin and end at the declared bounds of the response.")
    for start, end in pairwise(declared):
        if end - start < 2 * demand.least:
            raise PlanError("camouflage: a band is narrower than twice `least`; join it with its neighbour.")
    return list(declared)


def _series(demand: CellDemand) -> list[Fraction]:
    """1, 2, 5, 10, … and their negatives, as far as the bounds; bands narrower than their cells are joined."""
    start = max(demand.least * 100 / demand.percent, 2 * demand.least)
    positive = [Fraction(digit) * Fraction(10) ** power for power in range(-DECADES, DECADES) for digit in SERIES]
    positive = [point for point in positive if point >= start]
    points = [-point for point in reversed(positive)] + [Fraction(0), *positive]
    low = points[0] if demand.low is None else demand.low
    high = points[-1] if demand.high is None else demand.high
    kept = [low]
    for point in points:
        if low < point < high and point - kept[-1] >= demand.width(kept[-1], point):
            kept.append(point)
    while len(kept) > 1 and high - kept[-1] < demand.width(kept[-1], high):
        kept.pop()
    return [*kept, high]


@dataclass(frozen=True)
class Measured:
    """Values in steps of the grid, as numerators over one denominator; exact."""

    numerators: Whole
    denominator: int

    @property
    def points(self) -> Whole:
        """The nearest grid point of each value (the upper one of two)."""
        return np.asarray((2 * self.numerators + self.denominator) // (2 * self.denominator))

    def part(self, chosen: NDArray[np.int64]) -> "Measured":
        """Some of the values."""
        return Measured(self.numerators[chosen], self.denominator)


def measure(values: Fixed, grid: Fraction) -> Measured:
    """Values in steps of the grid."""
    denominator = values.scale * grid.numerator
    largest = max(
        (abs(int(end)) for end in (values.integers.max(initial=0), values.integers.min(initial=0))), default=0
    )
    fits = 2 * (largest * grid.denominator + denominator) * max(len(values.integers), 1) < SAFE
    integers = values.integers.astype(np.int64 if fits else object)
    return Measured(integers * grid.denominator, denominator)


def cells_of(bands: Bands, points: Whole, offsets: NDArray[np.float64]) -> tuple[Whole, Whole]:
    """The first and the last grid point of the cell of each record, by the record's offset in [0, 1).

    In a band, cuts lie `size` points apart, the first one shifted by the offset; cuts nearer than `size` to an end of the
    band are left out, so that no cell is smaller than that.
    """
    places = _in_words(bands, points)
    points = points.astype(object if places is None else np.int64)
    edges = np.array(bands.edges if places is None else bands.edges[places[0] : places[1] + 1], dtype=points.dtype)
    sizes = np.array(bands.sizes if places is None else bands.sizes[places[0] : places[1]], dtype=points.dtype)
    band = np.searchsorted(edges, points, side="right") - 1
    begin, behind, size = edges[band], edges[band + 1], sizes[band]
    shift = ((offsets * 2.0**BITS).astype(np.int64) * size) >> BITS
    first = begin + shift + (points - begin - shift) // size * size
    last = first + size
    tail = first > behind - size  # the cut before it is too near to the end
    first = np.where(tail, first - size, first)
    head = first < begin + size
    first = np.where(head, begin, first)
    last = np.where(head & ~tail, begin + shift + size, last)
    last = np.where(last > behind - size, behind, last)
    return first, last - 1


def _in_words(bands: Bands, points: Whole) -> tuple[int, int] | None:
    """The bands that hold the points, if 62 bits are enough for sums of their ends; it changes the speed only."""
    if points.dtype == object or not len(points):
        return None
    first = bisect_right(bands.edges, int(points.min())) - 1
    last = bisect_right(bands.edges, int(points.max()))
    ends, sizes = bands.edges[first : last + 1], bands.sizes[first:last]
    if 2 * max(map(abs, ends)) * len(points) >= SAFE or max(sizes) >= 2 ** (62 - BITS):
        return None
    return first, last
