# SPDX-License-Identifier: Apache-2.0
"""Annealing of a partition: records shift and swap between neighbouring groups, groups dissolve and new ones form.

The cost is the within-groups sum of squares; every change is priced in O(d) from the groups' running sums. All sizes
stay in k … 2k − 1 at every step. The walk is a function of the start, two random words and the number of proposals:
the clock and the number of threads have no part in it.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Words
from reticent.kernels.walking import accept, below, next_word

COUNT_MOVE_EVERY = 64
"""One proposal in this many tries to change the number of groups."""


class Groups(NamedTuple):
    """A partition that is changed in place.

    The group of each record and its place there, the members of each group, their number and their sum; and a stack of
    unused group numbers: its height first, the lowest number on top.
    """

    labels: Ints
    place: Ints
    members: Ints
    sizes: Ints
    sums: Floats
    free: Ints


@njit(cache=True, nogil=True, inline="always")
def _to_mean(x: Floats, i: int, sums: Floats, g: int, size: int) -> float:
    """Squared distance of record i to the mean of group g."""
    total = 0.0
    share = 1.0 / size
    for c in range(x.shape[1]):
        diff = x[i, c] - sums[g, c] * share
        total += diff * diff
    return total


@njit(cache=True, nogil=True)
def _leave(x: Floats, i: int, labels: Ints, place: Ints, members: Ints, sizes: Ints, sums: Floats) -> None:
    """Take record i out of its group."""
    g = labels[i]
    sizes[g] -= 1
    last = members[g, sizes[g]]
    members[g, place[i]] = last
    place[last] = place[i]
    for c in range(x.shape[1]):
        sums[g, c] -= x[i, c]


@njit(cache=True, nogil=True)
def _enter(x: Floats, i: int, g: int, labels: Ints, place: Ints, members: Ints, sizes: Ints, sums: Floats) -> None:
    """Put record i into group g."""
    labels[i] = g
    place[i] = sizes[g]
    members[g, sizes[g]] = i
    sizes[g] += 1
    for c in range(x.shape[1]):
        sums[g, c] += x[i, c]


@njit(cache=True, nogil=True)
def group_state(x: Floats, labels: Ints, k: int) -> Groups:
    """The groups of a partition (which is not copied), with room for n // k groups of 2k − 1; O(n·d)."""
    n, d = x.shape
    room = n // k
    members = np.full((room, 2 * k - 1), -1, np.int64)
    sizes = np.zeros(room, np.int64)
    sums = np.zeros((room, d))
    place = np.zeros(n, np.int64)
    for i in range(n):
        _enter(x, i, labels[i], labels, place, members, sizes, sums)
    free = np.zeros(room + 1, np.int64)
    for g in range(room - 1, -1, -1):
        if sizes[g] == 0:
            free[0] += 1
            free[free[0]] = g
    return Groups(labels, place, members, sizes, sums, free)


@njit(cache=True, nogil=True)
def within_squares(x: Floats, labels: Ints, groups: int) -> float:
    """Sum of squared distances of the records to their group's mean, computed afresh (two passes); O(n·d)."""
    n, d = x.shape
    sums = np.zeros((groups, d))
    sizes = np.zeros(groups)
    for i in range(n):
        sizes[labels[i]] += 1.0
        for c in range(d):
            sums[labels[i], c] += x[i, c]
    total = 0.0
    for i in range(n):
        g = labels[i]
        for c in range(d):
            diff = x[i, c] - sums[g, c] / sizes[g]
            total += diff * diff
    return total


@njit(cache=True, nogil=True)
def _swap_change(x: Floats, i: int, j: int, a: int, b: int, na: int, nb: int, sums: Floats) -> float:
    """Change of the cost when i (in a) and j (in b) exchange their groups."""
    share_a, share_b = 1.0 / na, 1.0 / nb
    linear, square = 0.0, 0.0
    for c in range(x.shape[1]):
        step = x[j, c] - x[i, c]
        linear += step * (sums[b, c] * share_b - sums[a, c] * share_a)
        square += step * step
    return 2.0 * linear - square * (share_a + share_b)


@njit(cache=True, nogil=True)
def _dissolve(x: Floats, near: Ints, k: int, a: int, heat: float, words: Words, groups: Groups) -> float:
    """Try to spread the members of group a over their neighbours' groups; returns the change made."""
    labels, place, members, sizes, sums, free = groups
    count = sizes[a]
    moved = members[a, :count].copy()
    change = 0.0
    placed = 0
    for at in range(count):
        i = moved[at]
        best, target = np.inf, -1
        for c in range(near.shape[1]):
            b = labels[near[i, c]]
            if b == a or sizes[b] >= 2 * k - 1:
                continue
            cost = sizes[b] / (sizes[b] + 1.0) * _to_mean(x, i, sums, b, sizes[b])
            if cost < best:
                best, target = cost, b
        if target < 0:
            break
        left = sizes[a]
        if left > 1:
            change -= left / (left - 1.0) * _to_mean(x, i, sums, a, left)
        change += best
        _leave(x, i, labels, place, members, sizes, sums)
        _enter(x, i, target, labels, place, members, sizes, sums)
        placed += 1
    if placed == count and accept(change, heat, words):
        sums[a, :] = 0.0
        free[0] += 1
        free[free[0]] = a
        return change
    for at in range(placed - 1, -1, -1):
        _leave(x, moved[at], labels, place, members, sizes, sums)
        _enter(x, moved[at], a, labels, place, members, sizes, sums)
    return 0.0


@njit(cache=True, nogil=True)
def _found(x: Floats, near: Ints, k: int, i: int, heat: float, words: Words, groups: Groups) -> float:
    """Try to form a new group around record i from records that their groups can spare; returns the change made."""
    labels, place, members, sizes, sums, free = groups
    if free[0] == 0 or sizes[labels[i]] <= k:
        return 0.0
    g = free[free[0]]
    origin = np.empty(k, np.int64)
    joined = np.empty(k, np.int64)
    change = 0.0
    count = 0
    for c in range(-1, near.shape[1]):
        j = i if c < 0 else near[i, c]
        b = labels[j]
        if b == g or sizes[b] <= k:
            continue
        change -= sizes[b] / (sizes[b] - 1.0) * _to_mean(x, j, sums, b, sizes[b])
        if count > 0:
            change += count / (count + 1.0) * _to_mean(x, j, sums, g, count)
        origin[count], joined[count] = b, j
        _leave(x, j, labels, place, members, sizes, sums)
        _enter(x, j, g, labels, place, members, sizes, sums)
        count += 1
        if count == k:
            break
    if count == k and accept(change, heat, words):
        free[0] -= 1
        return change
    for at in range(count - 1, -1, -1):
        _leave(x, joined[at], labels, place, members, sizes, sums)
        _enter(x, joined[at], origin[at], labels, place, members, sizes, sums)
    sums[g, :] = 0.0
    return 0.0


@njit(cache=True, nogil=True)
def anneal(
    x: Floats, near: Ints, k: int, groups: Groups, words: Words, proposals: int, heat: float, cooling: float
) -> float:
    """Make `proposals` proposals, each at `cooling` times the heat of the one before; returns the change of the cost.

    A proposal takes a record i and one of its near records; i shifts to that record's group if both sizes allow it,
    else (and half the time) it changes places with a random member of that group. Everything is changed in place.
    O(d) each.
    """
    labels, place, members, sizes, sums, _ = groups
    n, width = near.shape
    total = 0.0
    for step in range(proposals):
        heat *= cooling
        i = below(words, n)
        a = labels[i]
        if step % COUNT_MOVE_EVERY == 0:
            if next_word(words) >> np.uint64(63):
                total += _dissolve(x, near, k, a, heat, words, groups)
            else:
                total += _found(x, near, k, i, heat, words, groups)
            continue
        b = labels[near[i, below(words, width)]]
        if a == b:
            continue
        na, nb = sizes[a], sizes[b]
        if na > k and nb < 2 * k - 1 and next_word(words) >> np.uint64(63):
            change = nb / (nb + 1.0) * _to_mean(x, i, sums, b, nb) - na / (na - 1.0) * _to_mean(x, i, sums, a, na)
            if accept(change, heat, words):
                _leave(x, i, labels, place, members, sizes, sums)
                _enter(x, i, b, labels, place, members, sizes, sums)
                total += change
            continue
        j = members[b, below(words, nb)]
        change = _swap_change(x, i, j, a, b, na, nb, sums)
        if accept(change, heat, words):
            members[a, place[i]], members[b, place[j]] = j, i
            place[i], place[j] = place[j], place[i]
            labels[i], labels[j] = b, a
            for c in range(x.shape[1]):
                step_c = x[j, c] - x[i, c]
                sums[a, c] += step_c
                sums[b, c] -= step_c
            total += change
    return total
