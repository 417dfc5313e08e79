# SPDX-License-Identifier: Apache-2.0
"""Sums and largest contributions of every cell, in one pass over records or over finer cells.

`top` lists hold |contribution| in falling order; the unit number −1 marks a free place. Ties keep the first comer, so
results depend on the order of the input alone.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints


@njit(cache=True, nogil=True)
def _insert(top: Floats, units: Ints, weights: Floats, size: float, unit: int, weight: float) -> None:
    """Put one contribution into a falling list, dropping the last. O(k)."""
    last = top.size - 1
    if units[last] >= 0 and size <= top[last]:
        return
    at = last
    while at > 0 and (units[at - 1] < 0 or top[at - 1] < size):
        top[at] = top[at - 1]
        units[at] = units[at - 1]
        if weights.size:
            weights[at] = weights[at - 1]
        at -= 1
    top[at] = size
    units[at] = unit
    if weights.size:
        weights[at] = weight


@njit(cache=True, nogil=True, inline="always")
def enter(
    cell: int,
    x: float,
    w: float,
    unit: int,
    sums: Floats,
    top: Floats,
    top_units: Ints,
    top_weights: Floats,
) -> None:
    """Add one contribution to its cell; see `accumulate` for the arrays. O(k)."""
    size = abs(x)
    sums[cell, 0] += w * x
    sums[cell, 1] += w * size
    sums[cell, 2] = min(sums[cell, 2], x)
    sums[cell, 3] = max(sums[cell, 3], x)
    last = top.shape[1] - 1
    if top_units[cell, last] < 0 or size > top[cell, last]:
        own = top_weights[cell] if top_weights.size else top_weights[0:0, 0]
        _insert(top[cell], top_units[cell], own, size, unit, w)


@njit(cache=True, nogil=True)
def accumulate(
    group: Ints,
    values: Floats,
    weights: Floats,
    units: Ints,
    sums: Floats,
    top: Floats,
    top_units: Ints,
    top_weights: Floats,
) -> None:
    """Add contributions to their cells.

    `group` (n) is the cell of each unit (−1: skipped), `values` (n) its contribution (NaN counts as 0), `weights` (n)
    or empty, `units` (n) its number or empty (then the position counts). `sums` (cells × 4) gets Σ w·x, Σ w·|x|, the
    least and the greatest x; `top`, `top_units` (cells × k) and `top_weights` (cells × k, or empty) the lists. O(n·k).
    """
    weighted = weights.size > 0
    numbered = units.size > 0
    for i in range(group.size):
        if group[i] >= 0:
            x = 0.0 if np.isnan(values[i]) else values[i]
            w = weights[i] if weighted else 1.0
            enter(group[i], x, w, units[i] if numbered else i, sums, top, top_units, top_weights)


@njit(cache=True, nogil=True)
def merge(
    source: Ints,
    group: Ints,
    sums: Floats,
    top: Floats,
    top_units: Ints,
    top_weights: Floats,
    new_sums: Floats,
    new_top: Floats,
    new_units: Ints,
    new_weights: Floats,
) -> None:
    """Add finer cells to coarser ones: entry i adds cell `source[i]` to cell `group[i]`. O(entries · k²)."""
    k = top.shape[1]
    weighted = top_weights.size > 0
    none = np.zeros(0, np.float64)
    for i in range(source.size):
        fine, cell = source[i], group[i]
        new_sums[cell, 0] += sums[fine, 0]
        new_sums[cell, 1] += sums[fine, 1]
        new_sums[cell, 2] = min(new_sums[cell, 2], sums[fine, 2])
        new_sums[cell, 3] = max(new_sums[cell, 3], sums[fine, 3])
        for j in range(k):
            unit = top_units[fine, j]
            if unit < 0 or (new_units[cell, k - 1] >= 0 and top[fine, j] <= new_top[cell, k - 1]):
                break
            if weighted:
                _insert(new_top[cell], new_units[cell], new_weights[cell], top[fine, j], unit, top_weights[fine, j])
            else:
                _insert(new_top[cell], new_units[cell], none, top[fine, j], unit, 1.0)
