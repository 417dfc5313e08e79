# SPDX-License-Identifier: Apache-2.0
"""Shrink the attacker's system before any program: disclosed cells, cells that move together, groups.

A relation with one hidden cell fixes it; one with two lets them move only together, so they become one. Repeated to
the end this removes most of a real pattern. What is left is exact: a movement of the small system is a movement of
the table and the other way round.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.data.relations import Relations
from reticent.kernels.merging import merge, merged_rows
from reticent.tables.problem import SuppressionProblem


@dataclass(frozen=True, eq=False)
class Reduced:
    """Hidden cells expressed by fewer movements: cell k moves by sign[k]·z[leader[k]]; leader −1 cannot move.

    `room_down` and `room_up` are how far each movement may go, from the attacker's bounds on all cells it carries; those
    that carry a whole number are `whole`.
    """

    cells: NDArray[np.int32]
    leader: NDArray[np.int32]
    sign: NDArray[np.int8]
    relations: Relations
    room_down: Floats
    room_up: Floats
    whole: Mask

    @cached_property
    def groups(self) -> NDArray[np.int32]:
        """Group of each movement: different groups have no relation in common."""
        return self.relations.components(np.ones(self.relations.n_cells, dtype=bool))

    def lift(self, movement: Floats) -> Floats:
        """Movements of the hidden cells (in the order of `cells`) from those of the small system."""
        # cells that cannot move have leader −1: they take the zero put behind the others
        return np.asarray(np.append(movement, 0.0)[self.leader] * self.sign)


def reduce(problem: SuppressionProblem, hidden: Mask, *, known: Mask | None = None) -> Reduced:
    """Reduce the system of a pattern; `known` cells are hidden to the public but known to this attacker."""
    free = hidden if known is None else hidden & ~known
    part = problem.relations.restrict(free)
    inner = part.relations
    leader, sign = merge(inner.indptr, inner.cells, inner.coefs, inner.n_cells)
    used = np.unique(leader[leader >= 0])
    number = np.full(inner.n_cells + 1, -1, dtype=np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    carried = number[leader]
    rows = merged_rows(inner.indptr, inner.cells, inner.coefs, carried, sign, len(used))
    relations = Relations.from_arrays(len(used), *rows)
    sign = np.where(carried >= 0, sign, 0)
    down, up = _rooms(problem, part.cells, carried, sign, len(used))
    whole = np.zeros(len(used), dtype=bool)
    whole[carried[(carried >= 0) & problem.whole[part.cells]]] = True
    down = np.where(whole, np.floor(down + problem.tolerance), down)
    up = np.where(whole, np.floor(up + problem.tolerance), up)
    return Reduced(part.cells, carried, sign.astype(np.int8), relations, down, up, whole)


def _rooms(
    problem: SuppressionProblem,
    cells: NDArray[np.int32],
    leader: NDArray[np.int32],
    sign: NDArray[np.int64],
    n_movements: int,
) -> tuple[Floats, Floats]:
    down = problem.values[cells] - problem.lower_bound[cells]
    up = problem.upper_bound[cells] - problem.values[cells]
    down, up = np.where(sign > 0, down, up), np.where(sign > 0, up, down)
    room_down, room_up = np.full(n_movements, np.inf), np.full(n_movements, np.inf)
    moving = leader >= 0
    np.minimum.at(room_down, leader[moving], down[moving])
    np.minimum.at(room_up, leader[moving], up[moving])
    return room_down, room_up
