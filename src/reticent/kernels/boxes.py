# SPDX-License-Identifier: Apache-2.0
"""Linkage by the largest change: whether any other record lies as near as its own one in every coordinate.

The distance of two records is their largest difference in any coordinate; codes that differ rule a pair out. A missing value
on either side says nothing. All pairs are compared, with an early stop within a pair and at the first other record that is
as near.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Mask
from reticent.kernels.nearest import TIE


@njit(cache=True, nogil=True)
def _within(code: Ints, other_code: Ints, number: Floats, other: Floats, limit: float) -> bool:
    for v in range(code.size):
        if code[v] != other_code[v] and code[v] >= 0 and other_code[v] >= 0:
            return False
    far = 0
    for v in range(number.size):
        far += abs(number[v] - other[v]) > limit  # not so for NaN
        if far:
            break
    return far == 0


@njit(cache=True, nogil=True)
def alone_in_box(
    codes: Ints, numbers: Floats, own: Ints, mine: Ints, other_codes: Ints, other_numbers: Floats, units: Ints
) -> Mask:
    """Whether no record of another unit is as near as its own one, for each asker; O(askers · records) at worst."""
    alone = np.ones(own.size, dtype=np.bool_)
    for i in range(own.size):
        limit = 0.0
        for v in range(numbers.shape[1]):
            gap = abs(numbers[i, v] - other_numbers[own[i], v])
            if gap > limit:
                limit = gap
        limit += TIE * max(limit, 1.0)
        for j in range(units.size):
            if units[j] != mine[i] and _within(codes[i], other_codes[j], numbers[i], other_numbers[j], limit):
                alone[i] = False
                break
    return alone
