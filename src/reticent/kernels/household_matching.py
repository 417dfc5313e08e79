# SPDX-License-Identifier: Apache-2.0
"""Which published households can be a given one: every member's true keys fit a different published member.

Members are compared by codes through tables of what is shown for each true value, and by moved numbers within the own
distance; whether all members find a partner is a bipartite matching (augmenting paths; households are small).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from reticent.base.arrays import Codes, Floats, Ints, Mask


class People(NamedTuple):
    """Who lives where, and what is true and shown of each.

    The members of household h are `members[starts[h]:starts[h + 1]]`. Published codes `shown` at a `detail` are compared
    by `table`[variable, detail, true code]; numbers that were moved lie within `radii`.
    """

    starts: Ints
    members: Ints
    true: Codes
    shown: Codes
    detail: Codes
    table: Codes
    near_true: Floats
    near_shown: Floats
    radii: Floats


@njit(cache=True, nogil=True, inline="always")
def _fits(i: int, j: int, people: People) -> bool:
    """Whether published record j fits the true keys of the person of record i; O(keys)."""
    true, shown, detail, table = people.true, people.shown, people.detail, people.table
    near_true, near_shown = people.near_true, people.near_shown
    for v in range(true.shape[1]):
        code = shown[j, v]
        if code >= 0 and table[v, detail[j, v], true[i, v]] != code:
            return False
    total = 0.0
    for v in range(near_true.shape[1]):
        gap = near_true[i, v] - near_shown[j, v]
        if gap == gap:
            total += gap * gap
    near: bool = total <= people.radii[i] * (1.0 + 1e-9)
    return near


@njit(cache=True, nogil=True)
def _augment(i: int, allowed: Mask, used: Mask, partner: Ints) -> bool:
    """Find a partner for member i, moving others if need be (Kuhn)."""
    for j in range(allowed.shape[0]):
        if allowed[i, j] and not used[j]:
            used[j] = True
            if partner[j] < 0:
                partner[j] = i
                return True
            if _augment(partner[j], allowed, used, partner):
                partner[j] = i
                return True
    return False


@njit(cache=True, nogil=True)
def _matches(h: int, g: int, people: People) -> bool:
    """Whether published household g can be household h; both have the same size. O(size² · keys + size³)."""
    members = people.members
    a, b = people.starts[h], people.starts[g]
    size = people.starts[h + 1] - a
    allowed = np.zeros((size, size), dtype=np.bool_)
    for i in range(size):
        some = False
        for j in range(size):
            fits = _fits(members[a + i], members[b + j], people)
            allowed[i, j] = fits
            some = some or fits
        if not some:
            return False
    partner = np.full(size, -1, dtype=np.int64)
    found = 0
    for i in range(size):
        found += _augment(i, allowed, np.zeros(size, dtype=np.bool_), partner)
    complete: bool = found == size
    return complete


@njit(cache=True, nogil=True)
def count_households(
    asking: Ints,
    first: Ints,
    last: Ints,
    listed: Ints,
    weights: Floats,
    people: People,
    budget: int,
) -> tuple[Ints, Floats, int]:
    """For each asking household the listed ones (positions first to last) that can be it, and the sum of their weights.

    After `budget` comparisons the rest is left at 0; returns how many askers were answered.
    """
    counts = np.zeros(asking.size, dtype=np.int64)
    sums = np.zeros(asking.size)
    spent = 0
    for at in range(asking.size):
        spent += last[at] - first[at]
        if spent > budget:
            return counts, sums, at
        h = asking[at]
        for place in range(first[at], last[at]):
            g = listed[place]
            if _matches(h, g, people):
                counts[at] += 1
                sums[at] += weights[g]
    return counts, sums, asking.size


@njit(cache=True, nogil=True)
def own_households(people: People) -> Mask:
    """Whether the published form of each household can be the household itself."""
    out = np.zeros(people.starts.size - 1, dtype=np.bool_)
    for h in range(out.size):
        out[h] = _matches(h, h, people)
    return out
