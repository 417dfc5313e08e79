# SPDX-License-Identifier: Apache-2.0
"""Whole numbers for the inner cells of a table so that all sums come near to given values: descent by single and double steps."""

from typing import NamedTuple

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Mask, Narrow


class Sums(NamedTuple):
    """Which sums each inner value j is part of: `cells[indptr[j]:indptr[j + 1]]` with these coefficients."""

    indptr: Ints
    cells: Narrow
    coefs: Narrow


@njit(cache=True)
def sums_of(values: Ints, sums: Sums, n_cells: int) -> Ints:
    """The sum of each cell over the inner values that belong to it; O(entries)."""
    out = np.zeros(n_cells, dtype=np.int64)
    for j in range(values.shape[0]):
        for at in range(sums.indptr[j], sums.indptr[j + 1]):
            out[sums.cells[at]] += sums.coefs[at] * values[j]
    return out


@njit(cache=True)
def _step(value: int, up: bool, skip: int) -> int:
    """The change to the next allowed value: 0, skip + 1, skip + 2, …; 0 if there is none."""
    if up:
        return skip + 1 if value == 0 else 1
    if value == 0:
        return 0
    return -value if value == skip + 1 else -1


@njit(cache=True)
def _allowed(value: int, skip: int) -> bool:
    return value == 0 or value > skip


@njit(cache=True, inline="always")
def _pull(j: int, sums: Sums, off: Ints, weights: Floats) -> tuple[float, float]:
    """Half the slope and half the curvature of Σ w·off² along inner value j."""
    slope, bend = 0.0, 0.0
    for at in range(sums.indptr[j], sums.indptr[j + 1]):
        weight = weights[sums.cells[at]]
        slope += weight * sums.coefs[at] * off[sums.cells[at]]
        bend += weight * sums.coefs[at] * sums.coefs[at]
    return slope, bend


@njit(cache=True, inline="always")
def _apply(j: int, change: int, values: Ints, sums: Sums, off: Ints) -> None:
    values[j] += change
    for at in range(sums.indptr[j], sums.indptr[j + 1]):
        off[sums.cells[at]] += sums.coefs[at] * change


@njit(cache=True)
def single_steps(values: Ints, order: Ints, free: Mask, sums: Sums, off: Ints, weights: Floats, skip: int) -> int:
    """Move each free inner value to its next allowed value as long as Σ w·off² falls; returns the number of moves.

    `off` is what each sum is above its target and is kept up to date; O(entries) for each sweep.
    """
    moved = 0
    for place in range(order.shape[0]):
        j = order[place]
        if not free[j]:
            continue
        slope, bend = _pull(j, sums, off, weights)
        best, gain = 0, -1e-9
        for up in (True, False):
            change = _step(values[j], up, skip)
            if change != 0:
                found = 2.0 * change * slope + bend * change * change
                if found < gain:
                    best, gain = change, found
        if best != 0:
            _apply(j, best, values, sums, off)
            moved += 1
    return moved


@njit(cache=True)
def double_steps(
    values: Ints,
    order: Ints,
    partners: Ints,
    signs: Narrow,
    free: Mask,
    sums: Sums,
    off: Ints,
    weights: Floats,
    skip: int,
) -> int:
    """Move each inner value and its partner together, the partner by `signs` times as much, if Σ w·off² falls."""
    moved = 0
    for place in range(order.shape[0]):
        j, k = order[place], partners[place]
        if k < 0 or j == k or not free[j] or not free[k]:
            continue
        slope, bend = _pull(j, sums, off, weights)
        for up in (True, False):
            change = _step(values[j], up, skip)
            if change == 0:
                continue
            other = signs[place] * change
            if values[k] + other < 0 or not _allowed(values[k] + other, skip):
                continue
            first = 2.0 * change * slope + bend * change * change
            _apply(j, change, values, sums, off)
            push, curve = _pull(k, sums, off, weights)
            if first + 2.0 * other * push + curve * other * other < -1e-9:
                _apply(k, other, values, sums, off)
                moved += 1
                break
            _apply(j, -change, values, sums, off)
    return moved


@njit(cache=True)
def proportional_fitting(
    values: Floats, indptr: Ints, members: Narrow, targets: Floats, order: Ints, sweeps: int
) -> None:
    """Scale the members of each cell in `order` to its target, again and again (Deming and Stephan 1940)."""
    for _ in range(sweeps):
        for place in range(order.shape[0]):
            cell = order[place]
            total = 0.0
            for at in range(indptr[cell], indptr[cell + 1]):
                total += values[members[at]]
            if total > 0:
                share = targets[cell] / total
                for at in range(indptr[cell], indptr[cell + 1]):
                    values[members[at]] *= share
