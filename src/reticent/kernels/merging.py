# SPDX-License-Identifier: Apache-2.0
"""Cells that can only move together: relations of one or two moving cells, applied again and again."""

from typing import NamedTuple

import numpy as np
from numba import njit

from reticent.base.arrays import Array, Ints, Narrow


@njit(cache=True)
def find(target: Ints, flip: Ints, item: int) -> int:
    """The root of an item; from then on target[item] is the root and flip[item] the sign against it.

    Time: amortised almost constant.
    """
    root = item
    sign = 1
    while target[root] != root:
        sign *= flip[root]
        root = target[root]
    while item != root:
        following, own = target[item], flip[item]
        target[item], flip[item] = root, sign
        sign *= own
        item = following
    return root


class RowSums(NamedTuple):
    """What a row adds up to, by movement: `total` counts where `last_seen` is the row; `touched` lists the movements."""

    total: Ints
    touched: Ints
    last_seen: Ints


@njit(cache=True)
def _add(sums: RowSums, row: int, count: int, movement: int, amount: int) -> int:
    """Add to a movement of a row; returns how many movements the row has so far."""
    if sums.last_seen[movement] != row:
        sums.last_seen[movement] = row
        sums.total[movement] = 0
        sums.touched[count] = movement
        count += 1
    sums.total[movement] += amount
    return count


@njit(cache=True)
def merge(indptr: Ints, cells: Narrow, coefs: Narrow, n_cells: int) -> tuple[Ints, Ints]:
    """Leader and sign of each cell (leader −1: it cannot move) from rows that fix a cell or tie two together.

    Time: passes × entries; every pass but the last removes a movement, and in practice there are few.
    """
    target = np.arange(n_cells)
    flip = np.ones(n_cells, dtype=np.int64)
    fixed = np.zeros(n_cells, dtype=np.bool_)
    sums = RowSums(
        np.zeros(n_cells, dtype=np.int64), np.zeros(n_cells, dtype=np.int64), np.full(n_cells, -1, dtype=np.int64)
    )
    total, touched = sums.total, sums.touched
    done = np.zeros(len(indptr) - 1, dtype=np.bool_)
    visit = 0
    changed = True
    while changed:
        changed = False
        for row in range(len(indptr) - 1):
            if done[row]:
                continue
            visit += 1
            count = 0
            for k in range(indptr[row], indptr[row + 1]):
                root = find(target, flip, cells[k])
                if fixed[root]:
                    continue
                count = _add(sums, visit, count, root, coefs[k] * flip[cells[k]])
            left, first, second = 0, -1, -1
            for t in range(count):
                if total[touched[t]] != 0:
                    left += 1
                    first, second = touched[t], first
            if left == 0:
                done[row] = True
            elif left == 1:
                fixed[first] = True
                done[row] = changed = True
            elif left == 2 and abs(total[first]) == abs(total[second]):
                target[second] = first
                flip[second] = -1 if total[first] == total[second] else 1
                done[row] = changed = True
    leader = np.empty(n_cells, dtype=np.int64)
    for item in range(n_cells):
        root = find(target, flip, item)
        leader[item] = -1 if fixed[root] else root
    return leader, flip


@njit(cache=True)
def merged_rows(
    indptr: Ints, cells: Narrow, coefs: Narrow, leader: Array, sign: Ints, n_movements: int
) -> tuple[Ints, Ints, Ints]:
    """The rows over movements (`leader` −1: none), columns ascending, each divided by its common factor, the first
    entry positive; a row that is there already is left out. Returns (start, columns, entries).

    Time: entries × log of the longest row.
    """
    start = np.zeros(len(indptr), dtype=np.int64)
    columns = np.empty(len(cells), dtype=np.int64)
    entries = np.empty(len(cells), dtype=np.int64)
    sums = RowSums(
        np.zeros(n_movements, dtype=np.int64),
        np.zeros(n_movements, dtype=np.int64),
        np.full(n_movements, -1, dtype=np.int64),
    )
    total, touched = sums.total, sums.touched
    size = 16
    while size < 2 * len(indptr):
        size *= 2
    slots = np.full(size, -1, dtype=np.int64)  # open hashing: the row kept there
    n_rows = 0
    for row in range(len(indptr) - 1):
        count = 0
        for k in range(indptr[row], indptr[row + 1]):
            movement = leader[cells[k]]
            if movement < 0:
                continue
            count = _add(sums, row, count, movement, coefs[k] * sign[cells[k]])
        place = start[n_rows]
        for movement in np.sort(touched[:count]):
            if total[movement] != 0:
                columns[place] = movement
                entries[place] = total[movement]
                place += 1
        if place == start[n_rows]:
            continue
        factor = _common(entries, start[n_rows], place)
        hashed = np.int64(17)
        for k in range(start[n_rows], place):
            entries[k] //= factor
            hashed = (hashed * np.int64(1000003)) ^ (columns[k] * np.int64(2654435761) + entries[k])
        slot = (hashed ^ (hashed >> 32)) & (size - 1)
        while slots[slot] >= 0 and not _equal(columns, entries, start, slots[slot], n_rows, place):
            slot = (slot + 1) & (size - 1)
        if slots[slot] < 0:
            slots[slot] = n_rows
            n_rows += 1
            start[n_rows] = place
    return start[: n_rows + 1], columns[: start[n_rows]], entries[: start[n_rows]]


@njit(cache=True)
def _common(entries: Ints, first: int, end: int) -> int:
    """The greatest common factor of some entries, with the sign of the first."""
    factor: int = abs(entries[first])
    for k in range(first + 1, end):
        a, b = factor, abs(entries[k])
        while b:
            a, b = b, a % b
        factor = a
    return factor if entries[first] > 0 else -factor


@njit(cache=True)
def _equal(columns: Ints, entries: Ints, start: Ints, kept: int, fresh: int, end: int) -> bool:
    """Whether a kept row is the same as the fresh one, which ends at `end`."""
    length = end - start[fresh]
    if start[kept + 1] - start[kept] != length:
        return False
    for k in range(length):
        a, b = start[kept] + k, start[fresh] + k
        if columns[a] != columns[b] or entries[a] != entries[b]:
            return False
    return True
