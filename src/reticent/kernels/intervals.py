# SPDX-License-Identifier: Apache-2.0
"""What sums say about their parts: intervals of whole numbers narrowed over all relations until nothing moves."""

from typing import NamedTuple

import numpy as np
from numba import njit

from reticent.base.arrays import Ints, Mask, Narrow


class Spans(NamedTuple):
    """What is left to each cell: [low, high], and the values from `base` on in the row `pattern` of `patterns` (−1: all).

    `touched` marks cells that were narrowed.
    """

    low: Ints
    high: Ints
    base: Ints
    pattern: Narrow
    patterns: Mask
    touched: Mask


OPEN = np.int64(1) << np.int64(50)
"""Ends beyond this are open."""
SWEEPS = 1000


@njit(cache=True)
def _snapped(value: int, step: int, cell: int, spans: Spans) -> int:
    """The next value in this direction that the cell may have; the value itself if nothing is known of the cell."""
    base, patterns = spans.base, spans.patterns
    row = spans.pattern[cell]
    if row < 0:
        return value
    width = patterns.shape[1]
    at = value - base[cell]
    while 0 <= at < width and not patterns[row, at]:
        at += step
    return int(base[cell] + at)


@njit(cache=True)
def _narrow_row(start: int, stop: int, target: int, cells: Narrow, coefs: Narrow, spans: Spans) -> bool:
    """Narrow the cells of one relation; false if no values are left to one of them."""
    low, high = spans.low, spans.high
    least, most, open_least, open_most = 0, 0, 0, 0
    for at in range(start, stop):
        c, a = coefs[at], cells[at]
        small, large = (c * low[a], c * high[a]) if c > 0 else (c * high[a], c * low[a])
        if (low[a] if c > 0 else -high[a]) <= -OPEN:
            open_least += 1
        else:
            least += small
        if (high[a] if c > 0 else -low[a]) >= OPEN:
            open_most += 1
        else:
            most += large
    for at in range(start, stop):
        c, a = coefs[at], cells[at]
        before_low, before_high = low[a], high[a]
        bottom_open = (before_low if c > 0 else -before_high) <= -OPEN
        top_open = (before_high if c > 0 else -before_low) >= OPEN
        own_small = 0 if bottom_open else (c * before_low if c > 0 else c * before_high)
        own_large = 0 if top_open else (c * before_high if c > 0 else c * before_low)
        if open_least - bottom_open == 0:  # c·x ≤ target − what the others are at least
            room = target - (least - own_small)
            if c > 0:
                high[a] = min(high[a], room // c)
            else:
                low[a] = max(low[a], -(room // -c))
        if open_most - top_open == 0:
            room = target - (most - own_large)
            if c > 0:
                low[a] = max(low[a], -((-room) // c))
            else:
                high[a] = min(high[a], (-room) // -c)
        if low[a] != before_low:
            low[a] = _snapped(low[a], 1, a, spans)
        if high[a] != before_high:
            high[a] = _snapped(high[a], -1, a, spans)
        if low[a] > high[a]:
            return False
        if low[a] != before_low or high[a] != before_high:
            spans.touched[a] = True
            # the sums of the row follow, so that later cells profit
            if not bottom_open:
                least += (c * low[a] if c > 0 else c * high[a]) - own_small
            if not top_open:
                most += (c * high[a] if c > 0 else c * low[a]) - own_large
    return True


@njit(cache=True)
def _part_row(start: int, stop: int, cells: Narrow, coefs: Narrow, alike: Ints, spans: Spans) -> bool:
    """Narrow the cells of one sum by what differs: a part that is published unlike its total is not all of it.

    False if no values are left to one of them; rows that are not sums of parts say nothing.
    """
    low, high, touched = spans.low, spans.high, spans.touched
    total, least, some = -1, 0, 0
    for at in range(start, stop):
        a = cells[at]
        if coefs[at] == -1 and total < 0:
            total = a
        elif coefs[at] != 1:
            return True
        else:
            least += low[a]
            some += high[a] > 0
    if total < 0 or alike[total] < 0:
        return True
    for at in range(start, stop):
        a = cells[at]
        if a == total or alike[a] < 0 or alike[a] == alike[total] or least - low[a] > 0:
            continue
        if high[a] > high[total] - 1:
            high[a] = _snapped(high[total] - 1, -1, a, spans)
            touched[a] = True
        if low[total] < low[a] + 1:
            low[total] = _snapped(low[a] + 1, 1, total, spans)
            touched[total] = True
        if low[a] > high[a] or low[total] > high[total]:
            return False
        if some - (high[a] > 0) == 1:  # somebody else is there, and only one other part is left
            for other in range(start, stop):
                b = cells[other]
                if b != a and b != total and high[b] > 0 and low[b] < 1:
                    low[b] = _snapped(1, 1, b, spans)
                    touched[b] = True
                    least += low[b]
                    if low[b] > high[b]:
                        return False
    return True


@njit(cache=True)
def propagate(
    indptr: Ints,
    cells: Narrow,
    coefs: Narrow,
    targets: Ints,
    cell_indptr: Ints,
    cell_rows: Narrow,
    low: Ints,
    high: Ints,
    base: Ints,
    pattern: Narrow,
    patterns: Mask,
    alike: Ints,
) -> int:
    """Narrow [low, high] in place by all relations Σ coef·x = target until nothing moves; O(entries) for each sweep.

    `patterns` are sets of values a cell may have, from `base` on. Cells with the same records have the same value in `alike`
    (−1: no such rule; an empty array: for no cell). Returns the sweeps that were needed, −1 if a cell has no
    value left, `SWEEPS` + 1 if it was stopped.
    """
    n_rows = indptr.shape[0] - 1
    waiting = np.ones(n_rows, dtype=np.bool_)
    touched = np.zeros(low.shape[0], dtype=np.bool_)
    spans = Spans(low, high, base, pattern, patterns, touched)
    for sweep in range(SWEEPS):
        moved = False
        for row in range(n_rows):
            if not waiting[row]:
                continue
            waiting[row] = False
            start, stop = indptr[row], indptr[row + 1]
            ok = _narrow_row(start, stop, targets[row], cells, coefs, spans)
            if ok and alike.shape[0]:
                ok = _part_row(start, stop, cells, coefs, alike, spans)
            if not ok:
                return -1
            for at in range(start, stop):
                a = cells[at]
                if touched[a]:
                    touched[a] = False
                    moved = True
                    for place in range(cell_indptr[a], cell_indptr[a + 1]):
                        waiting[cell_rows[place]] = True
        if not moved:
            return sweep + 1
    return SWEEPS + 1
