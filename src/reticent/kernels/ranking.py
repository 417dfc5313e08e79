# SPDX-License-Identifier: Apache-2.0
"""Stable order and ranks of many floats by radix sort: the first cost of every rank-based method."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints

_BITS = 11
_SIZE = 1 << _BITS
_MASK = np.uint64(_SIZE - 1)
# Longest run of equal upper bits that insertion sort is allowed to meet.
_RUN = 24
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
def _pass(digit: int, source: NDArray[np.uint64], order: NDArray[np.int32], target: NDArray[np.uint64],
          other: NDArray[np.int32], count: Ints) -> None:  # fmt: skip
    """One stable counting pass by one digit of 11 bits."""
    shift = np.uint64(_BITS * digit)
    place = np.zeros(_SIZE, dtype=np.int64)
    for value in range(1, _SIZE):
        place[value] = place[value - 1] + count[value - 1]
    for i in range(source.shape[0]):
        bucket = int((source[i] >> shift) & _MASK)
        position = place[bucket]
        place[bucket] = position + 1
        target[position] = source[i]
        other[position] = order[i]


@njit(cache=True)
def _finish(keys: NDArray[np.uint64], order: NDArray[np.int32], shift: int) -> bool:
    """Insertion sort of keys that are sorted by their upper bits; False if a run of equal upper bits is long."""
    n = keys.shape[0]
    start = 0
    for i in range(1, n):
        if keys[i] >> np.uint64(shift) != keys[i - 1] >> np.uint64(shift):
            start = i
        elif i - start >= _RUN:
            return False
    for i in range(1, n):
        key, index = keys[i], order[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j], order[j] = keys[j - 1], order[j - 1]
            j -= 1
        keys[j], order[j] = key, index
    return True


@njit(cache=True)
def _sort_digits(keys: NDArray[np.uint64], lowest: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Keys and their stable order, sorted by the digits from `lowest` up; O(n) for each digit that varies."""
    n = keys.shape[0]
    counts = np.zeros((6, _SIZE), dtype=np.int64)
    for i in range(n):
        word = keys[i]
        for digit in range(lowest, 6):
            counts[digit, int((word >> np.uint64(_BITS * digit)) & _MASK)] += 1
    left, right = np.empty_like(keys), np.empty_like(keys)
    order, other = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    for i in range(n):
        order[i] = i
    passes = 0
    for digit in range(lowest, 6):
        if counts[digit].max() == n:
            continue
        # The keys themselves are only read: they are needed again if this turns out too short.
        if passes == 0:
            _pass(digit, keys, order, left, other, counts[digit])
        elif passes % 2 == 1:
            _pass(digit, left, order, right, other, counts[digit])
        else:
            _pass(digit, right, order, left, other, counts[digit])
        order, other = other, order
        passes += 1
    if passes == 0:
        left[:] = keys
    return (left if passes == 0 or passes % 2 == 1 else right), order


def stable_order(values: Floats) -> Ints:
    """As numpy.argsort(kind="stable"), faster for many values; NaN last."""
    return np.asarray(_short_order(values), dtype=np.int64)


def _short_order(values: Floats) -> NDArray[np.signedinteger[Any]]:
    """The stable order in the smaller of the integer types that hold it.

    Three passes over the upper 33 bits usually sort nearly everything and insertion does the rest; where many values
    share these bits, all six digits are passed.
    """
    if values.shape[0] < _SMALL or values.shape[0] >= 2**31 or bool(np.isnan(values).any()):
        return np.argsort(values, kind="stable")
    bits = np.array(values, dtype=np.float64).view(np.uint64)
    _sortable(bits)
    keys, order = _sort_digits(bits, 3)
    if not _finish(keys, order, 3 * _BITS):
        keys, order = _sort_digits(bits, 0)
    narrow: NDArray[np.int32] = order
    return narrow


@njit(cache=True)
def _fill_ranks(values: Floats, order: NDArray[np.signedinteger[Any]], shift: float, scale: float, out: Floats) -> None:
    """(rank − shift)·scale, ranks from 1; runs of equal values share the mean of their ranks; O(n)."""
    n = values.shape[0]
    start = 0
    while start < n:
        end = start + 1
        first = values[order[start]]
        while end < n and values[order[end]] == first:
            end += 1
        rank = ((start + end + 1) / 2.0 - shift) * scale
        for i in range(start, end):
            out[order[i]] = rank
        start = end


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 1 of values without NaN, equal ones at their mean rank."""
    ranks = np.empty(values.shape[0])
    _fill_ranks(np.ascontiguousarray(values), _short_order(values), 0.0, 1.0, ranks)
    return ranks


def centered_ranks(values: Floats) -> Floats:
    """(rank − (n+1)/2)/n of values without NaN: between −½ and ½, mean 0."""
    n = values.shape[0]
    ranks = np.empty(n)
    _fill_ranks(np.ascontiguousarray(values), _short_order(values), (n + 1) / 2.0, 1.0 / max(1, n), ranks)
    return ranks
