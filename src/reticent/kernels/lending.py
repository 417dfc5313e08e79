# SPDX-License-Identifier: Apache-2.0
"""Kernels for the person-to-file attacker: blank records so that every true record fits k published ones.

Blanking the variables N in a record makes it fit all true records that agree with it outside N (its cluster), but does
nothing for itself: it fits its own truth anyway. So records lend themselves to needy ones. The arrays are those of
`kernels.suppression`; `outside[c]` counts records of cluster c whose own pattern needs nobody.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Codes, Floats, Ints, Narrow
from reticent.kernels.suppression import BUCKETS, Problem, State, _bucket, give


@njit(cache=True)
def _lender(c: int, outside: Ints, lent: Narrow, problem: Problem, state: State) -> tuple[int, int]:
    """Who lends in cluster c (−1: a record from outside, −2: nobody), and how many records it serves. O(cluster)."""
    _, starts, members, demand = problem
    left, got, weight = state
    if outside[c] > 0:
        return -1, weight[c]
    actor = -2
    value = 0
    for at in range(starts[c], starts[c + 1]):
        v = members[at]
        serves = weight[c] - (left[v] if got[v] < demand[v] else 0)
        if lent[v] < left[v] and serves > value:
            actor, value = v, serves
    return actor, value


@njit(cache=True)
def greedy_lend(
    problem: Problem,
    state: State,
    mask_of: Narrow,
    cost: Floats,
    outside: Ints,
    lent: Narrow,
    actors: Narrow,
    clusters: Ints,
) -> int:
    """Lend where most needy records are served per cost until nobody needs one or nothing helps; lazy bucket queue."""
    _, starts, _, _ = problem
    weight = state[2]
    heads = np.full(BUCKETS, -1, np.int64)
    following = np.full(starts.size - 1, -1, np.int64)
    for c in range(starts.size - 1):
        if weight[c] > 0:
            bucket = _bucket(weight[c], cost[mask_of[c]])
            following[c] = heads[bucket]
            heads[bucket] = c
    # Lazy greedy (Minoux 1978): what a cluster serves only falls, so a value that was right once is an upper bound, and
    # only the top of the queue is worked out again. Greedy multicover: Dobson (1982).
    top = BUCKETS - 1
    n_actions = 0
    while top >= 0 and n_actions < actors.size:
        c = heads[top]
        if c < 0:
            top -= 1
            continue
        heads[top] = following[c]
        actor, value = _lender(c, outside, lent, problem, state)
        if weight[c] <= 0 or value <= 0:
            continue
        bucket = _bucket(value, cost[mask_of[c]])
        if bucket >= top:
            if actor >= 0:
                lent[actor] += 1
            else:
                outside[c] -= 1
            actors[n_actions] = actor
            clusters[n_actions] = c
            n_actions += 1
            give(c, actor, 1, problem, state)
            bucket = top
        following[c] = heads[bucket]
        heads[bucket] = c
    return n_actions


@njit(cache=True)
def take_back(problem: Problem, state: State, by_cost: Ints, actors: Narrow, clusters: Ints, n_actions: int) -> int:
    """Reverse delete: undo what nobody needs in the order `by_cost` of actions; returns the number of actions left."""
    _, starts, members, demand = problem
    got = state[1]
    # greedy takes steps that later ones make needless; dropping the costliest first keeps a minimal cover
    for position in by_cost:
        c, actor = clusters[position], actors[position]
        needed = False
        for at in range(starts[c], starts[c + 1]):
            w = members[at]
            if w != actor and got[w] <= demand[w]:
                needed = True
                break
        if not needed:
            give(c, actor, -1, problem, state)
            clusters[position] = -1
    kept = 0
    for position in range(n_actions):
        if clusters[position] >= 0:
            actors[kept], clusters[kept] = actors[position], clusters[position]
            kept += 1
    return kept


@njit(cache=True)
def lend_last(
    published: Codes, truth: Codes, found: Ints, need: Ints, costs: Floats, frozen: int, cap: int, spent: Ints
) -> int:
    """For each record still in need, blank the records that cost least until it fits need[i]; returns how many fail.

    O(needy · need · n · q): only what the clusters could not settle comes here.
    """
    n, q = truth.shape
    failed = 0
    for i in range(n):
        while found[i] < need[i]:
            best, best_cost = -1, np.inf
            for j in range(n):
                price, blanks = 0.0, 0
                for v in range(q):
                    if published[j, v] >= 0 and published[j, v] != truth[i, v]:
                        price += np.inf if frozen >> v & 1 else costs[v]
                        blanks += 1
                if blanks and price < best_cost and (cap < 0 or spent[j] + blanks <= cap):
                    best, best_cost = j, price
            if best < 0:
                failed += 1
                break
            old = published[best].copy()
            for v in range(q):
                if published[best, v] != truth[i, v] and published[best, v] >= 0:
                    published[best, v] = -1
                    spent[best] += 1
            for j in range(n):
                if _fits(truth[j], published[best]) and not _fits(truth[j], old):
                    found[j] += 1
    return failed


@njit(cache=True)
def _fits(true: Codes, shown: Codes) -> bool:
    """Whether a published row fits a true one: equal wherever it is not missing."""
    for v in range(true.size):  # noqa: SIM110
        if shown[v] >= 0 and shown[v] != true[v]:
            return False
    return True


@njit(cache=True)
def trim_lent(published: Codes, truth: Codes, found: Ints, need: Ints, given_up: Ints, floor: Ints) -> None:
    """Reverse delete on exact counts: show values again where every true record still fits need[j]. O(blanks · n · q).

    `given_up` are the records to look at; variables in `floor[i]` stay blank.
    """
    n, q = truth.shape
    for i in given_up:
        for v in range(q):
            if published[i, v] >= 0 or truth[i, v] < 0 or floor[i] >> v & 1:
                continue
            shown = published[i].copy()
            shown[v] = truth[i, v]
            free = True
            for j in range(n):
                if found[j] <= need[j] and _fits(truth[j], published[i]) and not _fits(truth[j], shown):
                    free = False
                    break
            if free:
                for j in range(n):
                    if _fits(truth[j], published[i]) and not _fits(truth[j], shown):
                        found[j] -= 1
                published[i, v] = truth[i, v]
