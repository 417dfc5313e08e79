# SPDX-License-Identifier: Apache-2.0
"""Moving records between categories: independent draws, and unbiased controlled rounding of expected flows."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.kernels.draws import record_uniform

# Flows this close to a whole number are whole; products of shares and counts carry errors of about 1e-9.
WHOLE = 1e-6


@njit(cache=True)
def draw_codes(codes: NDArray[np.int32], cumulative: Floats, uniform: Floats) -> NDArray[np.int32]:
    """A new code per record, drawn from the row of its old one; −1 stays. `cumulative` are row-wise sums; O(n log L)."""
    n, last = codes.shape[0], cumulative.shape[1] - 1
    out = np.empty(n, dtype=np.int32)
    for i in range(n):
        if codes[i] < 0:
            out[i] = -1
            continue
        row = cumulative[codes[i]]
        low, high = 0, last
        while low < high:
            middle = (low + high) // 2
            if uniform[i] < row[middle]:
                high = middle
            else:
                low = middle + 1
        out[i] = low
    return out


@njit(cache=True)
def _fraction(value: float) -> bool:
    return bool(abs(value - np.rint(value)) > WHOLE)


@njit(cache=True)
def _neighbour(flows: Floats, node: int, previous: int, first: float) -> int:
    """Another node joined to this one by a fractional flow, −1 if none; rows are 0…m−1, columns m…m+k−1.

    The search begins at the share `first` of the nodes and goes round.
    """
    m, k = flows.shape
    if node < m:
        for at in range(k):
            column = (at + int(first * k)) % k
            if column + m != previous and _fraction(flows[node, column]):
                return int(column + m)
    else:
        for at in range(m):
            row = (at + int(first * m)) % m
            if row != previous and _fraction(flows[row, node - m]):
                return int(row)
    return -1


@njit(cache=True)
def _shift_cycle(flows: Floats, cycle: Ints, uniform: float) -> None:
    """Move along a cycle of flows, up and down in turn, until one is whole; the expected move is zero."""
    m = flows.shape[0]
    size = cycle.shape[0]
    up, down = np.inf, np.inf
    for i in range(size):
        a, b = cycle[i], cycle[(i + 1) % size]
        value = flows[min(a, b), max(a, b) - m]
        above, below = np.ceil(value) - value, value - np.floor(value)
        if i % 2 == 0:
            up, down = min(up, above), min(down, below)
        else:
            up, down = min(up, below), min(down, above)
    step = up if uniform * (up + down) < down else -down
    for i in range(size):
        a, b = cycle[i], cycle[(i + 1) % size]
        flows[min(a, b), max(a, b) - m] += step if i % 2 == 0 else -step


@njit(cache=True)
def round_flows(flows: Floats, word0: np.uint64, word1: np.uint64, wander: bool = False) -> Ints:
    """Round a matrix with whole row and column sums to whole numbers with the same sums, without bias (Cox 1987).

    Each entry becomes one of its two neighbours and its expectation is the entry itself. Fractional entries form cycles
    (rows and columns in turn); each step makes at least one entry whole. Usually O(L³) for L categories.
    With `wander` cycles are drawn too, so that every matrix of neighbours with these sums is possible: one that is none of
    them differs from the flows by cycles along which each entry goes its way, and any cycle may be the next.
    """
    m, k = flows.shape
    path = np.empty(m + k + 1, dtype=np.int64)
    where = np.full(m + k, -1, dtype=np.int64)
    step = 0
    for start in range(m):
        while _neighbour(flows, start, -1, 0.0) >= 0:
            length = 1
            path[0] = start
            where[start] = 0
            while True:
                previous = path[length - 2] if length > 1 else -1
                first = record_uniform(word0, word1, np.uint64(step), np.uint64(length)) if wander else 0.0
                node = _neighbour(flows, path[length - 1], previous, first)
                if node < 0:
                    # Only rounding errors leave a row or column with a single fraction: make it whole.
                    a, b = path[length - 1], previous
                    flows[min(a, b), max(a, b) - m] = np.rint(flows[min(a, b), max(a, b) - m])
                    break
                if where[node] >= 0:
                    uniform = record_uniform(word0, word1, np.uint64(step), np.uint64(0))
                    _shift_cycle(flows, path[where[node] : length], uniform)
                    step += 1
                    break
                path[length] = node
                where[node] = length
                length += 1
            for i in range(length):
                where[path[i]] = -1
    return np.rint(flows).astype(np.int64)
