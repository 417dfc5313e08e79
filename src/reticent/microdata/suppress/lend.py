"""The person-to-file attacker: (1,k), every true record fits at least k published ones; and (k,k), both directions.

(k,k) starts from the (k,1) optimum, whose blanks also serve (1,k). What is missing is lent: clusters by companions per
cost, then single records, then whatever turned out superfluous is shown again. Blanks never lower either count, so
combinations are treated one after the other and all hold at the end.
"""

import numpy as np
from numpy.typing import NDArray

from reticent.kernels.grouping import group_rows, members_of_groups, pattern_table
from reticent.kernels.lending import greedy_lend, lend_last, take_back, trim_lent
from reticent.kernels.wildcards import compatible_sums
from reticent.microdata.suppress.cover import MAX_ENTRIES, SOFT_CAP, clusters
from reticent.microdata.suppress.demand import Demand, Prices, variables_of

Codes = NDArray[np.int32]
LAST_EFFORT = 200_000_000


def lent_blanks(
    codes: Codes, published: Codes, demand: Demand, prices: Prices, *, keep_blanks: bool
) -> tuple[Codes, NDArray[np.bool_]]:
    """Published codes that every true record fits often enough in every combination, and who is stuck.

    `published` may already have blanks; with `keep_blanks` they stay (another demand needs them).
    """
    out = published.copy()
    stuck = np.zeros(len(codes), np.bool_)
    floor = _masks(out, codes) if keep_blanks else np.zeros(len(codes), np.int64)
    for mask, k in sorted(demand.combinations, key=lambda item: -item[0].bit_count()):
        variables = list(variables_of(mask))
        inside = Prices(
            tuple(prices.costs[v] for v in variables),
            sum(1 << i for i, v in enumerate(variables) if prices.frozen >> v & 1),
            prices.cap,
        )
        spent = ((out < 0) & (codes >= 0)).sum(axis=1)
        part, left = _lend_one(
            np.ascontiguousarray(codes[:, variables]), np.ascontiguousarray(out[:, variables]), k, inside, spent
        )
        out[:, variables] = part
        stuck |= left
    if demand.single and not stuck.any():
        _show_again(codes, out, demand.k, floor)
    return out, stuck


def _masks(published: Codes, codes: Codes) -> NDArray[np.int64]:
    blank = (published < 0) & (codes >= 0)
    return np.asarray(blank @ (1 << np.arange(codes.shape[1], dtype=np.int64)))


def _fitting(truth: Codes, published: Codes) -> NDArray[np.int64]:
    """How many published records fit each true one."""
    cards = [int(c) + 1 for c in truth.max(axis=0)]
    first, _, _, group = pattern_table(truth, cards)
    shown, counts, _, _ = pattern_table(published, cards)
    found = compatible_sums(truth[first], published[shown], counts, asking_wild=False, answering_wild=True)
    return np.asarray(found[group])


def _lend_one(
    truth: Codes, published: Codes, k: int, prices: Prices, spent: NDArray[np.int64]
) -> tuple[Codes, NDArray[np.bool_]]:
    for _ in range(3):  # a record that lends twice may serve someone it served already; then the rest is tried again
        found = _fitting(truth, published)
        if (found >= k).all():
            return published, found < k
        if not _lend_clusters(truth, published, found, k, prices, spent):
            break
    found = _fitting(truth, published)
    needy = int((found < k).sum())
    if needy and needy * len(truth) <= LAST_EFFORT:
        cap = -1 if prices.cap is None else prices.cap
        lend_last(published, truth, found, k, np.array(prices.costs), prices.frozen, cap, spent)
    return published, found < k


def _lend_clusters(
    truth: Codes, published: Codes, found: NDArray[np.int64], k: int, prices: Prices, spent: NDArray[np.int64]
) -> int:
    """Let records of shared clusters lend themselves; returns how many did."""
    first, counts, _, group = pattern_table(truth, [int(c) + 1 for c in truth.max(axis=0)])
    needy = np.flatnonzero(found[first] < k)
    cap = SOFT_CAP if prices.cap is None else prices.cap
    masks = prices.candidates(cap=cap)[1:][: max(1, MAX_ENTRIES // max(len(needy), 1))]
    if len(masks) == 0:
        return 0
    cost = prices.of_masks(masks)
    cluster_of, starts, members, mask_index, records = clusters(truth[first], counts, needy, masks, 2)
    left = counts[needy].astype(np.int32)
    weight = np.zeros(len(mask_index), np.int64)
    for row in cluster_of:
        weight += np.bincount(row[row >= 0], weights=left[row >= 0], minlength=len(weight)).astype(np.int64)
    inside = weight.copy()
    demand = (k - found[first[needy]]).astype(np.int32)
    problem = (cluster_of, starts, members, demand)
    state = (left, np.zeros(len(needy), np.int32), weight)
    room = int(demand.sum()) + 16
    actors, chosen = np.empty(room, np.int32), np.empty(room, np.int64)
    lent = np.zeros(len(needy), np.int32)
    n = greedy_lend(problem, state, mask_index, cost, records - inside, lent, actors, chosen)
    dearest = np.argsort(-cost[mask_index[chosen[:n]]], kind="stable")
    n = take_back(problem, state, dearest, actors, chosen, n)
    chosen = chosen[:n]
    examples = first[needy[members[starts[chosen]]]]
    return _write(truth, published, group, needy, examples, masks[mask_index[chosen]], actors[:n], spent, prices.cap)


def _write(
    truth: Codes,
    published: Codes,
    group: NDArray[np.int64],
    needy: NDArray[np.int64],
    examples: NDArray[np.int64],
    masks: NDArray[np.int64],
    actors: NDArray[np.int32],
    spent: NDArray[np.int64],
    cap: int | None,
) -> int:
    """Pick a record for each action: from the lender's pattern, or of the cluster from outside, untouched ones first.

    `examples` is a record of each action's cluster. The records of a cluster are found by grouping once for each mask.
    """
    is_needy = np.zeros(int(group.max()) + 1, np.bool_)
    is_needy[needy] = True
    q, used = truth.shape[1], 0
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
                used += 1
    return used


def _show_again(codes: Codes, published: Codes, k: int, floor: NDArray[np.int64]) -> None:
    touched = np.flatnonzero((published != codes).any(axis=1))
    if len(touched) * len(codes) <= LAST_EFFORT // 10:
        found = _fitting(codes, published)
        order = np.argsort(-(published[touched] < 0).sum(axis=1), kind="stable")
        trim_lent(published, codes, found, k, touched[order], floor)
