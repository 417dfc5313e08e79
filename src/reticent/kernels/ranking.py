"""Stable order and ranks of many floats by radix sort: the first cost of every rank-based method."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BITS = 11
_SIZE = 1 << _BITS
_MASK = np.uint64(_SIZE - 1)
# Below this many values the passes over the digit tables cost more than a comparison sort.
_SMALL = 4096


@njit(cache=True)
def _sortable(bits: NDArray[np.uint64]) -> None:
    """Turn the bits of floats, in place, into unsigned numbers of the same order (NaN, if positive, last)."""
    sign = np.uint64(1) << np.uint64(63)
    for i in range(bits.shape[0]):
        word = bits[i]
        if word == sign:
            word = np.uint64(0)  # minus zero equals zero
        bits[i] = ~word if word & sign else word | sign


@njit(cache=True)
def _radix_order(keys: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Stable order of unsigned keys, digits of 11 bits from the lowest up; O(n) for each digit that varies."""
    n = keys.shape[0]
    counts = np.zeros((6, _SIZE), dtype=np.int64)
    for i in range(n):
        word = keys[i]
        for digit in range(6):
            counts[digit, int((word >> np.uint64(_BITS * digit)) & _MASK)] += 1
    order, other = np.arange(n).astype(np.int32), np.empty(n, dtype=np.int32)
    source, target = keys, np.empty_like(keys)
    for digit in range(6):
        shift = np.uint64(_BITS * digit)
        count = counts[digit]
        if count.max() == n:
            continue
        place = np.zeros(_SIZE, dtype=np.int64)
        for value in range(1, _SIZE):
            place[value] = place[value - 1] + count[value - 1]
        for i in range(n):
            bucket = int((source[i] >> shift) & _MASK)
            position = place[bucket]
            place[bucket] = position + 1
            target[position] = source[i]
            other[position] = order[i]
        source, target = target, source
        order, other = other, order
    return order


def stable_order(values: Floats) -> Ints:
    """As numpy.argsort(kind="stable"), faster for many values; NaN last."""
    if values.shape[0] < _SMALL or values.shape[0] >= 2**31 or bool(np.isnan(values).any()):
        return np.argsort(values, kind="stable")
    bits = np.array(values, dtype=np.float64).view(np.uint64)
    _sortable(bits)
    return np.asarray(_radix_order(bits), dtype=np.int64)


@njit(cache=True)
def _mean_ranks(values: Floats, order: Ints) -> Floats:
    """Ranks from 1; runs of equal values share the mean of their ranks; O(n)."""
    n = values.shape[0]
    ranks = np.empty(n)
    start = 0
    while start < n:
        end = start + 1
        while end < n and values[order[end]] == values[order[start]]:
            end += 1
        for i in range(start, end):
            ranks[order[i]] = (start + end + 1) / 2.0
        start = end
    return ranks


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 1 of values without NaN, equal ones at their mean rank."""
    ranks: Floats = _mean_ranks(np.ascontiguousarray(values), stable_order(values))
    return ranks
