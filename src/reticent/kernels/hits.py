# SPDX-License-Identifier: Apache-2.0
"""Kernels of local suppression: the cheapest set of variables that hits every minimal unique of a record."""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints


@njit(cache=True)
def _first_hit(begin: int, end: int, sets: Ints, already: int, candidates: Ints) -> int:
    """Position of the first candidate that, with `already`, meets sets[begin:end]; −1 if none does."""
    for c in range(candidates.size):
        blanked = candidates[c] | already
        hits = True
        for at in range(begin, end):
            if sets[at] & blanked == 0:
                hits = False
                break
        if hits:
            return c
    return -1


@njit(cache=True)
def cheapest_hits(bounds: Ints, sets: Ints, candidates: Ints, out: Ints) -> None:
    """For each pattern the first candidate (masks by rising cost) that meets all its sets, or −1.

    `bounds` delimits each pattern's stretch of `sets`. O(patterns · candidates tried · sets).
    """
    for i in range(bounds.size - 1):
        c = _first_hit(bounds[i], bounds[i + 1], sets, 0, candidates)
        out[i] = candidates[c] if c >= 0 else -1


@njit(cache=True)
def count_ties(bounds: Ints, sets: Ints, candidates: Ints, rank: Ints, out: Ints) -> None:
    """For each pattern, how many candidates of the least cost meet all its sets; `rank` numbers equal costs alike."""
    for i in range(bounds.size - 1):
        begin, end = bounds[i], bounds[i + 1]
        first = _first_hit(begin, end, sets, 0, candidates)
        out[i] = 0
        if first < 0:
            continue
        c = first
        while c < candidates.size and rank[c] == rank[first]:
            out[i] += _first_hit(begin, end, sets, 0, candidates[c : c + 1]) == 0
            c += 1


@njit(cache=True)
def drawn_hits(bounds: Ints, sets: Ints, candidates: Ints, group: Ints, ties: Ints, chance: Floats, out: Ints) -> None:
    """For each record one of the cheapest candidates of its pattern, each as likely; −1 where there is none."""
    for i in range(group.size):
        pattern = group[i]
        begin, end = bounds[pattern], bounds[pattern + 1]
        c = _first_hit(begin, end, sets, 0, candidates)
        out[i] = candidates[c] if c >= 0 else -1
        if ties[pattern] > 1:
            skip = min(int(chance[i] * ties[pattern]), ties[pattern] - 1)
            while skip > 0:
                c += 1 + _first_hit(begin, end, sets, 0, candidates[c + 1 :])
                skip -= 1
            out[i] = candidates[c]


@njit(cache=True)
def set_bits(mask: int) -> int:
    """Number of variables in a mask."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@njit(cache=True)
def household_hits(
    edges: Ints,
    order: Ints,
    group: Ints,
    bounds: Ints,
    sets: Ints,
    common: Ints,
    common_cost: Floats,
    own: Ints,
    own_cost: Floats,
    cap: int,
    out: Ints,
) -> None:
    """Per household the cheapest set of shared blanks, with each member's cheapest own ones; −1 where there is none.

    `edges` delimits the members in `order`; `common` and `own` are the masks of shared and of other variables by rising
    cost. O(households · shared sets · members · own sets).
    """
    for h in range(edges.size - 1):
        begin, end = edges[h], edges[h + 1]
        size = end - begin
        trial = np.empty(size, np.int64)
        best_cost = np.inf
        for s in range(common.size):
            cost = common_cost[s] * size
            if cost >= best_cost:
                break
            for member in range(size):
                pattern = group[order[begin + member]]
                c = _first_hit(bounds[pattern], bounds[pattern + 1], sets, common[s], own)
                if c < 0 or (cap >= 0 and set_bits(own[c] | common[s]) > cap):
                    cost = np.inf
                    break
                trial[member] = own[c] | common[s]
                cost += own_cost[c]
            if cost < best_cost:
                best_cost = cost
                for member in range(size):
                    out[order[begin + member]] = trial[member]
        if best_cost == np.inf:
            for member in range(size):
                out[order[begin + member]] = -1
