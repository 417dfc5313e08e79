# SPDX-License-Identifier: Apache-2.0
"""Relations around a cell, step by step over chosen cells."""

import numpy as np
from numba import njit

from reticent.base.arrays import Ints, Mask, Narrow


@njit(cache=True)
def ball(indptr: Ints, cells: Narrow, by_cell: Ints, rows_of: Narrow, inside: Mask, cell: int, depth: int) -> Ints:
    """Numbers (ascending) of the relations reached from a cell in at most `depth` steps over cells with `inside`.

    Time: the entries of the relations reached.
    """
    seen_row = np.zeros(len(indptr) - 1, dtype=np.bool_)
    seen_cell = np.zeros(len(by_cell) - 1, dtype=np.bool_)
    found = np.empty(len(indptr) - 1, dtype=np.int64)
    front = np.empty(len(by_cell) - 1, dtype=np.int64)
    front[0] = cell
    seen_cell[cell] = True
    start, end, n_found = 0, 1, 0
    for _ in range(depth):
        last = end
        for place in range(start, last):
            for at in range(by_cell[front[place]], by_cell[front[place] + 1]):
                row = rows_of[at]
                if seen_row[row]:
                    continue
                seen_row[row] = True
                found[n_found] = row
                n_found += 1
                for k in range(indptr[row], indptr[row + 1]):
                    other = cells[k]
                    if inside[other] and not seen_cell[other]:
                        seen_cell[other] = True
                        front[end] = other
                        end += 1
        if end == last:
            break
        start = last
    return np.sort(found[:n_found])
