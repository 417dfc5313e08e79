# SPDX-License-Identifier: Apache-2.0
"""Counting compatible records when missing values may stand for anything, without comparing all pairs.

Rows are grouped by which of their values are wild. Two such groups can only be told apart on the variables that are
wild in neither, so one join on those variables serves all their pairs: by a table of all numbers where these are few, else
by a hash table. With M different sets of wild variables and n distinct rows the time is O(M · n · q); M is at most 2^q and
in practice a few dozen.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Array, Ints, Mask
from reticent.kernels.grouping import Integers, group_columns, members_of_groups, radix_keys

DENSE_PER_ROW = 6
"""Numbers per row up to which sums are kept in a table of all numbers."""


@njit(cache=True, nogil=True)
def _find(table: Array, used: Mask, key: int | np.uint32 | np.uint64, mask: np.uint64) -> np.uint64:
    """The slot of a key in an open-addressing table, or the free one where it belongs."""
    slot = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while used[slot] and table[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit(cache=True, nogil=True)
def _dense_sum(keys: Array, values: Array, asked: Array, sums: Array, out: Array) -> None:
    """out[i] += Σ values[j] over keys[j] == asked[i], by a table of zeros for all numbers. O(n)."""
    for j in range(keys.size):
        sums[keys[j]] += values[j]
    for i in range(asked.size):
        out[i] += sums[asked[i]]


@njit(cache=True, nogil=True)
def _join_sum(keys: Array, values: Array, asked: Array, out: Array) -> None:
    """out[i] += Σ values[j] over keys[j] == asked[i]; the table holds the shorter side. O(n) expected."""
    few = asked if asked.size < keys.size else keys
    size = 4
    while size < 2 * few.size:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.empty(size, keys.dtype)
    sums = np.zeros(size, values.dtype)
    used = np.zeros(size, np.bool_)
    for i in range(few.size):
        slot = _find(table, used, few[i], mask)
        used[slot] = True
        table[slot] = few[i]
    for j in range(keys.size):
        slot = _find(table, used, keys[j], mask)
        if used[slot]:
            sums[slot] += values[j]
    for i in range(asked.size):
        slot = _find(table, used, asked[i], mask)
        if used[slot]:
            out[i] += sums[slot]


@njit(cache=True, nogil=True)
def _without(keys: Ints, place: int, radix: int, out: Ints) -> None:
    """Take one digit out of mixed-radix numbers. O(n)."""
    for i in range(keys.size):
        out[i] = keys[i] - keys[i] // place % radix * place


@njit(cache=True, nogil=True)
def _numbers(codes: Array, places: Ints, out: Ints) -> None:
    """Mixed-radix numbers of the rows (digit = code + 1, so that a missing value is 0). O(n · q)."""
    for i in range(codes.shape[0]):
        total = np.int64(0)
        for v in range(codes.shape[1]):
            total += np.int64(codes[i, v] + 1) * places[v]
        out[i] = total


@njit(cache=True, nogil=True)
def wild_sets(codes: Array, out: Ints) -> None:
    """Which values of each row are missing, a bit each. O(n · q)."""
    for i in range(codes.shape[0]):
        found = np.int64(0)
        for v in range(codes.shape[1]):
            if codes[i, v] < 0:
                found |= np.int64(1) << v
        out[i] = found


@dataclass(frozen=True, slots=True)
class _Digits:
    """How rows become numbers: place value and number of codes of each variable, the last one counting ones."""

    places: NDArray[np.int64]
    radices: NDArray[np.int64]

    @property
    def space(self) -> int:
        """Numbers that can occur are below this."""
        return int(self.places[0] * self.radices[0])

    @classmethod
    def of(cls, asking: Integers, answering: Integers) -> "_Digits | None":
        """Digits that hold every code of both sides, or None where a word would not."""
        both = [asking] if asking is answering else [asking, answering]
        radices = [max(int(side[:, v].max(initial=-1)) for side in both) + 2 for v in range(asking.shape[1])]
        places, space = [], 1
        for radix in reversed(radices):
            places.append(space)
            space *= radix
            if space > 1 << 62:
                return None
        return cls(np.array(places[::-1], dtype=np.int64), np.array(radices, dtype=np.int64)) if places else None


@dataclass(frozen=True, slots=True)
class _Side:
    """Rows with the same wild variables: their numbers or, where digits do not fit a word, their codes."""

    wild: NDArray[np.bool_]
    rows: NDArray[np.int64]
    codes: Integers | None
    numbers: NDArray[np.int64] | None

    def keys_without(self, hidden: NDArray[np.int64], digits: _Digits) -> NDArray[np.int64]:
        """Numbers over the variables that are not hidden."""
        assert self.numbers is not None
        keys = self.numbers
        for v in hidden.tolist():
            if not self.wild[v]:
                smaller = np.empty_like(keys) if keys is self.numbers else keys
                _without(keys, digits.places[v], digits.radices[v], smaller)
                keys = smaller
        return keys


def _sides(codes: Integers, wild: bool, digits: _Digits | None) -> list[_Side]:
    """Rows by the set of wild variables that they have, in the order of these sets."""
    n = len(codes)
    if n == 0:
        return []
    starts, order, sets = _by_wild_set(codes, wild)
    numbers = None
    if digits is not None:
        numbers = np.empty(n, np.int64)
        _numbers(codes, digits.places, numbers)
    sides = []
    for g, own in enumerate(sets):
        rows = order[starts[g] : starts[g + 1]]
        alone = len(sets) == 1
        if numbers is not None:
            sides.append(_Side(own, rows, None, numbers if alone else numbers[rows]))
        else:
            sides.append(_Side(own, rows, codes if alone else codes[rows], None))
    return sides


def _by_wild_set(codes: Integers, wild: bool) -> tuple[Ints, Ints, list[NDArray[np.bool_]]]:
    """Where the rows of each set of wild variables begin, these rows one set after the other, and the sets."""
    n, q = codes.shape
    if not wild or not (codes < 0).any():
        return np.array([0, n]), np.arange(n), [np.zeros(q, np.bool_)]
    if q > 62:
        masks, inverse = np.unique(np.packbits(codes < 0, axis=1), axis=0, return_inverse=True)
        starts, order = members_of_groups(inverse.ravel(), len(masks))
        return starts, order, [row.astype(bool) for row in np.unpackbits(masks, axis=1, count=q)]
    packed = np.empty(n, np.int64)
    wild_sets(codes, packed)
    group, n_groups = group_columns([packed], [1 << q])
    found = np.empty(n_groups, np.int64)
    found[group] = packed
    rank = np.argsort(found)
    place = np.empty(n_groups, np.int64)
    place[rank] = np.arange(n_groups)
    starts, order = members_of_groups(place[group], n_groups)
    return starts, order, [(found[at] >> np.arange(q)) & 1 > 0 for at in rank]


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
    digits = _Digits.of(asking, answering)
    there = _sides(answering, answering_wild, digits)
    same = asking is answering and asking_wild == answering_wild
    for here in there if same else _sides(asking, asking_wild, digits):
        found = np.zeros(len(here.rows), values.dtype)
        for side in there:
            hidden = here.wild | side.wild
            amount = values if len(there) == 1 else values[side.rows]
            if hidden.all():
                found += amount.sum()
            elif digits is not None:
                gone = np.flatnonzero(hidden)
                _add_sums(side.keys_without(gone, digits), amount, here.keys_without(gone, digits), found, digits)
            else:
                _join_sum(*_hashed_keys(side, here, hidden, amount), found)
        out[here.rows] = found
    return out


def _add_sums(
    keys: NDArray[np.int64], amount: NDArray[Any], asked: NDArray[np.int64], found: NDArray[Any], digits: _Digits
) -> None:
    """Join two sides by their numbers."""
    if digits.space <= DENSE_PER_ROW * (len(keys) + len(asked)):
        _dense_sum(keys, amount, asked, np.zeros(digits.space, amount.dtype), found)
    else:
        _join_sum(keys, amount, asked, found)


def _hashed_keys(
    side: _Side, here: _Side, hidden: NDArray[np.bool_], amount: NDArray[Any]
) -> tuple[Integers, NDArray[Any], Integers]:
    """Numbers of both sides over the variables that are hidden in neither, where digits do not fit a word."""
    assert side.codes is not None
    assert here.codes is not None
    columns = [np.concatenate((side.codes[:, v], here.codes[:, v])) for v in np.flatnonzero(~hidden)]
    keys, _ = radix_keys(columns, [int(c.max()) + 1 for c in columns])
    return keys[: len(side.rows)], amount, keys[len(side.rows) :]
