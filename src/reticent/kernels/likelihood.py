# SPDX-License-Identifier: Apache-2.0
"""Linkage by likelihood: whether any other record explains a record as well as its own does.

Codes cost minus the logarithm of P(shown | true) / P(shown), taken from three tables per variable; numbers cost half of their
squared difference in units of the disturbance. A missing value on either side adds nothing for codes, and `ABSENT` for a
number that only the other record lacks. All pairs are compared, with an early stop within a pair (no part of the sum is
below the `least` that the asker's code can cost) and at the first other record that is as likely.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Mask
from reticent.kernels.nearest import TIE

ABSENT = 1.0
"""The cost of a number that the other record lacks: that of a difference of √2 disturbances."""


@njit(cache=True, nogil=True)
def _cost(
    code: Ints,
    other_code: Ints,
    number: Floats,
    other_number: Floats,
    agree: Floats,
    differ: Floats,
    into: Floats,
    least: Floats,
    turned: bool,
    limit: float,
) -> float:
    """What pairing two records costs above the least; stops once it is above the limit."""
    total: float = 0.0
    for v in range(code.size):
        mine, theirs = code[v], other_code[v]
        if mine < 0:
            continue
        if theirs < 0:
            total -= least[v, mine]
        elif mine == theirs:
            total += agree[v, mine] - least[v, mine]
        elif turned:
            total += differ[v, mine] + into[v, theirs] - least[v, mine]
        else:
            total += differ[v, theirs] + into[v, mine] - least[v, mine]
        if total > limit:
            return total
    for v in range(number.size):
        if number[v] == number[v]:
            gap = number[v] - other_number[v]
            total += 0.5 * gap * gap if gap == gap else ABSENT
            if total > limit:
                return total
    return total


@njit(cache=True, nogil=True)
def alone_by_likelihood(
    codes: Ints,
    numbers: Floats,
    own: Ints,
    mine: Ints,
    other_codes: Ints,
    other_numbers: Floats,
    units: Ints,
    agree: Floats,
    differ: Floats,
    into: Floats,
    least: Floats,
    turned: bool,
) -> Mask:
    """Whether no record of another unit is as likely as its own one, for each asker; O(askers · records) at worst.

    `turned`: true records ask for their published one; else published records ask for their true one.
    """
    alone = np.ones(own.size, dtype=np.bool_)
    for i in range(own.size):
        at = own[i]
        cost = _cost(
            codes[i], other_codes[at], numbers[i], other_numbers[at], agree, differ, into, least, turned, np.inf
        )
        limit = cost + TIE * max(abs(cost), 1.0)
        for j in range(units.size):
            if units[j] == mine[i]:
                continue
            other = _cost(
                codes[i], other_codes[j], numbers[i], other_numbers[j], agree, differ, into, least, turned, limit
            )
            if other <= limit:
                alone[i] = False
                break
    return alone
