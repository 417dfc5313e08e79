# SPDX-License-Identifier: Apache-2.0
"""Rounding of additive tables by small movements of their inner cells.

State: `taken`, how many steps each cell stands above its lower multiple, totals included. An inner cell goes one step up or
down, alone or while another of the same relation goes the other way, and all totals above go with it: what is published adds
up at every moment. `rises` (cells × steps) is what one step up costs from there; leaving the window of a cell costs much. The
walk is a function of its start, two words and the number of proposals: the clock has no part in it.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Words
from reticent.kernels.walking import accept, below, next_word


class Movable(NamedTuple):
    """Inner cells that may move, by number: the cells that go with each (itself included, ascending), and their neighbours.

    Movable cell i moves `cells[starts[i]:starts[i + 1]]`; it is in the relations `rows[row_starts[i]:row_starts[i + 1]]`,
    and relation r has the movable cells `parts[part_starts[r]:part_starts[r + 1]]`, at least two.
    """

    own: Ints
    starts: Ints
    cells: Ints
    row_starts: Ints
    rows: Ints
    part_starts: Ints
    parts: Ints


@njit(cache=True, nogil=True, inline="always")
def _price(rises: Floats, cell: int, taken: int, step: int) -> Any:
    """What one step of a cell costs; beyond the table it costs as much as at its end."""
    place = taken + (rises.shape[1] - 1) // 2 - (1 if step < 0 else 0)
    return step * rises[cell, max(0, min(rises.shape[1] - 1, place))]


@njit(cache=True, nogil=True)
def _alone(movable: Movable, rises: Floats, taken: Ints, i: int, step: int) -> Any:
    """What it costs to move one inner cell. O(cells that go with it)."""
    total = 0.0
    for at in range(movable.starts[i], movable.starts[i + 1]):
        cell = movable.cells[at]
        total += _price(rises, cell, taken[cell], step)
    return total


@njit(cache=True, nogil=True)
def _exchange(movable: Movable, rises: Floats, taken: Ints, i: int, j: int, step: int) -> Any:
    """What it costs to move one inner cell and another against it; totals of both stay. O(cells that go with them)."""
    total = 0.0
    p, q = movable.starts[i], movable.starts[j]
    p_end, q_end = movable.starts[i + 1], movable.starts[j + 1]
    while p < p_end or q < q_end:
        if q == q_end or (p < p_end and movable.cells[p] < movable.cells[q]):
            cell = movable.cells[p]
            total += _price(rises, cell, taken[cell], step)
            p += 1
        elif p == p_end or movable.cells[q] < movable.cells[p]:
            cell = movable.cells[q]
            total += _price(rises, cell, taken[cell], -step)
            q += 1
        else:
            p += 1
            q += 1
    return total


@njit(cache=True, nogil=True)
def _move(movable: Movable, taken: Ints, i: int, step: int) -> None:
    """Move one inner cell and all totals above it."""
    for at in range(movable.starts[i], movable.starts[i + 1]):
        taken[movable.cells[at]] += step


@njit(cache=True, nogil=True)
def wander(
    movable: Movable, rises: Floats, taken: Ints, low: Ints, high: Ints, heat: float, proposals: int, words: Words
) -> int:
    """This many proposals, four of five an exchange, taken by Metropolis' rule; how many were taken.

    Inner cells never leave their windows `low` to `high`. O(proposals · cells that go with an inner cell).
    """
    made = 0
    for _ in range(proposals):
        i = below(words, movable.own.size)
        cell = movable.own[i]
        step = 1 if next_word(words) >> np.uint64(63) else -1
        if taken[cell] + step > high[cell] or taken[cell] + step < low[cell]:
            step = -step
        if taken[cell] + step > high[cell] or taken[cell] + step < low[cell]:
            continue
        j = -1
        relations = movable.row_starts[i + 1] - movable.row_starts[i]
        if relations > 0 and below(words, 5) > 0:
            row = movable.rows[movable.row_starts[i] + below(words, relations)]
            first = movable.part_starts[row]
            j = movable.parts[first + below(words, movable.part_starts[row + 1] - first)]
            other = movable.own[j]
            if j == i or taken[other] - step > high[other] or taken[other] - step < low[other]:
                continue
        if j < 0:
            change = _alone(movable, rises, taken, i, step)
        else:
            change = _exchange(movable, rises, taken, i, j, step)
        if not accept(change, heat, words):
            continue
        _move(movable, taken, i, step)
        if j >= 0:
            _move(movable, taken, j, -step)
        made += 1
    return made
