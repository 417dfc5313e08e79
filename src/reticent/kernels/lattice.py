# SPDX-License-Identifier: Apache-2.0
"""Rolling up a table of distinct rows: some columns get coarser codes, and rows that become equal are merged."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Codes, Floats, Ints, Narrow


class Rows(NamedTuple):
    """Distinct rows: codes (m × q, −1 = missing), records in each, sum of weights in each."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]


@njit(cache=True)
def _merge(
    codes: Codes,
    counts: Ints,
    weights: Floats,
    maps: Codes,
    offsets: Ints,
    table: Narrow,
    out_codes: Codes,
    out_counts: Ints,
    out_weights: Floats,
    target: Ints,
) -> int:
    """Recode and merge by open addressing on whole rows; fills `target` with each row's new row. O(m·q) expected."""
    n, q = codes.shape
    mask = np.uint64(table.size - 1)
    size = 0
    for i in range(n):
        word = np.uint64(0)
        for j in range(q):
            code = codes[i, j]
            if offsets[j] >= 0 and code >= 0:
                code = maps[offsets[j] + code]
            out_codes[size, j] = code
            word = (word ^ np.uint64(code + 2)) * np.uint64(0x9E3779B97F4A7C15)
            word ^= word >> np.uint64(32)
        at = word & mask
        found = -1
        while table[at] >= 0:
            other = table[at]
            same = True
            for j in range(q):
                if out_codes[other, j] != out_codes[size, j]:
                    same = False
                    break
            if same:
                found = other
                break
            at = (at + np.uint64(1)) & mask
        if found < 0:
            table[at] = size
            out_counts[size], out_weights[size] = counts[i], weights[i]
            target[i] = size
            size += 1
        else:
            out_counts[found] += counts[i]
            out_weights[found] += weights[i]
            target[i] = found
    return size


def roll_up(rows: Rows, maps: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Rows, NDArray[np.int64]]:
    """Rows after recoding column j by `maps[offsets[j]:]` (−1: column stays), and the new row of each old one."""
    n = rows.counts.size
    codes = np.empty((n + 1, rows.codes.shape[1]), dtype=np.int32)
    counts, weights, target = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n, dtype=np.int64)
    table = np.full(1 << max(2, int(2 * n).bit_length()), -1, dtype=np.int32)
    m = _merge(rows.codes, rows.counts, rows.weights, maps, offsets, table, codes, counts, weights, target)
    return Rows(codes[:m].copy(), counts[:m].copy(), weights[:m].copy()), target  # views would keep the whole buffers
