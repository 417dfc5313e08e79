"""MDAV on mixed records: numbers, ordered codes and unordered codes with missing values, groups disjoint; O(n²·d/k)."""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Mask
from reticent.kernels.mdav import _farthest, _nearest, _take


@njit(cache=True, nogil=True)
def mixed_distances(columns: Floats, nominal: Mask, square: bool, left: int, point: Floats, out: Floats) -> None:
    """Distances of the first `left` records (columns (d, n), scaled to 0 … 1, NaN missing) to a point.

    Per variable: 0/1 if nominal, else the absolute difference; 1 if exactly one is missing, 0 if both are. The parts
    are added up, as they are (Gower 1971, times d) or squared (Domingo-Ferrer and Torra).
    """
    for i in range(left):
        out[i] = 0.0
    for c in range(columns.shape[0]):
        p = point[c]
        gone = np.isnan(p)
        for i in range(left):
            v = columns[c, i]
            if np.isnan(v) or gone:
                part = 0.0 if np.isnan(v) and gone else 1.0
            elif nominal[c]:
                part = 0.0 if v == p else 1.0
            else:
                part = abs(v - p)
            out[i] += part * part if square else part


@njit(cache=True, nogil=True)
def mixed_centre(columns: Floats, nominal: Mask, left: int) -> Floats:
    """Mean of the numbers and most frequent of the nominal codes among the first `left` records; NaN where none is."""
    out = np.full(columns.shape[0], np.nan)
    for c in range(columns.shape[0]):
        present = columns[c, :left][~np.isnan(columns[c, :left])]
        if present.size == 0:
            continue
        if not nominal[c]:
            out[c] = np.mean(present)
            continue
        counts = np.zeros(np.int64(np.max(present)) + 1, np.int64)
        for v in present:
            counts[np.int64(v)] += 1
        out[c] = np.argmax(counts)
    return out


@njit(cache=True, nogil=True)
def mdav_mixed(x: Floats, nominal: Mask, square: bool, k: int) -> Ints:
    """Group number of every mixed record (rows of x) by MDAV's steps with the distance of `mixed_distances`."""
    n = x.shape[0]
    labels = np.zeros(n, np.int64)
    columns = np.ascontiguousarray(x.T)
    ids = np.arange(n)
    values = np.empty(n)
    chosen = np.empty(k, np.int64)
    left, group = n, 0
    while left >= 2 * k:
        mixed_distances(columns, nominal, square, left, mixed_centre(columns, nominal, left), values)
        r = _farthest(values, left)
        mixed_distances(columns, nominal, square, left, columns[:, r].copy(), values)
        both = left >= 3 * k
        opposite = columns[:, _farthest(values, left)].copy()
        _nearest(values, left, k, chosen)
        left = _take(columns, ids, left, chosen, k, labels, group)
        group += 1
        if both:
            mixed_distances(columns, nominal, square, left, opposite, values)
            _nearest(values, left, k, chosen)
            left = _take(columns, ids, left, chosen, k, labels, group)
            group += 1
    for i in range(left):
        labels[ids[i]] = group
    return labels
