"""Who else fits: records of a block that lie at least as near to a target as its own record does."""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Mask, Narrow, Words


@njit(cache=True, nogil=True)
def _distance(
    codes: Narrow, asked: Narrow, numbers: Floats, wanted: Floats, exact: Mask, most: float, blank_fits: bool
) -> float:
    """What differs of codes and of numbers that must agree, plus squared differences of the others; it stops above `most`.

    A published blank fits every code: that of the record with `blank_fits`, else that of the target.
    """
    total = 0.0
    for j in range(asked.size):
        a, b = codes[j], asked[j]
        if a != b and not (blank_fits and a < 0) and not (not blank_fits and b < 0):
            total += 1.0
            if total > most:
                return total
    for j in range(wanted.size):
        x, y = numbers[j], wanted[j]
        if np.isnan(x) or np.isnan(y):
            if np.isnan(x) != np.isnan(y):
                total += 1.0
        elif exact[j]:
            if x != y:
                total += 1.0
        else:
            total += (x - y) * (x - y)
        if total > most:
            return total
    return total


@njit(cache=True, nogil=True)
def find_rivals(
    asked: Narrow,
    wanted: Floats,
    own: Floats,
    ids: Words,
    codes: Narrow,
    numbers: Floats,
    block_ids: Words,
    exact: Mask,
    blank_fits: bool,
    rival: Mask,
) -> None:
    """Mark targets that another record of the block is as near to as their own. O(targets without a rival × block)."""
    for s in range(asked.shape[0]):
        if rival[s]:
            continue
        for i in range(codes.shape[0]):
            if block_ids[i] == ids[s]:
                continue
            if _distance(codes[i], asked[s], numbers[i], wanted[s], exact, own[s], blank_fits) <= own[s]:
                rival[s] = True
                break


@njit(cache=True, nogil=True)
def own_distances(
    codes: Narrow, numbers: Floats, asked: Narrow, wanted: Floats, exact: Mask, blank_fits: bool, out: Floats
) -> None:
    """The distance of each target to its own record."""
    for s in range(asked.shape[0]):
        out[s] = _distance(codes[s], asked[s], numbers[s], wanted[s], exact, np.inf, blank_fits)
