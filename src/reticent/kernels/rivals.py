# SPDX-License-Identifier: Apache-2.0
"""Who else fits: records of a block that lie at least as near to a target as its own record does.

Targets nearer than one differing code to their own record have rivals only among records with fitting codes: these are
found by hashes (`matching_rows`). All others are compared record by record (`find_rivals`).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Mask, Narrow, Words
from reticent.kernels.wildcards import wild_sets

CHUNK = 4_096
"""Records that stay in a processor cache while all targets are compared with them."""
MOST_CODES = 62
"""Variables up to which a set of them is one word."""


Rows = tuple[Narrow, Floats]
"""Codes and numbers of records."""


@njit(cache=True, nogil=True)
def _first_near(
    records: Rows, targets: Rows, s: int, start: int, stop: int, exact: Mask, most: float, blank_fits: bool
) -> tuple[int, float]:
    """The first of the records from `start` to before `stop` not above `most` from target s, and its distance; `stop` if none is.

    The distance is what differs of codes and of numbers that must agree, plus squared differences of the others. A published
    blank fits every code: that of the record with `blank_fits`, else that of the target. All records are compared in one
    call: calls for each pair would take a hundred times as long.
    """
    codes, numbers = records
    asked, wanted = targets
    for i in range(start, stop):
        total = 0.0
        for j in range(asked.shape[1]):
            a, b = codes[i, j], asked[s, j]
            if a != b and not (blank_fits and a < 0) and not (not blank_fits and b < 0):
                total += 1.0
                if total > most:
                    break
        if total > most:
            continue
        for j in range(wanted.shape[1]):
            x, y = numbers[i, j], wanted[s, j]
            if np.isnan(x) or np.isnan(y):
                if np.isnan(x) != np.isnan(y):
                    total += 1.0
            elif exact[j]:
                if x != y:
                    total += 1.0
            else:
                total += (x - y) * (x - y)
            if total > most:
                break
        if not total > most:  # nor is what is no number
            return i, total
    return stop, np.inf


class Targets(NamedTuple):
    """Records whose rivals are looked for: codes, numbers, how far their own record is, and which record that is."""

    codes: Narrow
    numbers: Floats
    own: Floats
    ids: Words


class Candidates(NamedTuple):
    """Records to compare them with."""

    codes: Narrow
    numbers: Floats
    ids: Words


@njit(cache=True, nogil=True)
def _has_rival(
    targets: Targets, block: Candidates, exact: Mask, blank_fits: bool, s: int, start: int, stop: int
) -> bool:
    """Whether a record from `start` to before `stop` of the block, not the target's own, is as near to target s as that is."""
    records, asked, own = (block.codes, block.numbers), (targets.codes, targets.numbers), targets.own[s]
    while start < stop:
        i, distance = _first_near(records, asked, s, start, stop, exact, own, blank_fits)
        if i < stop and distance <= own and block.ids[i] != targets.ids[s]:
            return True
        start = i + 1
    return False


@njit(cache=True, nogil=True)
def find_rivals(targets: Targets, block: Candidates, exact: Mask, blank_fits: bool, which: Ints, rival: Mask) -> None:
    """Mark those of the targets `which` that another record of the block is as near to as their own.

    O(targets without a rival × block).
    """
    n = block.codes.shape[0]
    for start in range(0, n, CHUNK):
        for s in which:
            if not rival[s]:
                rival[s] = _has_rival(targets, block, exact, blank_fits, s, start, min(start + CHUNK, n))


@njit(cache=True, nogil=True)
def check_pairs(
    targets: Targets, block: Candidates, exact: Mask, blank_fits: bool, pairs: tuple[Ints, Ints], rival: Mask
) -> None:
    """Mark targets that have a rival among their pairs with rows of the block. O(pairs)."""
    for at in range(pairs[0].size):
        s, i = pairs[0][at], pairs[1][at]
        if not rival[s] and block.ids[i] != targets.ids[s]:
            rival[s] = _has_rival(targets, block, exact, blank_fits, s, i, i + 1)


@njit(cache=True, nogil=True)
def _hashes(codes: Narrow, rows: Ints, wild: int, out: Words) -> None:
    """A hash of the codes of some rows, except for the wild ones. O(rows · variables)."""
    for at in range(rows.size):
        found = np.uint64(0x9E3779B97F4A7C15)
        for v in range(codes.shape[1]):
            if not (wild >> v) & 1:
                found = (found ^ np.uint64(codes[rows[at], v] + 2)) * np.uint64(0xFF51AFD7ED558CCD)
                found ^= found >> np.uint64(32)
        out[at] = found


@njit(cache=True, nogil=True)
def _equal_pairs(asked: Words, there: Words) -> tuple[Ints, Ints]:
    """All pairs of equal hashes: places in both. O(targets + rows + pairs) expected."""
    size = 4
    while size < 4 * asked.size:
        size *= 2
    mask = np.uint64(size - 1)
    head, after = np.full(size, -1, np.int32), np.full(asked.size, -1, np.int32)
    for s in range(asked.size):
        slot = asked[s] & mask
        after[s] = head[slot]
        head[slot] = s
    n = 0
    for i in range(there.size):
        s = head[there[i] & mask]
        while s >= 0:
            n += asked[s] == there[i]
            s = after[s]
    first, second = np.empty(n, np.int64), np.empty(n, np.int64)
    n = 0
    for i in range(there.size):
        s = head[there[i] & mask]
        while s >= 0:
            if asked[s] == there[i]:
                first[n], second[n] = s, i
                n += 1
            s = after[s]
    return first, second


def matching_rows(asked: Narrow, which: Ints, codes: Narrow, blank_fits: bool) -> tuple[Ints, Ints]:
    """Pairs of one of the targets `which` and a row whose codes fit; blanks fit as in the distance. Some others may be there."""
    rows = np.arange(len(codes))
    wild_side, members = (codes, rows) if blank_fits else (asked, which)
    sets = np.empty(len(wild_side), np.int64)
    wild_sets(wild_side, sets)
    found = []
    for wild in np.unique(sets[members]).tolist():
        own = members[sets[members] == wild]
        targets, there = (which, own) if blank_fits else (own, rows)
        first, second = np.empty(targets.size, np.uint64), np.empty(there.size, np.uint64)
        _hashes(asked, targets, wild, first)
        _hashes(codes, there, wild, second)
        s, i = _equal_pairs(first, second)
        found.append((targets[s], there[i]))
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.concatenate([one for one, _ in found]), np.concatenate([other for _, other in found])


@njit(cache=True, nogil=True)
def own_distances(
    codes: Narrow, numbers: Floats, asked: Narrow, wanted: Floats, exact: Mask, blank_fits: bool, out: Floats
) -> None:
    """The distance of each target to its own record."""
    for s in range(asked.shape[0]):
        out[s] = _first_near((codes, numbers), (asked, wanted), s, s, s + 1, exact, np.inf, blank_fits)[1]
