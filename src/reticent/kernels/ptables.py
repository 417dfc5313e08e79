"""Looking changes up in a perturbation table, for many cells."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
