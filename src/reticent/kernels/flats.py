# SPDX-License-Identifier: Apache-2.0
"""Flats of a small matroid: which of a few vectors can vanish together without forcing others to vanish."""

import numpy as np
from numba import njit

from reticent.base.arrays import Ints
from reticent.kernels.elimination import PRIME, power


@njit(cache=True)
def _closure(vectors: Ints, mask: int, work: Ints) -> int:
    """All vectors in the span of those in a mask. Time: vectors × dimension²; `work` has the shape of `vectors`."""
    n, d = vectors.shape
    work[:] = vectors
    for item in range(n):
        if not mask >> item & 1:
            continue
        column = -1
        for c in range(d):
            if work[item, c]:
                column = c
                break
        if column < 0:
            continue
        scale = power(work[item, column], PRIME - 2)
        for c in range(d):
            work[item, c] = work[item, c] * scale % PRIME
        for other in range(n):
            factor = work[other, column]
            if other != item and factor:
                for c in range(d):
                    work[other, c] = (work[other, c] - factor * work[item, c]) % PRIME
        for c in range(d):
            work[item, c] = 0
    closed = 0
    for item in range(n):
        zero = True
        for c in range(d):
            if work[item, c]:
                zero = False
                break
        if zero:
            closed |= 1 << item
    return closed


@njit(cache=True)
def flats(vectors: Ints, most: int) -> Ints:
    """The flats of vectors modulo PRIME as masks of bits, the smallest first; none if there are more than `most`.

    Time: flats × vectors closures; memory: one byte for each set of vectors, so there may be 20 of them at most.
    """
    n = vectors.shape[0]
    work = np.empty_like(vectors)
    seen = np.zeros(1 << n, dtype=np.bool_)
    found = np.empty(most, dtype=np.int64)
    found[0] = _closure(vectors, 0, work)
    seen[found[0]] = True
    count, at = 1, 0
    while at < count:
        flat = found[at]
        at += 1
        for item in range(n):
            if flat >> item & 1:
                continue
            larger = _closure(vectors, flat | 1 << item, work)
            if not seen[larger]:
                if count == most:
                    return found[:0]
                seen[larger] = True
                found[count] = larger
                count += 1
    return found[:count]
