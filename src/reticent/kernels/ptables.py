# SPDX-License-Identifier: Apache-2.0
"""Looking changes up in a perturbation table, for many cells."""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints


@njit(cache=True)
def look_up(counts: Ints, keys: Floats, bounds: Floats, changes: Floats, lengths: Ints) -> Floats:
    """The change of each count: in its row (the last one for larger counts) the first whose bound lies above the key.

    O(n · width); rows are padded, `lengths` says how far they go.
    """
    out = np.empty(counts.shape[0])
    last = bounds.shape[0] - 1
    for i in range(counts.shape[0]):
        row = min(counts[i], last)
        at, end = 0, lengths[row] - 1
        while at < end and keys[i] >= bounds[row, at]:
            at += 1
        out[i] = changes[row, at]
    return out


@njit(cache=True)
def perturbed(
    counts: Ints, keys: Floats, bounds: Floats, changes: Floats, lengths: Ints, steps: Ints, zeros: bool
) -> tuple[Floats, Floats, Floats]:
    """Counts after noise, and the least and the largest true count behind each, in one pass; O(n · width).

    `steps` has how far the least and the largest origin of a result are from it; the last row holds for larger ones.
    """
    n, last, far = counts.shape[0], bounds.shape[0] - 1, steps.shape[0] - 1
    values, low, high = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        row = min(counts[i], last)
        at, end = 0, lengths[row] - 1
        while at < end and keys[i] >= bounds[row, at]:
            at += 1
        change = changes[row, at] if counts[i] > 0 or zeros else 0.0
        value = counts[i] + change
        place = min(np.int64(value), far)
        values[i], low[i], high[i] = value, value + steps[place, 0], value + steps[place, 1]
    return values, low, high
