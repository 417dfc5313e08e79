# SPDX-License-Identifier: Apache-2.0
"""Counts without 1 and 2 (SAFE): exchanges between patterns that keep controlled cells near their true counts.

State: `y`, the new count of each pattern, 0 or at least 3; `deviation`, for each controlled cell Σ (y − x) over its
patterns; `cells` (patterns × tables), the controlled cell of each pattern in each table; `kinds`, the class of each table.
An exchange takes 1 to 5 from one pattern and gives them to another, so Σ y never changes. What it costs is looked up in
`gains` (class × step × deviation), so that one kernel serves squares, higher powers and bounds. All of it is whole
numbers: the same state gives the same exchanges on every machine.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Ints

LIMIT = 200
"""Deviations beyond this are priced in a straight line."""
MOST = 5
"""The largest exchange: with 4 and 5 a pattern of that count can take the place of an empty one."""


def gains_of(energy: Ints) -> Ints:
    """What each step costs at each deviation: energy (class × absolute deviation up to LIMIT + MOST) differenced."""
    deviation = np.arange(-LIMIT, LIMIT + 1)
    steps = range(-MOST, MOST + 1)
    return np.stack(
        [np.stack([row[np.abs(deviation + step)] - row[np.abs(deviation)] for step in steps]) for row in energy]
    )


@njit(cache=True, nogil=True)
def _at(deviation):  # type: ignore[no-untyped-def]
    """The place of a deviation in `gains`."""
    return LIMIT + max(-LIMIT, min(LIMIT, deviation))


@njit(cache=True, nogil=True)
def _change(cells, kinds, deviation, gains, up, down, step):  # type: ignore[no-untyped-def]
    """Change of energy when `up` gains `step` and `down` loses it; shared cells do not move. O(tables)."""
    total = 0
    for t in range(cells.shape[1]):
        a, b = cells[up, t], cells[down, t]
        if a != b:
            kind = kinds[t]
            total += gains[kind, MOST + step, _at(deviation[a])] + gains[kind, MOST - step, _at(deviation[b])]
    return total


@njit(cache=True, nogil=True)
def _exchange(cells, deviation, y, up, down, step):  # type: ignore[no-untyped-def]
    """Make the exchange. O(tables)."""
    y[up] += step
    y[down] -= step
    for t in range(cells.shape[1]):
        a, b = cells[up, t], cells[down, t]
        if a != b:
            deviation[a] += step
            deviation[b] -= step


@njit(cache=True, nogil=True)
def _allowed(gaining, losing, step):  # type: ignore[no-untyped-def]
    """Whether both counts are 0 or at least 3 afterwards."""
    return (gaining >= 3 or (gaining == 0 and step >= 3)) and (losing - step >= 3 or losing == step)


@njit(cache=True, nogil=True)
def try_pair(cells, kinds, deviation, gains, y, one, other, limit):  # type: ignore[no-untyped-def]
    """The cheapest exchange between two patterns, made if its change of energy is below `limit`; whether it was."""
    first, second = y[one], y[other]
    if first == 0 and second == 0:
        return False
    best, up, down, by = limit, -1, -1, 0
    for step in range(1, MOST + 1):
        if _allowed(first, second, step):
            change = _change(cells, kinds, deviation, gains, one, other, step)
            if change < best:
                best, up, down, by = change, one, other, step
        if _allowed(second, first, step):
            change = _change(cells, kinds, deviation, gains, other, one, step)
            if change < best:
                best, up, down, by = change, other, one, step
    if up < 0:
        return False
    _exchange(cells, deviation, y, up, down, by)
    return True


@njit(cache=True, nogil=True)
def sweep(cells, kinds, deviation, gains, y, order, reach):  # type: ignore[no-untyped-def]
    """Improving exchanges between patterns up to `reach` places apart in an order; how many were made.

    O(patterns · reach · tables).
    """
    made = 0
    for place in range(order.size):
        for distance in range(1, reach + 1):
            if place + distance < order.size:
                other = order[place + distance]
                if try_pair(cells, kinds, deviation, gains, y, order[place], other, 0):
                    made += 1
    return made


@njit(cache=True, nogil=True)
def _beyond(cells, kinds, deviation, bounds, pattern):  # type: ignore[no-untyped-def]
    """Whether the pattern has a cell that deviates by more than the bound of its class. O(tables)."""
    for t in range(cells.shape[1]):
        size = deviation[cells[pattern, t]]
        if size > bounds[kinds[t]] or -size > bounds[kinds[t]]:
            return True
    return False


@njit(cache=True, nogil=True)
def mend(cells, kinds, deviation, gains, y, chosen, orders, places, reach, bounds):  # type: ignore[no-untyped-def]
    """Improving exchanges of the chosen patterns beyond their bounds with their neighbours in every order; how many.

    `orders` (orders × patterns) lists the patterns, `places` says where each stands. O(chosen · orders · reach · tables).
    """
    made = 0
    for at in range(chosen.size):
        one = chosen[at]
        if not _beyond(cells, kinds, deviation, bounds, one):
            continue
        for o in range(orders.shape[0]):
            low = max(0, places[o, one] - reach)
            high = min(y.size, places[o, one] + reach + 1)
            for place in range(low, high):
                other = orders[o, place]
                if other != one and try_pair(cells, kinds, deviation, gains, y, one, other, 0):
                    made += 1
    return made


@njit(cache=True, nogil=True)
def wander(cells, kinds, deviation, gains, y, chosen, others, limits, bounds):  # type: ignore[no-untyped-def]
    """One drawn partner (−1: none) for each chosen pattern beyond its bounds, taken below a drawn limit above 0; how many.

    A deviation that no exchange mends moves on to other cells, until it comes to where one does. O(chosen · tables).
    """
    made = 0
    for at in range(chosen.size):
        one, other = chosen[at], others[at]
        if other < 0 or other == one or not _beyond(cells, kinds, deviation, bounds, one):
            continue
        if try_pair(cells, kinds, deviation, gains, y, one, other, limits[at]):
            made += 1
    return made


@njit(cache=True, nogil=True)
def list_members(cells, n_cells):  # type: ignore[no-untyped-def]
    """The patterns of each cell: where each cell begins (cells + 1 entries), and the patterns. O(patterns · tables)."""
    starts = np.zeros(n_cells + 1, dtype=np.int64)
    for pattern in range(cells.shape[0]):
        for t in range(cells.shape[1]):
            starts[cells[pattern, t] + 1] += 1
    for cell in range(n_cells):
        starts[cell + 1] += starts[cell]
    filled = starts[:-1].copy()
    members = np.empty(cells.size, dtype=np.int32)
    for pattern in range(cells.shape[0]):
        for t in range(cells.shape[1]):
            cell = cells[pattern, t]
            members[filled[cell]] = pattern
            filled[cell] += 1
    return starts, members


@njit(cache=True, nogil=True)
def deviations(cells, change, n_cells):  # type: ignore[no-untyped-def]
    """Σ of the changes of its patterns, for each cell. O(patterns · tables)."""
    found = np.zeros(n_cells, dtype=np.int64)
    for pattern in range(cells.shape[0]):
        for t in range(cells.shape[1]):
            found[cells[pattern, t]] += change[pattern]
    return found
