"""Counting compatible records when missing values may stand for anything, without comparing all pairs.

Rows are grouped by which of their values are wild. Two such groups can only be told apart on the variables that are
wild in neither, so one hash join on those variables serves all their pairs. With M different sets of wild variables
and n distinct rows the time is O(M · n · q); M is at most 2^q and in practice a few dozen.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.kernels.grouping import Integers, radix_keys


@njit(cache=True, nogil=True)
def _join_sum(keys, values, asked, out):  # type: ignore[no-untyped-def]
    """out[i] += Σ values[j] over keys[j] == asked[i], through an open-addressing table. O(n) expected."""
    size = 4
    while size < 2 * keys.size:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.empty(size, keys.dtype)
    sums = np.zeros(size, values.dtype)
    used = np.zeros(size, np.bool_)
    for j in range(keys.size):
        slot = (np.uint64(keys[j]) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
        while used[slot] and table[slot] != keys[j]:
            slot = (slot + np.uint64(1)) & mask
        used[slot] = True
        table[slot] = keys[j]
        sums[slot] += values[j]
    for i in range(asked.size):
        slot = (np.uint64(asked[i]) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
        while used[slot]:
            if table[slot] == asked[i]:
                out[i] += sums[slot]
                break
            slot = (slot + np.uint64(1)) & mask


def _by_wild_set(codes: Integers, wild: bool) -> list[tuple[NDArray[np.bool_], NDArray[np.int64]]]:
    """The sets of wild variables that occur, each with its rows."""
    n, q = codes.shape
    if not wild:
        return [(np.zeros(q, np.bool_), np.arange(n))] if n else []
    masks = codes < 0
    packed = np.packbits(masks, axis=1)
    _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    bounds = np.searchsorted(inverse.ravel()[order], np.arange(len(first) + 1))
    return [(masks[first[g]], order[bounds[g] : bounds[g + 1]]) for g in range(len(first))]


def compatible_sums(
    asking: Integers,
    answering: Integers,
    values: NDArray[Any],
    *,
    asking_wild: bool,
    answering_wild: bool,
) -> NDArray[Any]:
    """For each row of `asking`, the sum of `values` over the rows of `answering` that are compatible with it.

    Two rows are compatible when every variable has the same code in both, or −1 on a side that is `wild`. On a side
    that is not wild, −1 is compared like any code. Sums have the type of `values`: int64 counts stay exact.
    """
    out = np.zeros(len(asking), values.dtype)
    groups = _by_wild_set(answering, answering_wild)
    for wild_here, rows in _by_wild_set(asking, asking_wild):
        found = np.zeros(len(rows), values.dtype)
        for wild_there, others in groups:
            known = np.flatnonzero(~(wild_here | wild_there))
            if len(known) == 0:
                found += values[others].sum()
                continue
            columns = [np.concatenate((answering[others, v], asking[rows, v])) for v in known]
            keys, _ = radix_keys(columns, [int(c.max()) + 1 for c in columns])
            _join_sum(keys[: len(others)], values[others], keys[len(others) :], found)
        out[rows] = found
    return out
