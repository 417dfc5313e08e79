# SPDX-License-Identifier: Apache-2.0
"""Proven lower bounds of the within sum of squares, so that a search can say how far from the optimum it may be."""

import numpy as np
from scipy.spatial import cKDTree

from reticent.base.arrays import Floats, Ints
from reticent.kernels.bound import raise_bound

ROUNDS, PAIRS = 1500, 60_000_000
"""Steps of the ascent at most, and pairs looked at in all steps together."""
SAFE = 1 - 1e-9
"""Rounding of a thousand sums must not lift a bound above the truth."""


def neighbour_bound(x: Floats, k: int) -> float:
    """The plain bound: record i costs at least the sum of its k − 1 smallest squared distances over 2k.

    A group of s records costs Σ_i Σ_j d²(i, j) / (2s); a record's part grows with s and is least at s = k.
    """
    if k < 2:
        return 0.0
    distances = cKDTree(x).query(x, k)[0]
    return float(np.sum(distances**2) / (2 * k)) * SAFE


def mutual_bound(x: Floats, k: int, upper: float) -> float:
    """A higher bound: choices that are not mutual are priced away (see `kernels.bound`); `upper` is a known cost."""
    n = x.shape[0]
    width = min(max(4 * k, 24), n - 1)
    if k < 2 or width < 2 * k - 1:
        return neighbour_bound(x, k)
    found = cKDTree(x).query(x, width + 1)
    distances, near = np.asarray(found[0]), np.asarray(found[1], dtype=np.int64)
    starts, squares, back = _both_ways(x, near)
    rounds = min(max(PAIRS // max(squares.size, 1), 50), ROUNDS)
    # What is not among the nearest is at least as far as the last of them; with all records listed, nothing is left.
    reach = np.full(n, np.inf) if width == n - 1 else distances[:, -1] ** 2
    bound = float(raise_bound(starts, squares, back, reach, k, upper, rounds)) * SAFE
    return min(max(bound, neighbour_bound(x, k)), upper)


def _both_ways(x: Floats, near: Ints) -> tuple[Ints, Floats, Ints]:
    """All pairs of near records in both directions: where each record's pairs start, squared distances, way back."""
    n = x.shape[0]
    first, second = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    keep = first != second
    pairs = np.unique(np.concatenate((first[keep] * n + second[keep], second[keep] * n + first[keep])))
    one, other = pairs // n, pairs % n
    starts = np.searchsorted(one, np.arange(n + 1)).astype(np.int64)
    squares = np.sum((x[one] - x[other]) ** 2, axis=1)
    back = np.searchsorted(pairs, other * n + one).astype(np.int64)
    return starts, squares, back
