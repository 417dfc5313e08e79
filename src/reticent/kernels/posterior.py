# SPDX-License-Identifier: Apache-2.0
"""Posterior probabilities of the parts of one sum, exactly: all ways in which independent parts add up to their total."""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Narrow


@njit(cache=True)
def _convolved(first: Floats, length: int, second: Floats, out: Floats) -> int:
    """The law of a sum of two independent numbers; O(length · width)."""
    width = second.shape[0]
    out[: length + width - 1] = 0.0
    for i in range(length):
        if first[i] > 0.0:
            for j in range(width):
                out[i + j] += first[i] * second[j]
    return int(length + width - 1)


@njit(cache=True)
def sharpest(
    indptr: Ints,
    cells: Narrow,
    coefs: Narrow,
    targets: Ints,
    base: Ints,
    laws: Floats,
    longest: int,
    out: Floats,
    likeliest: Floats,
) -> None:
    """For each cell the largest probability of a single value that any one relation gives, kept in `out` if above it, and in
    `likeliest` that value.

    `laws` has for each cell the probabilities of base, base + 1, …; relations of more than `longest` cells are left out.
    O(k²·width²) for a relation of k cells, by laws of all cells before and behind each one.
    """
    width = laws.shape[1]
    for row in range(indptr.shape[0] - 1):
        start, k = indptr[row], indptr[row + 1] - indptr[row]
        if k > longest or k < 2:
            continue
        before = np.zeros((k + 1, k * (width - 1) + 1))
        behind = np.zeros((k + 1, k * (width - 1) + 1))
        before[0, 0] = behind[k, 0] = 1.0
        shift = 0  # signed parts: each is counted from its least value, so that all are numbers from 0 on
        signed = np.zeros((k, width))
        for at in range(k):
            a, c = cells[start + at], coefs[start + at]
            for j in range(width):
                signed[at, j] = laws[a, j] if c > 0 else laws[a, width - 1 - j]
            shift += base[a] if c > 0 else -(base[a] + width - 1)
        goal = targets[row] - shift
        for at in range(k):
            _convolved(before[at], at * (width - 1) + 1, signed[at], before[at + 1])
        for at in range(k - 1, -1, -1):
            _convolved(behind[at + 1], (k - 1 - at) * (width - 1) + 1, signed[at], behind[at])
        for at in range(k):
            total, top, best = 0.0, 0.0, 0
            for j in range(width):
                if signed[at, j] <= 0.0:
                    continue
                rest = goal - j
                ways = 0.0
                for i in range(at * (width - 1) + 1):
                    other = rest - i
                    if 0 <= other <= (k - 1 - at) * (width - 1):
                        ways += before[at, i] * behind[at + 1, other]
                mass = signed[at, j] * ways
                total += mass
                if mass > top:
                    top, best = mass, j
            if total > 0.0 and top / total > out[cells[start + at]]:
                a = cells[start + at]
                out[a] = top / total
                likeliest[a] = base[a] + (best if coefs[start + at] > 0 else width - 1 - best)
