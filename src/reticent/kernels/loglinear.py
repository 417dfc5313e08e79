# SPDX-License-Identifier: Apache-2.0
"""Sums over all cells of a fitted log-linear model, empty ones included, without storing them.

A cell's log mean is the sum of one entry from each block table. Cells are walked with the last variable innermost, so
that only the blocks that hold it are looked up again; O(cells · blocks).
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints

PARTS = 4


@njit(cache=True, inline="always")
def bias_terms(mean: float, fraction: float) -> tuple[float, float, float, float]:
    """(a1, b1, a2, b2) of Skinner and Shlomo (2008) for a cell of population mean λ under sampling fraction π."""
    rest = (1.0 - fraction) * mean
    whole = np.exp(-mean)
    sampled = np.exp(-fraction * mean)
    if rest > 1e-5:
        ratio = -np.expm1(-rest) / rest
        a2 = sampled * ratio - whole
        b2 = (sampled * ratio - whole * (1.0 + 0.5 * rest)) / (fraction * mean)
    else:  # series: the differences above would cancel
        a2 = sampled * rest * (0.5 - rest / 3.0)
        b2 = sampled * (1.0 - fraction) * rest * (1.0 / 6.0 - rest / 8.0) / fraction
    a1 = rest * whole
    b1 = (1.0 - fraction) * rest * whole / (2.0 * fraction)
    return a1, b1, a2, b2


@njit(cache=True)
def sum_over_cells(
    cards: Ints, tables: Floats, offsets: Ints, strides: Ints, constant: float, fraction: float
) -> Floats:
    """Σ over all cells, as if empty: bias and variance terms for τ1, then for τ2."""
    q, n_blocks = cards.size, offsets.size
    out = np.zeros(PARTS)
    digits = np.zeros(q, dtype=np.int64)
    last = q - 1
    inner = np.empty(n_blocks, dtype=np.int64)
    start = np.empty(n_blocks, dtype=np.int64)
    while True:
        base, n_inner = constant, 0
        for block in range(n_blocks):
            at = offsets[block]
            for j in range(last):
                at += strides[block, j] * digits[j]
            if strides[block, last] > 0:
                inner[n_inner], start[n_inner] = block, at
                n_inner += 1
            else:
                base += tables[at]
        if base > -np.inf:
            for code in range(cards[last]):
                value = base
                for i in range(n_inner):
                    value += tables[start[i] + strides[inner[i], last] * code]
                if value > -60.0:
                    mean = np.exp(value)
                    a1, b1, a2, b2 = bias_terms(mean, fraction)
                    expected = fraction * mean
                    out[0] += -a1 * expected + b1 * expected * expected
                    out[1] += a1 * a1 * expected + 2.0 * b1 * b1 * expected * expected
                    out[2] += -a2 * expected + b2 * expected * expected
                    out[3] += a2 * a2 * expected + 2.0 * b2 * b2 * expected * expected
        j = last - 1
        while j >= 0:
            digits[j] += 1
            if digits[j] < cards[j]:
                break
            digits[j] = 0
            j -= 1
        if j < 0:
            return out


@njit(cache=True)
def sum_over_observed(counts: Ints, means: Floats, fraction: float) -> Floats:
    """What the observed counts add to the sums of `sum_over_cells`: bias for τ1 and τ2 (variances do not change)."""
    out = np.zeros(2)
    for k in range(counts.size):
        mean, f = means[k], float(counts[k])
        if mean > 0.0:
            a1, b1, a2, b2 = bias_terms(mean, fraction)
            difference = f - fraction * mean
            empty = fraction * mean
            out[0] += a1 * f + b1 * (difference * difference - f - empty * empty)
            out[1] += a2 * f + b2 * (difference * difference - f - empty * empty)
    return out


def log_means(
    codes: NDArray[np.int32],
    tables: NDArray[np.float64],
    offsets: NDArray[np.int64],
    strides: NDArray[np.int64],
    constant: float,
) -> NDArray[np.float64]:
    """Log mean of given cells (rows of codes); O(rows · blocks · variables)."""
    result = np.full(codes.shape[0], constant)
    for block in range(offsets.size):
        result += tables[offsets[block] + codes.astype(np.int64) @ strides[block]]
    return result
