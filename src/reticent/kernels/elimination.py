# SPDX-License-Identifier: Apache-2.0
"""Sparse elimination modulo a prime: random vectors of the kernel of a relation system."""

import heapq

import numpy as np
from numba import njit

from reticent.base.arrays import Ints, Mask, Narrow

PRIME = 2147483647  # 2^31 − 1: products of two residues fit 64 bits


@njit(cache=True)
def power(base: int, exponent: int) -> int:
    """Power modulo PRIME; the exponent PRIME − 2 gives the inverse. Time: log exponent."""
    result = 1
    base %= PRIME
    while exponent:
        if exponent & 1:
            result = result * base % PRIME
        base = base * base % PRIME
        exponent >>= 1
    return result


@njit(cache=True, inline="always")
def _touch(c: int, mark: Mask, touched: Ints, n_touched: int, time_of: Ints, heap: list[int]) -> int:
    """Note that a row has an entry in column c, and the time of the pivot that must leave it; returns how many it has."""
    if not mark[c]:
        mark[c] = True
        touched[n_touched] = c
        n_touched += 1
        if time_of[c] >= 0:
            heapq.heappush(heap, time_of[c])
    return n_touched


@njit(cache=True)
def eliminate(indptr: Ints, cells: Narrow, coefs: Ints, order: Ints, n_cells: int) -> tuple[Ints, Narrow, Ints, Ints]:
    """Row echelon form modulo PRIME of the rows taken in `order`.

    Returns (start, columns, entries, pivot): row t has the entries [start[t], start[t+1]) in which the pivot column
    pivot[t] has coefficient 1, no pivot column of an earlier row occurs, and later ones may. Time: one operation for
    each entry of each row used in a reduction; memory: the fill-in.
    """
    n_rows = len(indptr) - 1
    use = np.zeros(n_cells, dtype=np.int64)
    for k in range(len(cells)):
        use[cells[k]] += 1
    time_of = np.full(n_cells, -1, dtype=np.int64)
    work = np.zeros(n_cells, dtype=np.int64)
    mark = np.zeros(n_cells, dtype=np.bool_)
    start = np.zeros(n_rows + 1, dtype=np.int64)
    pivot = np.zeros(n_rows, dtype=np.int64)
    columns = np.zeros(max(16, 2 * len(cells)), dtype=np.int32)
    entries = np.zeros(len(columns), dtype=np.int64)
    touched = np.zeros(n_cells, dtype=np.int64)
    rank = 0
    for place in range(n_rows):
        row = order[place]
        n_touched = 0
        heap = [np.int64(0) for _ in range(0)]
        for k in range(indptr[row], indptr[row + 1]):
            c = cells[k]
            n_touched = _touch(c, mark, touched, n_touched, time_of, heap)
            work[c] = (work[c] + coefs[k]) % PRIME
        while len(heap):
            t = heapq.heappop(heap)
            factor = work[pivot[t]]
            if factor == 0:
                continue
            for k in range(start[t], start[t + 1]):
                c = columns[k]
                n_touched = _touch(c, mark, touched, n_touched, time_of, heap)
                work[c] = (work[c] - factor * entries[k]) % PRIME
        best = -1
        for k in range(n_touched):
            c = touched[k]
            if work[c] != 0 and (best < 0 or use[c] < use[best]):
                best = c
        if best >= 0:
            end = start[rank] + n_touched
            if end > len(columns):
                columns = np.concatenate((columns, np.zeros(end + len(columns), dtype=np.int32)))
                entries = np.concatenate((entries, np.zeros(end + len(entries), dtype=np.int64)))
            inverse = power(work[best], PRIME - 2)
            at = start[rank]
            for k in range(n_touched):
                c = touched[k]
                if work[c] != 0:
                    columns[at] = c
                    entries[at] = work[c] * inverse % PRIME
                    at += 1
            pivot[rank] = best
            time_of[best] = rank
            rank += 1
            start[rank] = at
        for k in range(n_touched):
            work[touched[k]] = 0
            mark[touched[k]] = False
    return start[: rank + 1], columns[: start[rank]], entries[: start[rank]], pivot[:rank]


@njit(cache=True)
def complete_kernel(start: Ints, columns: Narrow, entries: Ints, pivot: Ints, vector: Ints) -> Ints:
    """Overwrite the pivot entries of `vector` (residues) so that it lies in the kernel; free entries are kept."""
    for t in range(len(pivot) - 1, -1, -1):
        total = 0
        for k in range(start[t], start[t + 1]):
            c = columns[k]
            if c != pivot[t]:
                total = (total + entries[k] * vector[c]) % PRIME
        vector[pivot[t]] = (PRIME - total) % PRIME
    return vector


@njit(cache=True)
def reduce_modulo(table: Ints, prime: int) -> int:
    """Bring residues modulo a small prime to reduced echelon form, in place; returns the rank. Time: rank · entries."""
    n_rows, n_columns = table.shape
    done = 0
    for column in range(n_columns):
        pivot = done
        while pivot < n_rows and table[pivot, column] == 0:
            pivot += 1
        if pivot == n_rows:
            continue
        inverse = 1
        while inverse * table[pivot, column] % prime != 1:
            inverse += 1
        for c in range(n_columns):
            value = table[pivot, c] * inverse % prime
            table[pivot, c] = table[done, c]
            table[done, c] = value
        for r in range(n_rows):
            factor = table[r, column]
            if r != done and factor != 0:
                for c in range(column, n_columns):
                    table[r, c] = (table[r, c] + (prime - factor) * table[done, c]) % prime
        done += 1
        if done == n_rows:
            break
    return done
