# SPDX-License-Identifier: Apache-2.0
"""Values that are missing: what stands for a group must rest on k respondents who have a value."""

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.microdata.grouping.aggregate import group_means


def respondents_behind(labels: Ints, present: Mask, who: Ints) -> Ints:
    """Distinct respondents with a value in each group."""
    pairs = np.unique(np.column_stack((labels[present], who[present])), axis=0)
    return np.bincount(pairs[:, 0], minlength=int(labels.max()) + 1).astype(np.int64)


def pooled_where_few(labels: Ints, present: Mask, who: Ints, keys: Floats, strata: Ints, *, k: int) -> Ints:
    """The groups with neighbours joined, within strata, until k respondents have a value; those without any stay.

    Neighbours are groups that follow each other along the main direction of the groups' mean `keys` (NaN is missing).
    """
    behind = respondents_behind(labels, present, who)
    if not ((behind > 0) & (behind < k)).any():
        return labels
    groups = behind.size
    stratum = np.empty(groups, np.int64)
    stratum[labels] = strata
    order = np.lexsort((_along(labels, keys), stratum))
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels, minlength=groups))[:-1])
    having = [set(who[rows][present[rows]].tolist()) for rows in members]
    pool = np.arange(groups)
    for one in np.unique(stratum).tolist():
        for together in _pools([g for g in order.tolist() if behind[g] and stratum[g] == one], having, k):
            pool[together] = together[0]
    return np.unique(pool[labels], return_inverse=True)[1].astype(np.int64)


def _pools(ordered: list[int], having: list[set[int]], k: int) -> list[list[int]]:
    """Groups in their order, cut wherever k respondents are together; what is left at the end joins the last pool."""
    pools: list[list[int]] = []
    joined: set[int] = set()
    for group in ordered:
        if not pools or len(joined) >= k:
            pools.append([])
            joined = set()
        pools[-1].append(group)
        joined |= having[group]
    if len(pools) > 1 and len(joined) < k:
        left = pools.pop()
        pools[-1] += left
    return pools


def _along(labels: Ints, keys: Floats) -> Floats:
    """The place of each group along the main direction of the means."""
    means = np.column_stack([group_means(column, labels) for column in keys.T])
    spread = np.nanstd(keys, axis=0)
    scaled = np.nan_to_num((means - np.nanmean(keys, axis=0)) / np.where(spread > 0, spread, 1.0))
    return np.asarray(scaled @ np.linalg.svd(scaled, full_matrices=False)[2][0])
