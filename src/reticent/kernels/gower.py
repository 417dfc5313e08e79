# SPDX-License-Identifier: Apache-2.0
"""Distances and centres of mixed records: numbers, ordered codes and unordered codes, with missing values."""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Mask


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
