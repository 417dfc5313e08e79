# SPDX-License-Identifier: Apache-2.0
"""Who exchanges values with whom: partners within a rank window, pairs that differ, donors in other areas."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.kernels.draws import record_uniform

Ids = NDArray[np.uint64]

# Random tries before the nearest free rank is taken; they keep the choice close to uniform.
_TRIES = 4
# The draw that `rank_partners` leaves to its caller for the order of equal values.
TIE_DRAW = _TRIES
# The draw by which the one who is left without a partner finds two others to make a ring with.
_RING_DRAW = _TRIES + 1
# The draw by which the caller decides whether the smallest or largest value stays.
STAY_DRAW = _TRIES + 2


@njit(cache=True)
def _next_free(following: Ints, start: int) -> int:
    """The smallest free position from `start` on (`following` is a union-find forest); nearly O(1)."""
    root = start
    while following[root] != root:
        root = following[root]
    while following[start] != root:
        following[start], start = root, following[start]
    return root


@njit(cache=True)
def rank_partners(word0: np.uint64, word1: np.uint64, ids: Ids, window: int) -> Ints:
    """For values in sorted order, the rank whose value each gets: at most `window` away, itself if that cannot be.

    `ids` are the record ids in sorted order. From the lowest rank up, each free rank draws a free partner among the
    `window` next ones. Of an odd number one is left, near the top: it makes a ring with a drawn pair. O(n).
    """
    n = ids.shape[0]
    partner = np.full(n, -1, dtype=np.int64)
    following = np.arange(n + 1)
    for rank in range(n):
        if partner[rank] >= 0:
            continue
        following[rank] = rank + 1
        last = min(n - 1, rank + window)
        width = last - rank
        partner[rank] = rank
        if width == 0:
            continue
        choice = -1
        for attempt in range(_TRIES):
            candidate = rank + 1 + int(record_uniform(word0, word1, ids[rank], np.uint64(attempt)) * width)
            if partner[candidate] < 0:
                choice = candidate
                break
        if choice < 0:
            choice = _next_free(following, candidate)
            if choice > last:
                choice = _next_free(following, rank + 1)
        if choice <= last:
            partner[rank], partner[choice] = choice, rank
            following[choice] = choice + 1
    if window > 1 and n % 2 == 1:
        _close_ring(word0, word1, ids, window, partner)
    return partner


@njit(cache=True)
def _close_ring(word0: np.uint64, word1: np.uint64, ids: Ids, window: int, partner: Ints) -> None:
    """Let the rank without a partner take part in an exchange of two that both are within the window; O(window)."""
    n = ids.shape[0]
    alone = n - 1
    while alone > 0 and partner[alone] != alone:
        alone -= 1
    if partner[alone] != alone:
        return
    low, high = max(0, alone - window), min(n - 1, alone + window)
    pairs = 0
    for rank in range(low, high + 1):
        pairs += rank != alone and low <= partner[rank] <= high
    if pairs == 0:
        return
    # each pair counts from both ends, which also draws the direction of the ring
    left = int(record_uniform(word0, word1, ids[alone], np.uint64(_RING_DRAW)) * pairs)
    for rank in range(low, high + 1):
        if rank != alone and low <= partner[rank] <= high:
            if left == 0:
                partner[alone] = partner[rank]
                partner[rank] = alone
                return
            left -= 1


@njit(cache=True)
def pair_up(targets: Ints, limit: int, pool: Ints, bounds: Ints, group: Ints, value: Ints, reach: int) -> Ints:
    """Pair targets, in their order, with free records of the same group that have another value.

    `pool` lists who takes part, all targets among them, by (group, drawn order), group g spanning bounds[g]:bounds[g + 1].
    From its own place on a target looks at up to `reach` free records, cyclically. Stops when `limit` records have changed.
    Returns a partner per record (itself: no exchange). O(n + targets · reach).
    """
    n = value.shape[0]
    partner = np.arange(n)
    used = np.zeros(n, dtype=np.bool_)
    place = np.empty(n, dtype=np.int64)
    for position in range(pool.shape[0]):
        place[pool[position]] = position
    following = np.arange(n + 1)
    changed = 0
    for index in range(targets.shape[0]):
        if changed + 2 > limit:
            break
        record = targets[index]
        if used[record]:
            continue
        end = bounds[group[record] + 1]
        position = _next_free(following, place[record] + 1)
        wrapped = False
        for _ in range(reach + 1):
            if position >= end and not wrapped:
                wrapped = True
                position = _next_free(following, bounds[group[record]])
            if position >= end or (wrapped and position >= place[record]):
                break
            candidate = pool[position]
            if value[candidate] != value[record]:
                used[record] = used[candidate] = True
                following[place[record]] = place[record] + 1
                following[position] = position + 1
                partner[record], partner[candidate] = candidate, record
                changed += 2
                break
            position = _next_free(following, position + 1)
    return partner


@njit(cache=True)
def match_donors(
    targets: Ints,
    profile: Ints,
    area: Ints,
    priority: Floats,
    queue: Ints,
    queue_start: Ints,
    profile_start: Ints,
    used: NDArray[np.bool_],
) -> Ints:
    """For each target unit the free donor of lowest priority number with its profile in another area, or −1.

    `queue` lists units by (profile, area, priority); queue q spans queue_start[q]:queue_start[q + 1] and belongs to one
    area; the queues of profile p are profile_start[p]:profile_start[p + 1]. Matched units become used (a profile of
    −1 matches nobody). O(targets · areas of the profile).
    """
    donors = np.full(targets.shape[0], -1, dtype=np.int64)
    head = queue_start[:-1].copy()
    for index in range(targets.shape[0]):
        unit = targets[index]
        if used[unit] or profile[unit] < 0:
            continue
        best = -1
        for q in range(profile_start[profile[unit]], profile_start[profile[unit] + 1]):
            end = queue_start[q + 1]
            while head[q] < end and used[queue[head[q]]]:
                head[q] += 1
            if head[q] == end or area[queue[head[q]]] == area[unit]:
                continue
            if best < 0 or priority[queue[head[q]]] < priority[queue[head[best]]]:
                best = q
        if best >= 0:
            donor = queue[head[best]]
            used[unit] = True
            used[donor] = True
            donors[index] = donor
    return donors
