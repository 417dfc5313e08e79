# SPDX-License-Identifier: Apache-2.0
"""The person-to-file attacker: (1,k), every true record fits at least k published ones; and (k,k), both directions.

(k,k) starts from the (k,1) optimum, whose blanks also serve (1,k). What is missing is lent: clusters by companions per
cost, then single records, then whatever turned out superfluous is shown again. Blanks never lower either count, so
combinations are treated one after another and all hold at the end.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes
from reticent.kernels.grouping import group_rows, members_of_groups, pattern_table
from reticent.kernels.lending import greedy_lend, lend_last, take_back, trim_lent
from reticent.kernels.wildcards import compatible_sums
from reticent.microdata.suppress.cover import MAX_ENTRIES, SOFT_CAP, clusters
from reticent.microdata.suppress.requirement import ENUMERATED, Prices, Requirement, variables_of

LAST_EFFORT = 200_000_000
WIDE_CAP = 6
"""Blanks that a lending record gets at most where sets of `SOFT_CAP` variables do not serve everybody."""


def lent_blanks(
    codes: Codes, published: Codes, requirement: Requirement, prices: Prices, *, keep_blanks: bool
) -> tuple[Codes, NDArray[np.bool_]]:
    """Published codes that every true record fits often enough in every combination, and who is stuck.

    `published` may already have blanks; with `keep_blanks` they stay (another demand needs them).
    """
    out = published.copy()
    stuck = np.zeros(len(codes), np.bool_)
    floor = masks_of(out, codes) if keep_blanks else np.zeros(len(codes), np.int64)
    for mask, k in sorted(requirement.combinations, key=lambda item: -item[0].bit_count()):
        variables = list(variables_of(mask))
        inside = Prices(
            tuple(prices.costs[v] for v in variables),
            sum(1 << i for i, v in enumerate(variables) if prices.frozen >> v & 1),
            prices.cap,
        )
        spent = ((out < 0) & (codes >= 0)).sum(axis=1)
        part, left = lend(
            np.ascontiguousarray(codes[:, variables]),
            np.ascontiguousarray(out[:, variables]),
            np.full(len(codes), k, np.int64),
            inside,
            spent,
        )
        out[:, variables] = part
        stuck |= left
    if requirement.single and not stuck.any():
        _show_again(codes, out, np.full(len(codes), requirement.k, np.int64), floor)
    return out, stuck


def masks_of(published: Codes, codes: Codes) -> NDArray[np.int64]:
    """The variables that were blanked in each record, as bit masks."""
    blank = (published < 0) & (codes >= 0)
    return np.asarray(blank @ (1 << np.arange(codes.shape[1], dtype=np.int64)))


def fitting(truth: Codes, published: Codes, values: NDArray[Any] | None = None) -> NDArray[Any]:
    """How many published records fit each true one, or the sum of their `values`."""
    cards = [int(c) + 1 for c in truth.max(axis=0)]
    first, _, _, group = pattern_table(truth, cards)
    shown, counts, _, shown_as = pattern_table(published, cards)
    amounts = counts if values is None else np.bincount(shown_as, weights=values, minlength=len(shown))
    found = compatible_sums(truth[first], published[shown], amounts, asking_wild=False, answering_wild=True)
    return np.asarray(found[group])


def lend(
    truth: Codes, published: Codes, need: NDArray[np.int64], prices: Prices, spent: NDArray[np.int64]
) -> tuple[Codes, NDArray[np.bool_]]:
    """Blank records until true record i fits need[i] published ones; also who still falls short."""
    for cap in (SOFT_CAP, SOFT_CAP, WIDE_CAP):
        # a record that lends twice may serve someone it served already; then the rest is tried again
        found = fitting(truth, published)
        if (found >= need).all():
            return published, found < need
        _lend_clusters(truth, published, found, need, prices, spent, cap)
    found = fitting(truth, published)
    needy = int((found < need).sum())
    if needy and needy * len(truth) <= LAST_EFFORT:
        most = -1 if prices.cap is None else prices.cap
        lend_last(published, truth, found, need, np.array(prices.costs), prices.frozen, most, spent)
    elif needy and prices.cap is None:
        _lend_whole(published, spent, int((need - found).max()), prices.frozen)
        found = fitting(truth, published)
    return published, found < need


def _lend_whole(published: Codes, spent: NDArray[np.int64], wanted: int, frozen: int) -> None:
    """Where too many are in need to serve them one by one: blank all that may be in records that show least already."""
    free = [v for v in range(published.shape[1]) if not frozen >> v & 1]
    shown = (published[:, free] >= 0).sum(axis=1)
    chosen = np.argsort(np.where(shown > 0, shown, shown.max() + 1), kind="stable")[:wanted]
    spent[chosen] += shown[chosen]
    for v in free:
        published[chosen, v] = -1


def _lend_clusters(
    truth: Codes,
    published: Codes,
    found: NDArray[np.int64],
    need: NDArray[np.int64],
    prices: Prices,
    spent: NDArray[np.int64],
    widest: int,
) -> None:
    """Let records of shared clusters lend themselves."""
    first, counts, _, group = pattern_table(truth, [int(c) + 1 for c in truth.max(axis=0)])
    short = np.zeros(len(first), np.int64)  # records of one pattern may need different numbers
    np.maximum.at(short, group, need - found)
    needy = np.flatnonzero(short > 0)
    cap = min(widest, SOFT_CAP if len(prices.costs) > ENUMERATED else WIDE_CAP) if prices.cap is None else prices.cap
    masks = prices.candidates(cap=cap)[1:][: max(1, MAX_ENTRIES // max(len(needy), 1))]
    if len(masks) == 0 or len(needy) == 0:
        return
    cost = prices.of_masks(masks)
    cluster_of, starts, members, mask_index, records = clusters(truth[first], counts, needy, masks, 2)
    left = counts[needy].astype(np.int32)
    weight = np.zeros(len(mask_index), np.int64)
    for row in cluster_of:
        weight += np.bincount(row[row >= 0], weights=left[row >= 0], minlength=len(weight)).astype(np.int64)
    inside = weight.copy()
    requirement = short[needy].astype(np.int32)
    problem = (cluster_of, starts, members, requirement)
    state = (left, np.zeros(len(needy), np.int32), weight)
    room = int(requirement.sum()) + 16
    actors, chosen = np.empty(room, np.int32), np.empty(room, np.int64)
    lent = np.zeros(len(needy), np.int32)
    n = greedy_lend(problem, state, mask_index, cost, records - inside, lent, actors, chosen)
    costliest = np.argsort(-cost[mask_index[chosen[:n]]], kind="stable")
    n = take_back(problem, state, costliest, actors, chosen, n)
    chosen = chosen[:n]
    examples = first[needy[members[starts[chosen]]]]
    _write((truth, published, spent), (group, needy), (examples, masks[mask_index[chosen]], actors[:n]), prices.cap)


def _write(
    file: tuple[Codes, Codes, NDArray[np.int64]],
    patterns: tuple[NDArray[np.int64], NDArray[np.int64]],
    actions: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]],
    cap: int | None,
) -> None:
    """Pick a record for each action: from the lender's pattern, or of the cluster from outside, untouched ones first.

    The `file` are true codes, published codes and blanks spent per record; `patterns` the pattern of each record and those
    in need; `actions` a record of each action's cluster, its mask and its lender. The records of a cluster are found by
    grouping once for each mask.
    """
    (truth, published, spent), (group, needy), (examples, masks, actors) = file, patterns, actions
    is_needy = np.zeros(int(group.max()) + 1, np.bool_)
    is_needy[needy] = True
    q = truth.shape[1]
    for mask in np.unique(masks).tolist():
        kept = [v for v in range(q) if not mask >> v & 1]
        gone = [v for v in range(q) if mask >> v & 1]
        cluster, n_clusters = group_rows(truth[:, kept], [int(c) + 1 for c in truth[:, kept].max(axis=0)])
        edges, order = members_of_groups(cluster, n_clusters)
        for action in np.flatnonzero(masks == mask).tolist():
            where = int(cluster[examples[action]])
            pool = order[edges[where] : edges[where + 1]]
            wanted = group[pool] == needy[actors[action]] if actors[action] >= 0 else ~is_needy[group[pool]]
            pool = pool[wanted]
            if cap is not None:
                pool = pool[spent[pool] + len(gone) <= cap]
            if len(pool):
                chosen = pool[int(np.argmin(spent[pool]))]
                spent[chosen] += int((published[chosen, gone] >= 0).sum())
                published[chosen, gone] = -1


def _show_again(codes: Codes, published: Codes, need: NDArray[np.int64], floor: NDArray[np.int64]) -> None:
    touched = np.flatnonzero((published != codes).any(axis=1))
    if len(touched) * len(codes) <= LAST_EFFORT // 10:
        found = fitting(codes, published)
        order = np.argsort(-(published[touched] < 0).sum(axis=1), kind="stable")
        trim_lent(published, codes, found, need, touched[order], floor)
