# SPDX-License-Identifier: Apache-2.0
"""Missing values that match anything: few well-placed blanks that give many records their companions.

The model and its algorithm are in `kernels.suppression`. Only records that violate the demand at the start are blanked, and
at most `SOFT_CAP` values in each unless the caller says otherwise: without such limits k − 1 wholly blank records would
make any file safe in this reading. What the covering model leaves open (values that were missing before, records
whose neighbours are too few) is settled on exact counts.
"""

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes
from reticent.kernels.grouping import group_columns, members_of_groups, pattern_table
from reticent.kernels.suppression import cheapen, greedy_cover, improve, rescue, trim
from reticent.kernels.wildcards import compatible_sums
from reticent.microdata.suppress.requirement import Prices, Requirement, variables_of

SOFT_CAP = 3
MAX_ENTRIES = 60_000_000
"""Patterns × masks that are held at a time."""
SEARCH_EFFORT = 60_000_000
EXACT_EFFORT = 40_000_000
ROUNDS = 6_000


def cover_blanks(
    codes: Codes, requirement: Requirement, prices: Prices, *, seed: int
) -> tuple[Codes, NDArray[np.bool_]]:
    """The published codes, and which records cannot be made safe under the cap. Never less safe than it was."""
    published = codes.copy()
    stuck = np.zeros(len(codes), np.bool_)
    for mask, k in sorted(requirement.combinations, key=lambda item: -item[0].bit_count()):
        variables = list(variables_of(mask))
        part = np.ascontiguousarray(published[:, variables])
        inside = Prices(
            tuple(prices.costs[v] for v in variables),
            sum(1 << i for i, v in enumerate(variables) if prices.frozen >> v & 1),
            prices.cap,
        )
        spent = (
            (published < 0).sum(axis=1) - (codes < 0).sum(axis=1) if not requirement.single else np.zeros(len(codes))
        )
        part, left = _cover_one(part, k, inside, spent.astype(np.int64), seed)
        published[:, variables] = part
        stuck |= left
    return published, stuck


def companions(codes: Codes) -> NDArray[np.int64]:
    """How many records each record is compatible with, a missing value matching anything."""
    first, counts, _, group = pattern_table(codes, [int(c) + 1 for c in codes.max(axis=0)])
    patterns = codes[first]
    return np.asarray(compatible_sums(patterns, patterns, counts, asking_wild=True, answering_wild=True)[group])


def _cover_one(
    truth: Codes, k: int, prices: Prices, spent: NDArray[np.int64], seed: int
) -> tuple[Codes, NDArray[np.bool_]]:
    """One combination: cover, then settle what is left on exact counts."""
    found = companions(truth)
    violating = np.flatnonzero(found < k)
    published = truth.copy()
    if len(violating) == 0:
        return published, np.zeros(len(truth), np.bool_)
    cap = SOFT_CAP if prices.cap is None else prices.cap
    for _ in range(2):  # values missing before can make the model promise too much; then it runs again on the rest
        untouched = (published[violating] == truth[violating]).all(axis=1) & (spent[violating] == 0)
        free = violating[untouched & (found[violating] < k)]
        if len(free) == 0:
            break
        _blank(published, free, found, k, prices, cap, seed)
        found = companions(published)
    masks = prices.candidates(cap=cap)
    needy = np.flatnonzero(found < k)
    if len(needy):
        rescue(published, truth, found, k, masks, needy, spent, cap)
    needy = np.flatnonzero(found < k)
    if len(needy) and prices.cap is None:
        everything = prices.candidates(cap=len(prices.costs))
        rescue(published, truth, found, k, everything, needy, spent, len(prices.costs))
    touched = np.flatnonzero((published != truth).any(axis=1))
    if len(touched) * len(truth) <= EXACT_EFFORT:
        blanks = (published[touched] != truth[touched]).sum(axis=1)
        trim(published, truth, found, k, masks, touched[np.argsort(-blanks, kind="stable")])
    return published, found < k


def _blank(
    published: Codes, needy: NDArray[np.int64], found: NDArray[np.int64], k: int, prices: Prices, cap: int, seed: int
) -> None:
    """Solve the covering problem of the needy records and write its blanks into `published`."""
    first, counts, _, group = pattern_table(published, [int(c) + 1 for c in published.max(axis=0)])
    patterns = published[first]
    wanted = np.zeros(len(first), np.bool_)
    wanted[group[needy]] = True
    violators = np.flatnonzero(wanted)
    masks = prices.candidates(cap=cap)[1:]
    masks = masks[: max(1, MAX_ENTRIES // max(len(violators), 1))]
    if len(masks) == 0 or len(violators) == 0:
        return
    cost = prices.of_masks(masks)
    cluster_of, starts, members, mask_index, _ = clusters(patterns, counts, violators, masks, k)
    need = (k - found[first[violators]]).astype(np.int32)
    left = counts[violators].astype(np.int32)
    weight = np.zeros(len(mask_index), np.int64)
    for row in cluster_of:
        weight += np.bincount(row[row >= 0], weights=left[row >= 0], minlength=len(weight)).astype(np.int64)
    problem = (cluster_of, starts, members, need)
    state = (left, np.zeros(len(violators), np.int32), weight)
    room = 2 * int(left.sum()) + 64
    actors, chosen = np.empty(room, np.int32), np.empty(room, np.int32)
    n = greedy_cover(problem, state, mask_index, cost, max(k - 2, 0), actors, chosen, 0)
    by_cost = np.argsort(cost, kind="stable")
    n = cheapen(problem, state, cost, by_cost, actors, chosen, n)
    rounds = min(ROUNDS, SEARCH_EFFORT // max(1, cluster_of.size))
    if rounds > 20:
        n = improve(problem, state, cost, by_cost, actors, chosen, n, rounds, np.uint64(seed))
    _write(published, group, violators[actors[:n]], masks[chosen[:n]])


def clusters(
    patterns: Codes, counts: NDArray[np.int64], violators: NDArray[np.int64], masks: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Which violating patterns agree outside each mask, where at least k records do; last: the records of each cluster."""
    q = patterns.shape[1]
    columns = [np.ascontiguousarray(patterns[:, v]) for v in range(q)]
    cards = [int(c.max()) + 1 for c in columns]
    cluster_of = np.full((len(masks), len(violators)), -1, np.int32)
    sizes: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
    members: list[NDArray[np.int32]] = []
    owner: list[NDArray[np.int32]] = []
    totals: list[NDArray[np.int64]] = []
    n_clusters = 0
    for index, mask in enumerate(masks.tolist()):
        kept = [v for v in range(q) if not mask >> v & 1]
        if kept:
            group, n_groups = group_columns([columns[v] for v in kept], [cards[v] for v in kept])
        else:
            group, n_groups = np.zeros(len(patterns), np.int64), 1
        records = np.bincount(group, weights=counts, minlength=n_groups)
        mine = group[violators]
        enough = records[mine] >= k
        number = np.cumsum(np.bincount(mine[enough], minlength=n_groups) > 0) - 1
        local = number[mine[enough]]
        inside = np.flatnonzero(enough)
        cluster_of[index, inside] = local + n_clusters
        n_local = int(number[-1]) + 1
        bounds, order = members_of_groups(local, n_local)
        sizes.append(np.diff(bounds))
        members.append(inside[order].astype(np.int32))
        owner.append(np.full(n_local, index, np.int32))
        total = np.zeros(n_local, np.int64)
        total[local] = records[mine[enough]]
        totals.append(total)
        n_clusters += n_local
    starts = np.cumsum(np.concatenate(sizes))
    return cluster_of, starts, np.concatenate(members), np.concatenate(owner), np.concatenate(totals)


def _write(published: Codes, group: NDArray[np.int64], patterns: NDArray[np.int64], masks: NDArray[np.int64]) -> None:
    """Blank the masks in the first records of the patterns, a record for each action."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], patterns)
    sequence = np.argsort(patterns, kind="stable")
    rank = np.empty(len(patterns), np.int64)
    same = patterns[sequence]
    rank[sequence] = np.arange(len(patterns)) - np.searchsorted(same, same)
    records = order[starts + rank]
    for v in range(published.shape[1]):
        published[records[masks >> v & 1 == 1], v] = -1
