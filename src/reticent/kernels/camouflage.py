"""Kernels of camouflage: which deviation shape each record takes, so that deviations cancel in every group."""

import numpy as np
from numba import njit


@njit(cache=True)
def choose_shapes(group, scale, shapes, n_groups):  # type: ignore[no-untyped-def]
    """For each record the shape that keeps the running sums of its group and of all records nearest to zero.

    `scale[i, s]` is what shape s must be multiplied by for record i (infinite: not allowed). Greedy: O(n · shapes · k).
    """
    n, n_shapes = scale.shape
    k = shapes.shape[1]
    within = np.zeros((n_groups, k))
    overall = np.zeros(k)
    chosen = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        best, least = -1, np.inf
        for s in range(n_shapes):
            factor = scale[i, s]
            if not np.isfinite(factor):
                continue
            size = 0.0
            for j in range(k):
                step = factor * shapes[s, j]
                size += (within[group[i], j] + step) ** 2 + 0.1 * (overall[j] + step) ** 2
            if size < least:
                best, least = s, size
        chosen[i] = best
        if best >= 0:
            for j in range(k):
                step = scale[i, best] * shapes[best, j]
                within[group[i], j] += step
                overall[j] += step
    return chosen
