"""Shrink the attacker's system before any program: disclosed cells, cells that move together, groups.

A relation with one hidden cell fixes it; one with two lets them move only together, so they become one. Repeated to
the end this removes most of a real pattern. What is left is exact: a movement of the small system is a movement of
the table and the other way round.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.data.relations import Relations
from reticent.tables.problem import SuppressionProblem

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Reduced:
    """Hidden cells expressed by fewer movements: cell k moves by sign[k]·z[leader[k]]; leader −1 cannot move.

    `room_down` and `room_up` are how far each movement may go, from the attacker's bounds on all cells it carries.
    """

    cells: NDArray[np.int32]
    leader: NDArray[np.int32]
    sign: NDArray[np.int8]
    relations: Relations
    room_down: Floats
    room_up: Floats
    whole: bool = False

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
    matrix = part.relations.matrix()
    n = len(part.cells)
    leader, sign = np.arange(n), np.ones(n, dtype=np.int64)
    while True:
        step = _merge_step(matrix)
        if step is None:
            break
        target, flip = step
        sign = np.where(leader >= 0, sign * flip[np.maximum(leader, 0)], 0)
        leader = np.where(leader >= 0, target[np.maximum(leader, 0)], -1)
        matrix = _apply(matrix, target, flip)
    used = np.unique(leader[leader >= 0])
    number = np.full(n + 1, -1, dtype=np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    carried = number[leader]
    relations = _distinct_rows(matrix[:, used])
    down, up = _rooms(problem, part.cells, carried, sign, len(used))
    if problem.integral:
        down, up = np.floor(down + problem.tolerance), np.floor(up + problem.tolerance)
    return Reduced(part.cells, carried, sign.astype(np.int8), relations, down, up, problem.integral)


def _merge_step(matrix: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Where each movement goes (−1: fixed) and with which sign, from rows of one or two entries; None at the end."""
    n = matrix.shape[1]
    lengths = np.diff(matrix.indptr)
    singles = matrix.indices[matrix.indptr[:-1][lengths == 1]]
    firsts = matrix.indptr[:-1][lengths == 2]
    a, b = matrix.indices[firsts], matrix.indices[firsts + 1]
    ratio = -matrix.data[firsts] / matrix.data[firsts + 1]  # z_b = ratio · z_a
    joined = np.abs(ratio) == 1.0
    a, b, ratio = a[joined], b[joined], ratio[joined]
    if len(singles) == 0 and len(a) == 0:
        return None
    target, flip = np.arange(n), np.ones(n, dtype=np.int64)
    fixed = np.zeros(n, dtype=bool)
    fixed[singles] = True

    def find(item: int) -> tuple[int, int]:
        path = []
        while target[item] != item:
            path.append(item)
            item = int(target[item])
        total = 1
        for node in reversed(path):
            total *= int(flip[node])
            target[node], flip[node] = item, total
        return item, (int(flip[path[0]]) if path else 1)

    for left, right, times in zip(a.tolist(), b.tolist(), ratio.astype(np.int64).tolist(), strict=True):
        (root, sign), (other, other_sign) = find(left), find(right)
        if root == other:
            if sign * times != other_sign:
                fixed[root] = True  # z = −z: it cannot move
            continue
        # z_right = times·z_left, z_left = sign·z_root, z_right = other_sign·z_other
        target[other], flip[other] = root, other_sign * times * sign
        fixed[root] |= fixed[other]
    for item in range(n):
        find(item)
    stuck = np.zeros(n, dtype=bool)
    stuck[target[fixed]] = True
    target = np.where(stuck[target], -1, target)
    return target, flip


def _apply(matrix: sparse.csr_array, target: NDArray[np.int64], flip: NDArray[np.int64]) -> sparse.csr_array:
    n = matrix.shape[1]
    kept = np.flatnonzero(target >= 0)
    change = sparse.csr_array((flip[kept].astype(np.float64), (kept, target[kept])), shape=(n, n))
    merged = sparse.csr_array(matrix @ change)
    merged.eliminate_zeros()
    merged.sort_indices()
    return merged[np.diff(merged.indptr) > 0]


def _distinct_rows(matrix: sparse.csr_array) -> Relations:
    """Drop repeated rows (equal or opposite)."""
    matrix = sparse.csr_array(matrix)
    matrix.sort_indices()
    seen: set[tuple[bytes, bytes]] = set()
    keep = []
    for row in range(matrix.shape[0]):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        entries = matrix.data[part]
        if len(entries) == 0:
            continue
        key = (matrix.indices[part].tobytes(), (entries / entries[0]).tobytes())
        if key not in seen:
            seen.add(key)
            keep.append(row)
    chosen = matrix[np.array(keep, dtype=np.int64)]
    return Relations.from_arrays(chosen.shape[1], chosen.indptr, chosen.indices, chosen.data.astype(np.int64))


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
