# SPDX-License-Identifier: Apache-2.0
"""Cutpoints: numeric variables become published bins, each with at least `least` records.

Four ways (Lucero, Freiman, Singh, You, DePersio and Zayatz, SORT 2011, 3.1.3): bins of one width, bins of as few records
as allowed, bins that widen, and a binary tree of halves. Equal values are never split.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.checks import check_between, check_integer
from reticent.base.errors import DataError

OWNER = "cutpoints"


@dataclass(frozen=True)
class Bin:
    """A bin from `low` to `high` (both inside) with its number of records."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Node:
    """A node of the tree of partitioned binning; any node may be used as a bin."""

    bin: Bin
    parts: tuple["Node", ...] = ()

    def leaves(self) -> tuple[Bin, ...]:
        """The finest bins."""
        return tuple(leaf for part in self.parts for leaf in part.leaves()) if self.parts else (self.bin,)


def _prepared(values: Sequence[float] | Floats, least: int) -> tuple[Floats, NDArray[np.int64]]:
    check_integer(least, minimum=1, name="least", owner=OWNER)
    array = np.asarray(values, dtype=np.float64)
    array = array[~np.isnan(array)]
    if len(array) < least:
        raise DataError(f"{OWNER}: a variable needs at least {least} values to have a bin.")
    distinct, counts = np.unique(array, return_counts=True)
    return distinct, counts.astype(np.int64)


def fixed_width(values: Sequence[float] | Floats, least: int) -> tuple[Bin, ...]:
    """Bins of the smallest common width for which every bin has at least `least` records.

    Whole numbers get whole widths from the least value on; other numbers the widths range/m for m = 1, 2, ….
    """
    distinct, counts = _prepared(values, least)
    low, high = float(distinct[0]), float(distinct[-1])
    if bool((distinct == np.rint(distinct)).all()):
        for step in range(1, int(high - low) + 1):
            n_bins = -(-int(high - low + 1) // step)
            place = ((distinct - low) // step).astype(np.int64)
            sizes = np.bincount(place, weights=counts, minlength=n_bins)
            if bool((sizes >= least).all()):
                edges = [(low + b * step, min(low + (b + 1) * step - 1, high)) for b in range(n_bins)]
                return tuple(Bin(a, b, int(s)) for (a, b), s in zip(edges, sizes))
    else:
        for n_bins in range(int(counts.sum()) // least, 1, -1):
            width = (high - low) / n_bins
            place = np.minimum(((distinct - low) / width).astype(np.int64), n_bins - 1)
            sizes = np.bincount(place, weights=counts, minlength=n_bins)
            if bool((sizes >= least).all()):
                return tuple(Bin(low + b * width, low + (b + 1) * width, int(s)) for b, s in enumerate(sizes))
    return (Bin(low, high, int(counts.sum())),)


def minimum_width(values: Sequence[float] | Floats, least: int) -> tuple[Bin, ...]:
    """From below, each bin is closed as soon as it has `least` records; a short rest joins the last bin."""
    distinct, counts = _prepared(values, least)
    bins: list[Bin] = []
    start, size = 0, 0
    for place, count in enumerate(counts):
        size += int(count)
        if size >= least:
            bins.append(Bin(float(distinct[start]), float(distinct[place]), size))
            start, size = place + 1, 0
    if size:
        last = bins.pop()
        bins.append(Bin(last.low, float(distinct[-1]), last.count + size))
    return tuple(bins)


def increasing_width(
    values: Sequence[float] | Floats, least: int, *, width: float | None = None, factor: float = 2.0
) -> tuple[Bin, ...]:
    """Bins whose width grows by `factor` from each to the next; when fewer than 2·least records are left, one bin takes all.

    Without `width` the first is the smallest that holds `least` records (whole numbers: counted in whole numbers).
    """
    distinct, counts = _prepared(values, least)
    check_between(factor, 1.0, float("inf"), name="factor", owner=OWNER)
    whole = bool((distinct == np.rint(distinct)).all())
    low, high = float(distinct[0]), float(distinct[-1])
    gap = 1.0 if whole else 0.0
    if width is None:
        first = int(np.searchsorted(np.cumsum(counts), least))
        width = max(float(distinct[first]) - low + gap, 2.0 * gap, (high - low) / len(distinct) if not whole else 0.0)
    bins: list[Bin] = []
    start = low
    while start <= high:
        end = start + width - gap
        left = int(counts[distinct >= start].sum())
        inside = int(counts[(distinct >= start) & (distinct <= end)].sum())
        if left - inside < least or left < 2 * least:
            bins.append(Bin(start, high, left))
            break
        if inside < least:
            width *= factor if factor > 1 else 2.0
            continue
        bins.append(Bin(start, end, inside))
        start = end + gap if whole else float(distinct[distinct > end][0])
        width *= factor
    return tuple(bins)


def partitioned(values: Sequence[float] | Floats, least: int) -> Node:
    """A binary tree: each set is split where its halves are nearest in size, while both have at least `least` records."""
    distinct, counts = _prepared(values, least)
    return _split(distinct, counts, least)


def _split(distinct: Floats, counts: NDArray[np.int64], least: int) -> Node:
    total = int(counts.sum())
    here = Bin(float(distinct[0]), float(distinct[-1]), total)
    below = np.cumsum(counts)[:-1]
    good = (below >= least) & (total - below >= least)
    if not bool(good.any()):
        return Node(here)
    at = int(np.argmin(np.where(good, np.abs(2 * below - total), total + 1))) + 1
    return Node(here, (_split(distinct[:at], counts[:at], least), _split(distinct[at:], counts[at:], least)))
