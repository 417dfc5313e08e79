# SPDX-License-Identifier: Apache-2.0
"""Partition refinement: the cells of one key combination from the cells of a shorter one.

A partition of the active patterns is `order` (patterns, cell after cell) and `starts` (where each cell begins, and
the end). Adding a variable splits every cell by its code; a walk over combinations in lexicographic order reuses the
partition of the common prefix, so that all subsets of q variables up to size m cost one split each.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Array, Floats, Ints, Narrow


@njit(cache=True, nogil=True)
def refine(order: Narrow, starts: Ints, column: Array, cardinality: int) -> tuple[Narrow, Ints]:
    """Split every cell by the codes in `column`; patterns with code −1 are in no cell. O(patterns + cells)."""
    n_cells = starts.size - 1
    new_order = np.empty_like(order)
    new_starts = np.empty(order.size + 1, np.int64)
    counts = np.zeros(cardinality, np.int64)
    place = np.empty(cardinality, np.int64)
    touched = np.empty(cardinality, np.int64)
    position = 0
    made = 0
    for cell in range(n_cells):
        n_touched = 0
        for at in range(starts[cell], starts[cell + 1]):
            code = column[order[at]]
            if code >= 0:
                if counts[code] == 0:
                    touched[n_touched] = code
                    n_touched += 1
                counts[code] += 1
        for t in range(n_touched):
            code = touched[t]
            place[code] = position
            new_starts[made] = position
            made += 1
            position += counts[code]
            counts[code] = 0
        for at in range(starts[cell], starts[cell + 1]):
            code = column[order[at]]
            if code >= 0:
                new_order[place[code]] = order[at]
                place[code] += 1
    new_starts[made] = position
    return new_order[:position], new_starts[: made + 1]


@njit(cache=True, nogil=True)
def assess(
    order: Narrow, starts: Ints, values: Floats, records: Ints, threshold: float, tally: Ints
) -> tuple[int, int]:
    """Unsafe cells (0 < Σ values ≤ threshold) and records in them; `tally` gains 1 at each pattern in one. O(patterns)."""
    unsafe_cells = 0
    unsafe_records = 0
    for cell in range(starts.size - 1):
        total = 0.0
        inside = 0
        for at in range(starts[cell], starts[cell + 1]):
            total += values[order[at]]
            inside += records[order[at]]
        if 0 < total <= threshold:
            unsafe_cells += 1
            unsafe_records += inside
            for at in range(starts[cell], starts[cell + 1]):
                tally[order[at]] += 1
    return unsafe_cells, unsafe_records
