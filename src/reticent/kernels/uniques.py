# SPDX-License-Identifier: Apache-2.0
"""Minimal rare sets: for every pattern, the smallest sets of variables on which too few records agree with it.

A set R of variables is rare for a pattern when the number f_R of records that agree with it on R is below a limit; it
is minimal when no proper subset of R is rare. With limit 2 these are the minimal sample uniques of SUDA (Elliot,
Manning and Ford 2002; Manning, Haglin and Keane 2008); with limits of their own per combination they are exactly what
local suppression has to hit.

Subsets are visited depth first so that all subsets of S come before S; the child of a partition adds a variable with
a lower number. A cell is dropped when it is rare, when it contains a smaller rare set, or when it never can be rare.
Patterns of one cell agree on S, so a cell is dropped or kept whole, and one member answers for all.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Array, Codes, Ints, Narrow, Words
from reticent.kernels.grouping import Integers

FLAG_VARIABLES = 12
"""Up to this many variables, one bit for each subset and pattern says "contains a rare set"; beyond, lists are searched."""
MAX_VARIABLES = 62


@njit(cache=True)
def _contains_rare(
    row: int, subset: int, variables: Ints, size: int, flags: Words, head: Ints, following: Ints, masks: Ints
) -> bool:
    """Whether a rare set of the pattern lies inside `subset`; `variables` are those of its parent. O(size) or O(list)."""
    if flags.shape[1]:
        for v in range(size):
            smaller = subset ^ (1 << variables[v])
            if flags[row, smaller >> 6] >> np.uint64(smaller & 63) & np.uint64(1):
                return True
        return False
    at = head[row]
    while at >= 0:
        if masks[at] & subset == masks[at]:
            return True
        at = following[at]
    return False


@njit(cache=True)
def _split(
    parent: tuple[Narrow, Narrow, int], column: Codes, counts: Ints, subset: int, below: tuple[Ints, int],
    limits: tuple[int, int], rare: tuple[Words, Ints, Ints], out: tuple[Ints, Narrow, Narrow], used: int,
    child: tuple[Narrow, Narrow], scratch: tuple[Ints, Ints, Ints, Ints, Ints],
) -> tuple[int, int]:  # fmt: skip
    """Split the parent's cells by one variable; book rare cells, keep the others. O(active patterns · size).

    `parent` and `child` are partitions: order and starts (and the number of cells). `below` are the variables of the
    parent's subset and how many; `limits` below which a cell is rare and from which on it never will be.
    """
    order, starts, n_cells = parent
    new_order, new_starts = child
    variables, size = below
    limit, never = limits
    flags, head, following = rare
    masks, rows, frequencies = out
    members, totals, place, touched, first = scratch
    position = 0
    made = 0
    word = subset >> 6
    bit = np.uint64(1) << np.uint64(subset & 63)
    for cell in range(n_cells):
        n_touched = 0
        for at in range(starts[cell], starts[cell + 1]):
            code = column[order[at]]
            if code < 0:
                continue
            if members[code] == 0:
                touched[n_touched] = code
                first[code] = order[at]
                n_touched += 1
            members[code] += 1
            totals[code] += counts[order[at]]
        for t in range(n_touched):
            code = touched[t]
            if _contains_rare(first[code], subset, variables, size, flags, head, following, masks):
                place[code] = -1
            elif totals[code] < limit:
                place[code] = -2
            elif members[code] == 1 and totals[code] >= never:
                place[code] = -3
            else:
                place[code] = position
                new_starts[made] = position
                made += 1
                position += members[code]
            members[code] = 0
        for at in range(starts[cell], starts[cell + 1]):
            row = order[at]
            code = column[row]
            if code < 0 or place[code] == -3:
                continue
            if place[code] >= 0:
                new_order[place[code]] = row
                place[code] += 1
                continue
            if flags.shape[1]:
                flags[row, word] |= bit
            if place[code] == -2:
                masks[used] = subset
                rows[used] = row
                frequencies[used] = totals[code]
                if not flags.shape[1]:
                    following[used] = head[row]
                    head[row] = used
                used += 1
        for t in range(n_touched):
            totals[touched[t]] = 0
    new_starts[made] = position
    return made, used


@njit(cache=True)
def _grown(array: Array, used: int, room: int) -> Array:
    """The array, or a copy twice as long when fewer than `room` entries are free."""
    if array.size >= used + room:
        return array
    larger = np.empty(2 * array.size + room, array.dtype)
    for i in range(used):
        larger[i] = array[i]
    return larger


@njit(cache=True)
def _search(
    codes: Codes, counts: Ints, by_mask: Ints, by_size: Ints, never: int, n_words: int
) -> tuple[Narrow, Ints, Narrow]:
    """Depth-first walk over all subsets with a positive limit; `codes` is variables × patterns."""
    q, n = codes.shape
    depth_max = min(q, by_size.size - 1)
    cardinality = 1
    for v in range(q):
        for i in range(n):
            cardinality = max(cardinality, codes[v, i] + 1)
    order = np.empty((depth_max + 1, n), np.int32)
    starts = np.empty((depth_max + 1, n + 1), np.int32)
    n_cells = np.zeros(depth_max + 1, np.int64)
    for i in range(n):
        order[0, i] = i
    starts[0, 0], starts[0, 1], n_cells[0] = 0, n, 1
    flags = np.zeros((n, n_words), np.uint64)
    head = np.full(n if n_words == 0 else 0, -1, np.int64)
    capacity = 2 * n + 16
    masks, rows, found = np.empty(capacity, np.int64), np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    following = np.empty(capacity if n_words == 0 else 0, np.int64)
    scratch = (
        np.zeros(cardinality, np.int64), np.zeros(cardinality, np.int64), np.empty(cardinality, np.int64),
        np.empty(cardinality, np.int64), np.empty(cardinality, np.int64),
    )  # fmt: skip
    variables = np.empty(depth_max + 1, np.int64)
    upcoming = np.zeros(depth_max + 1, np.int64)
    depth, subset, used = 0, 0, 0
    while depth >= 0:
        v = upcoming[depth]
        if v >= (variables[depth - 1] if depth else q) or depth == depth_max or n_cells[depth] == 0:
            depth -= 1
            if depth >= 0:
                subset ^= 1 << variables[depth]
            continue
        upcoming[depth] += 1
        child = subset | (1 << v)
        limit = by_mask[child] if by_mask.size else by_size[depth + 1]
        if limit == 0:
            continue
        room = starts[depth, n_cells[depth]]
        masks, rows, found = _grown(masks, used, room), _grown(rows, used, room), _grown(found, used, room)
        if n_words == 0:
            following = _grown(following, used, room)
        n_cells[depth + 1], used = _split(
            (order[depth], starts[depth], n_cells[depth]), codes[v], counts, child, (variables, depth), (limit, never),
            (flags, head, following), (masks, rows, found), used, (order[depth + 1], starts[depth + 1]), scratch,
        )  # fmt: skip
        variables[depth] = v
        subset = child
        depth += 1
        upcoming[depth] = 0
    return rows[:used], masks[:used], found[:used]


def minimal_rare_sets(
    codes: Integers,
    counts: NDArray[np.int64],
    *,
    limit: int = 2,
    max_size: int | None = None,
    by_mask: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Every (pattern, set of variables as a bit mask, f) that is minimal rare.

    `codes` are patterns × variables; a value −1 takes part in no set (shift the codes by one to make "missing" a code).
    A set R is rare when f_R < `limit`, or < `by_mask[R]` where given; limits must not grow from a set to a larger one,
    and 0 ends the search. Cost: one pass over the still active patterns for each visited subset.
    """
    n, q = codes.shape
    if q > MAX_VARIABLES:
        raise ValueError(f"minimal rare sets: at most {MAX_VARIABLES} variables, got {q}.")
    size = q if max_size is None else min(max_size, q)
    by_size = np.full(size + 1, limit, np.int64)
    table = np.zeros(0, np.int64) if by_mask is None else by_mask
    if n == 0 or q == 0:
        return np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int32)
    never = int(table.max()) if by_mask is not None else limit
    n_words = max(1, (1 << q) >> 6) if q <= FLAG_VARIABLES else 0
    # few categories at the low numbers: the walk then splits by them last, when few patterns are left
    turn = np.argsort([int(codes[:, v].max()) for v in range(q)], kind="stable")
    if by_mask is not None:
        table = by_mask[_permuted(np.arange(1 << q), turn)]
    rows, masks, found = _search(
        np.ascontiguousarray(codes[:, turn].T.astype(np.int32)), counts.astype(np.int64), table, by_size, never, n_words
    )
    return rows, _permuted(masks, turn), found


def _permuted(masks: NDArray[np.int64], turn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bit v of a mask moved to place turn[v]."""
    out = np.zeros_like(masks)
    for v, target in enumerate(turn.tolist()):
        out |= (masks >> v & 1) << target
    return out
