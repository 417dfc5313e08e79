# SPDX-License-Identifier: Apache-2.0
"""Kernels of local suppression: covering by clusters when missing values match anything.

Covering. Violating patterns (too few records agree) have a demand each: how many more companions their records need.
Blanking the variables N in one record of pattern v makes that record agree with its whole cluster (all records equal on
the other variables), which satisfies it when the cluster has k records, and gives one companion to every other pattern
of the cluster. So it is a multicover problem: actions (v, N) at the cost of N. It is solved greedily (most companions
per cost, lazily), cleaned by making every action as cheap as the others allow, and improved by ruin and recreate.

Arrays: `cluster_of[m, v]` is the cluster of pattern v under mask m (−1: too small to satisfy anyone); `starts`, `members`
list the patterns of each cluster. State: `left[v]` records not blanked, `got[v]` companions given by actions elsewhere,
`weight[c]` records in cluster c that still need someone.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Array, Codes, Floats, Ints, Narrow, Words
from reticent.kernels.hits import set_bits

BUCKETS = 4096

Problem = tuple[Narrow, Ints, Narrow, Narrow]
"""`cluster_of`, `starts`, `members` and `demand` (companions that each pattern needs)."""
State = tuple[Narrow, Narrow, Ints]
"""`left`, `got`, `weight`: what actions change."""


@njit(cache=True)
def _shift_weight(v: int, change: int, cluster_of: Narrow, weight: Ints) -> None:
    """Add `change` to all clusters of pattern v. O(masks)."""
    for m in range(cluster_of.shape[0]):
        c = cluster_of[m, v]
        if c >= 0:
            weight[c] += change


@njit(cache=True)
def give(c: int, actor: int, sign: int, problem: Problem, state: State) -> None:
    """Every pattern of the cluster but the actor's own gains (sign 1) or loses (−1) a companion. O(cluster · masks)."""
    cluster_of, starts, members, demand = problem
    left, got, weight = state
    for at in range(starts[c], starts[c + 1]):
        w = members[at]
        if w == actor:
            continue
        before = got[w] < demand[w]
        got[w] += sign
        after = got[w] < demand[w]
        if before != after and left[w] > 0:
            _shift_weight(w, left[w] if after else -left[w], cluster_of, weight)


@njit(cache=True)
def act(v: int, m: int, sign: int, problem: Problem, state: State) -> None:
    """Do (sign 1) or undo (sign −1) the action that blanks mask m in one record of pattern v. O(cluster · masks)."""
    cluster_of, _, _, demand = problem
    left, got, weight = state
    c = cluster_of[m, v]
    if got[v] < demand[v]:
        _shift_weight(v, -sign, cluster_of, weight)
    left[v] -= sign
    give(c, v, sign, problem, state)


@njit(cache=True)
def _best_actor(c: int, problem: Problem, state: State) -> tuple[int, int]:
    """The needy pattern of a cluster for which blanking one record helps most, and how much it helps. O(cluster)."""
    _, starts, members, demand = problem
    left, got, weight = state
    actor = -1
    value = 0
    for at in range(starts[c], starts[c + 1]):
        w = members[at]
        need = demand[w] - got[w]
        if left[w] > 0 and need > 0 and (actor < 0 or weight[c] - left[w] + need > value):
            actor = w
            value = weight[c] - left[w] + need
    return actor, value


@njit(cache=True)
def _bucket(value: int, cost: float) -> int:
    """Companions per cost on a logarithmic scale (steps of half a percent)."""
    return max(0, min(BUCKETS - 1, int(2000.0 + 128.0 * np.log2(value / cost)))) if value > 0 else 0


@njit(cache=True)
def greedy_cover(
    problem: Problem,
    state: State,
    mask_of: Narrow,
    cost: Floats,
    most_need: int,
    actors: Narrow,
    masks: Narrow,
    n_actions: int,
) -> int:
    """Take the action with most companions per cost until nobody needs one or no cluster helps; lazy bucket queue.

    Appends to `actors`, `masks` from position `n_actions` on and returns the new number of actions.
    """
    _, starts, _, _ = problem
    weight = state[2]
    n_clusters = starts.size - 1
    heads = np.full(BUCKETS, -1, np.int64)
    following = np.full(n_clusters, -1, np.int64)
    for c in range(n_clusters):
        if weight[c] > 0:
            bucket = _bucket(weight[c] + most_need, cost[mask_of[c]])
            following[c] = heads[bucket]
            heads[bucket] = c
    top = BUCKETS - 1
    while top >= 0:
        c = heads[top]
        if c < 0:
            top -= 1
            continue
        heads[top] = following[c]
        if weight[c] <= 0:
            continue
        bucket = _bucket(weight[c] + most_need, cost[mask_of[c]])
        actor = -1
        if bucket >= top:
            actor, value = _best_actor(c, problem, state)
            bucket = _bucket(value, cost[mask_of[c]])
        if bucket < top:
            following[c] = heads[bucket]
            heads[bucket] = c
            continue
        actors[n_actions] = actor
        masks[n_actions] = mask_of[c]
        n_actions += 1
        act(actor, mask_of[c], 1, problem, state)
        following[c] = heads[top]
        heads[top] = c
    return n_actions


@njit(cache=True)
def _can_change(v: int, m: int, m_new: int, problem: Problem, state: State) -> bool:
    """Whether action (v, m) may become (v, m_new), or vanish (m_new < 0), with nobody left in need. O(cluster)."""
    cluster_of, starts, members, demand = problem
    left, got, _ = state
    c = cluster_of[m, v]
    if m_new < 0 and got[v] < demand[v]:
        return False
    for at in range(starts[c], starts[c + 1]):
        w = members[at]
        if w == v or left[w] == 0 or got[w] > demand[w]:
            continue
        if m_new < 0 or cluster_of[m_new, w] != cluster_of[m_new, v]:
            return False
    return True


@njit(cache=True)
def _cheaper(v: int, m: int, problem: Problem, state: State, cost: Floats, by_cost: Ints) -> int:
    """Replace action (v, m) by nothing (−1) or the cheapest mask that will do; returns what it is now."""
    best = m
    if _can_change(v, m, -1, problem, state):
        best = -1
    else:
        for other in by_cost:
            if cost[other] >= cost[m]:
                break
            if problem[0][other, v] >= 0 and _can_change(v, m, other, problem, state):
                best = other
                break
    if best != m:
        act(v, m, -1, problem, state)
        if best >= 0:
            act(v, best, 1, problem, state)
    return best


@njit(cache=True)
def cheapen(
    problem: Problem, state: State, cost: Floats, by_cost: Ints, actors: Narrow, masks: Narrow, n_actions: int
) -> int:
    """Reverse delete: drop each action, or give it a cheaper mask, where nobody loses what they need; costliest first.

    `by_cost` are the masks by rising cost. Returns the number of actions left.
    """
    for rank in range(by_cost.size - 1, -1, -1):
        m = by_cost[rank]
        for position in range(n_actions):
            if masks[position] == m:
                masks[position] = _cheaper(actors[position], m, problem, state, cost, by_cost)
    kept = 0
    for position in range(n_actions):
        if masks[position] >= 0:
            actors[kept] = actors[position]
            masks[kept] = masks[position]
            kept += 1
    return kept


@njit(cache=True)
def _draw(state: Words, n: int) -> np.int64:
    """A number in [0, n) from a xorshift generator (only the search path depends on it, never safety)."""
    word = state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    state[0] = word
    return np.int64((word >> np.uint64(11)) % np.uint64(n))


@njit(cache=True)
def _restore(saved: Array, array: Array) -> None:
    """Copy the saved values back (a loop: assigning slices costs seconds to compile)."""
    for i in range(saved.size):
        array[i] = saved[i]


@njit(cache=True)
def _total(cost: Floats, masks: Narrow, n_actions: int) -> float:
    """Cost of all actions."""
    total = 0.0
    for position in range(n_actions):
        total += cost[masks[position]]
    return total


@njit(cache=True)
def _recreate(
    needy: Ints,
    n_needy: int,
    problem: Problem,
    state: State,
    cost: Floats,
    random: Words,
    actors: Narrow,
    masks: Narrow,
    n_actions: int,
) -> int:
    """Satisfy the listed patterns again, one after another, each by the best action among its clusters."""
    cluster_of, _, _, demand = problem
    left, got, weight = state
    for position in range(n_needy):
        swap = position + _draw(random, n_needy - position)
        needy[position], needy[swap] = needy[swap], needy[position]
        w = needy[position]
        while left[w] > 0 and got[w] < demand[w]:
            best, best_ratio, best_actor = -1, -1.0, -1
            for m in range(cluster_of.shape[0]):
                c = cluster_of[m, w]
                if c < 0:
                    continue
                bound = (weight[c] - left[w] + demand[w]) / cost[m]
                if bound < best_ratio or (bound == best_ratio and _draw(random, 2)):
                    continue
                best, best_ratio, best_actor = m, (weight[c] - left[w] + demand[w] - got[w]) / cost[m], w
            if best < 0:
                return -1
            if _draw(random, 3) == 0:
                actor, _ = _best_actor(cluster_of[best, w], problem, state)
                best_actor = actor if actor >= 0 else w
            actors[n_actions] = best_actor
            masks[n_actions] = best
            n_actions += 1
            act(best_actor, best, 1, problem, state)
    return n_actions


@njit(cache=True)
def improve(
    problem: Problem,
    state: State,
    cost: Floats,
    by_cost: Ints,
    actors: Narrow,
    masks: Narrow,
    n_actions: int,
    rounds: int,
    seed: np.uint64,
) -> int:
    """Ruin and recreate: undo a few related actions, satisfy again, clean, keep when not costlier. O(rounds · local)."""
    cluster_of, _, _, demand = problem
    left, got, weight = state
    random = np.array([seed | np.uint64(1)])
    helpable = np.zeros(left.size, np.bool_)
    for m in range(cluster_of.shape[0]):
        for w in range(left.size):
            if cluster_of[m, w] >= 0:
                helpable[w] = True
    needy = np.empty(left.size, np.int64)
    for _ in range(rounds):
        if n_actions == 0:
            return 0
        saved = (left.copy(), got.copy(), weight.copy(), actors[:n_actions].copy(), masks[:n_actions].copy())
        before = _total(cost, masks, n_actions)
        centre = actors[_draw(random, n_actions)]
        ruin = 2 + _draw(random, 6)
        m = _draw(random, cluster_of.shape[0])
        near = cluster_of[m, centre]
        kept = 0
        for position in range(n_actions):
            v = actors[position]
            related = v == centre or (near >= 0 and cluster_of[m, v] == near)
            if ruin > 0 and (related or _draw(random, n_actions) < 2):
                act(v, masks[position], -1, problem, state)
                ruin -= 1
            else:
                actors[kept], masks[kept] = v, masks[position]
                kept += 1
        n_needy = 0
        for w in range(left.size):
            if left[w] > 0 and got[w] < demand[w] and helpable[w]:
                needy[n_needy] = w
                n_needy += 1
        made = _recreate(needy, n_needy, problem, state, cost, random, actors, masks, kept)
        if made >= 0:
            made = cheapen(problem, state, cost, by_cost, actors, masks, made)
        if made >= 0 and _total(cost, masks, made) <= before + 1e-9:
            n_actions = made
        else:
            _restore(saved[0], left)
            _restore(saved[1], got)
            _restore(saved[2], weight)
            _restore(saved[3], actors)
            _restore(saved[4], masks)
    return n_actions


@njit(cache=True)
def _agrees(a: Codes, b: Codes) -> bool:
    """Whether two rows are compatible, −1 matching anything. O(q)."""
    for v in range(a.size):  # noqa: SIM110
        if a[v] != b[v] and a[v] >= 0 and b[v] >= 0:
            return False
    return True


@njit(cache=True)
def _exchange(codes: Codes, found: Ints, i: int, row: Codes) -> None:
    """Publish `row` for record i and bring everybody's number of companions up to date. O(n · q)."""
    for j in range(codes.shape[0]):
        if j == i:
            continue
        change = int(_agrees(row, codes[j])) - int(_agrees(codes[i], codes[j]))
        found[j] += change
        found[i] += change
    for v in range(row.size):
        codes[i, v] = row[v]


@njit(cache=True)
def _can_exchange(codes: Codes, found: Ints, i: int, row: Codes, k: int) -> bool:
    """Whether publishing `row` for record i leaves everybody with k companions. O(n · q)."""
    own = 1
    for j in range(codes.shape[0]):
        if j == i:
            continue
        after = _agrees(row, codes[j])
        own += after
        if not after and found[j] <= k and _agrees(codes[i], codes[j]):
            return False
    return own >= k


@njit(cache=True)
def _blanked(row: Codes, mask: int) -> Codes:
    """A copy of the row with the variables of the mask missing."""
    out = row.copy()
    for v in range(out.size):
        if mask >> v & 1:
            out[v] = -1
    return out


@njit(cache=True)
def rescue(codes: Codes, truth: Codes, found: Ints, k: int, masks: Ints, needy: Ints, spent: Ints, cap: int) -> int:
    """Give each needy record the first mask (by rising cost) under which it has k companions among what is published.

    Updates `codes` and `found`; returns how many stay in need. O(needy · masks · n · q).
    """
    failed = 0
    for i in needy:
        if found[i] >= k:
            continue
        done = False
        for mask in masks:
            if spent[i] + set_bits(mask) > cap:
                continue
            row = _blanked(truth[i], mask)
            count = 1
            for j in range(codes.shape[0]):
                count += j != i and _agrees(row, codes[j])
            if count >= k:
                _exchange(codes, found, i, row)
                done = True
                break
        failed += not done
    return failed


@njit(cache=True)
def trim(codes: Codes, truth: Codes, found: Ints, k: int, masks: Ints, touched: Ints) -> None:
    """Reverse delete on the true counts: give each touched record the cheapest mask that leaves everybody with k.

    `masks` are by rising cost and begin with 0 (nothing blanked). Only masks inside the record's own are tried, so that
    nothing new is blanked. O(touched · masks · n · q).
    """
    for i in touched:
        own = 0
        for v in range(codes.shape[1]):
            if codes[i, v] < 0 and truth[i, v] >= 0:
                own |= 1 << v
        for mask in masks:
            if mask == own:
                break
            if mask & own != mask:
                continue
            row = _blanked(truth[i], mask)
            if _can_exchange(codes, found, i, row, k):
                _exchange(codes, found, i, row)
                break
