"""Counting compatible records when missing values may stand for anything, without comparing all pairs.

Rows are grouped by which of their values are wild. Two such groups can only be told apart on the variables that are
wild in neither, so one hash join on those variables serves all their pairs. With M different sets of wild variables
and n distinct rows the time is O(M · n · q); M is at most 2^q and in practice a few dozen.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Array, Ints, Mask
from reticent.kernels.grouping import Integers, members_of_groups, radix_keys


@njit(cache=True, nogil=True)
def _find(table: Array, used: Mask, key: int | np.uint32 | np.uint64, mask: np.uint64) -> np.uint64:
    """The slot of a key in an open-addressing table, or the free one where it belongs."""
    slot = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while used[slot] and table[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


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
def _without(keys: Ints, column: Array, place: int, out: Ints) -> None:
    """Take one digit out of mixed-radix numbers (digit = code + 1, so that a missing value is 0). O(n)."""
    for i in range(keys.size):
        out[i] = keys[i] - np.int64(column[i] + 1) * place


@dataclass(frozen=True, slots=True)
class _Side:
    """Rows with the same wild variables: their columns and, where all digits fit a word, their mixed-radix numbers."""

    wild: NDArray[np.bool_]
    rows: NDArray[np.int64]
    columns: list[Integers]
    numbers: NDArray[np.int64] | None

    def keys_without(self, hidden: NDArray[np.int64], places: list[int]) -> NDArray[np.int64]:
        """Numbers over the variables that are not hidden."""
        assert self.numbers is not None
        keys = self.numbers
        for v in hidden.tolist():
            if not self.wild[v]:
                smaller = np.empty_like(keys) if keys is self.numbers else keys
                _without(keys, self.columns[v], places[v], smaller)
                keys = smaller
        return keys


def _sides(codes: Integers, wild: bool, places: list[int] | None) -> list[_Side]:
    """Rows by the set of wild variables that they have."""
    n, q = codes.shape
    if n == 0:
        return []
    masks = codes < 0 if wild else np.zeros((n, q), np.bool_)
    if wild and q <= 62:
        packed = masks @ (np.int64(1) << np.arange(q, dtype=np.int64))
        _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    else:
        _, first, inverse = np.unique(np.packbits(masks, axis=1), axis=0, return_index=True, return_inverse=True)
    starts, order = members_of_groups(inverse.ravel(), len(first))
    sides = []
    for g in range(len(first)):
        rows = order[starts[g] : starts[g + 1]]
        part = codes[rows] if len(first) > 1 else codes
        columns = [np.ascontiguousarray(part[:, v]) for v in range(q)]
        numbers = None
        if places is not None:
            numbers = np.zeros(len(rows), np.int64)
            for v in range(q):
                numbers += (columns[v].astype(np.int64) + 1) * places[v]
        sides.append(_Side(masks[first[g]], rows, columns, numbers))
    return sides


def _places(asking: Integers, answering: Integers) -> list[int] | None:
    """Place values of a mixed-radix number that holds every code of both sides, or None when it would not fit."""
    places, space = [], 1
    for v in range(asking.shape[1]):
        places.append(space)
        space *= max(int(asking[:, v].max(initial=-1)), int(answering[:, v].max(initial=-1))) + 2
        if space > 1 << 62:
            return None
    return places


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
    places = _places(asking, answering)
    there = _sides(answering, answering_wild, places)
    amounts = [values[side.rows] for side in there]
    for here in _sides(asking, asking_wild, places):
        found = np.zeros(len(here.rows), values.dtype)
        for side, amount in zip(there, amounts, strict=True):
            hidden = here.wild | side.wild
            if hidden.all():
                found += amount.sum()
            elif places is not None:
                gone = np.flatnonzero(hidden)
                _join_sum(side.keys_without(gone, places), amount, here.keys_without(gone, places), found)
            else:
                known = np.flatnonzero(~hidden)
                columns = [np.concatenate((side.columns[v], here.columns[v])) for v in known]
                keys, _ = radix_keys(columns, [int(c.max()) + 1 for c in columns])
                _join_sum(keys[: len(side.rows)], amount, keys[len(side.rows) :], found)
        out[here.rows] = found
    return out
