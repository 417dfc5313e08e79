# SPDX-License-Identifier: Apache-2.0
"""Spans of published cells modulo a prime: a tableau over a basis of them, and greedy completion of a part of it.

Row i of the tableau has the coordinates of cell i over the basis; a slot is one basis vector, published or still
free. A cell is a sum of published ones if and only if its free coordinates are all zero.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Array, Floats, Ints, Mask, Narrow
from reticent.kernels.elimination import PRIME, complete_kernel, power


@njit(cache=True)
def coordinates(start: Ints, columns: Narrow, entries: Ints, pivot: Ints, free: Ints, n_cells: int) -> Ints:
    """Every cell as a combination of the free cells of an echelon form. Time: one pass over it for each free cell."""
    found = np.zeros((n_cells, len(free)), dtype=np.int64)
    for j in range(len(free)):
        vector = np.zeros(n_cells, dtype=np.int64)
        vector[free[j]] = 1
        found[:, j] = complete_kernel(start, columns, entries, pivot, vector)
    return found


@njit(cache=True)
def enter(tableau: Ints, cell: int, slot: int) -> None:
    """Make a cell the basis vector of a slot (its coordinate there must not be zero). Time: cells × slots at most."""
    inverse = power(tableau[cell, slot], PRIME - 2)
    row = tableau[cell] * inverse % PRIME
    used = np.nonzero(row)[0]
    for k in range(tableau.shape[0]):
        factor = tableau[k, slot]
        if factor == 0:
            continue
        for j in used:
            if j != slot:
                tableau[k, j] = (tableau[k, j] - factor * row[j]) % PRIME
        tableau[k, slot] = factor * inverse % PRIME


@njit(cache=True)
def gather(tableau: Ints, rows: Ints, slots: Ints) -> Ints:
    """Some rows and columns of a tableau."""
    found = np.empty((len(rows), len(slots)), dtype=np.int64)
    for k in range(len(rows)):
        for j in range(len(slots)):
            found[k, j] = tableau[rows[k], slots[j]]
    return found


@njit(cache=True)
def residue_inverses(residues: Ints) -> Ints:
    """The inverse of each residue modulo PRIME."""
    found = np.empty(len(residues), dtype=np.int64)
    for k in range(len(residues)):
        found[k] = power(residues[k], PRIME - 2)
    return found


@njit(cache=True)
def _first_slot(row: Ints, alive: Mask) -> int:
    for j in range(len(row)):
        if alive[j] and row[j] != 0:
            return j
    return -1


@njit(cache=True)
def _reveals(rows: Ints, cell: int, slot: int, inverse: int, alive: Mask, primaries: Ints) -> bool:
    """Whether a primary is a multiple of the cell in the free coordinates: publishing the cell would give it away."""
    for p in primaries:
        factor = rows[p, slot] * inverse % PRIME
        if factor == 0:
            continue
        parallel = True
        for j in range(rows.shape[1]):
            if alive[j] and (rows[p, j] - factor * rows[cell, j]) % PRIME != 0:
                parallel = False
                break
        if parallel:
            return True
    return False


@njit(cache=True)
def publish_greedily(rows: Ints, count: int, primaries: Ints, cost: Array, give_up: float) -> tuple[float, Ints, Ints]:
    """Publish the first `count` cells in turn as long as no primary is revealed.

    `rows` (free coordinates, overwritten; zero in the slots left for what is published) are cells by free slots.
    Returns the cost of what stays hidden (at least `give_up` when stopped early), the cells published and the slots
    they took. Time: count × primaries × slots.
    """
    n, width = rows.shape
    alive = np.ones(width, dtype=np.bool_)
    cells = np.zeros(width, dtype=np.int64)
    slots = np.zeros(width, dtype=np.int64)
    taken = 0
    hidden = 0.0
    for cell in range(count):
        slot = _first_slot(rows[cell], alive)
        if slot < 0:
            continue
        inverse = power(rows[cell, slot], PRIME - 2)
        if _reveals(rows, cell, slot, inverse, alive, primaries):
            hidden += cost[cell]
            if hidden >= give_up:
                break
            continue
        alive[slot] = False
        for k in range(n):
            factor = rows[k, slot]
            if factor == 0 or k == cell:
                continue
            factor = factor * inverse % PRIME
            for j in range(width):
                if alive[j] and rows[cell, j] != 0:
                    rows[k, j] = (rows[k, j] - factor * rows[cell, j]) % PRIME
        rows[cell] = 0
        cells[taken], slots[taken] = cell, slot
        taken += 1
    return hidden, cells[:taken], slots[:taken]


@njit(cache=True)
def small_fractions(residues: Ints, reference: int) -> Floats:
    """The fractions residue/reference with small numerator and denominator that the residues stand for.

    Zero where there is none with both parts below 32,768 (lattice reduction of one residue by Euclid's steps).
    """
    found = np.zeros(len(residues))
    inverse = power(reference, PRIME - 2)
    for k in range(len(residues)):
        high, low = PRIME, residues[k] * inverse % PRIME
        before, now = 0, 1
        while low > 32767:
            times = high // low
            high, low = low, high - times * low
            before, now = now, before - times * now
        if now != 0 and abs(now) <= 32767:
            found[k] = low / now
    return found
