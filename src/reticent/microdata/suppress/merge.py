# SPDX-License-Identifier: Apache-2.0
"""Missing as a category of its own: records are blanked in groups of at least k that then look the same.

This is classical k-anonymity by suppression (NP-hard: Meyerson and Williams 2004). Greedy: masks by rising cost; under each,
records that agree outside the mask and are at least k together are blanked in the same way. Records that are left join the
nearest group: with as many of its members as it can spare (those beyond k), or with all of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes, Ints
from reticent.kernels.grouping import group_rows, pattern_table
from reticent.microdata.suppress.requirement import Prices

SMALL = 2_000
"""Up to this many needy records, groups are also formed by joining nearest neighbours, and the cheaper result is taken."""


def merged_blanks(
    codes: Codes, k: int, prices: Prices, *, copies: Ints | None = None
) -> tuple[Codes, NDArray[np.bool_]]:
    """The published codes, in which every combination (missing = a code) has at least k records, and who is stuck.

    With `copies` each row stands for this many records, which stay together: all of them are blanked in the same way.
    """
    each = np.ones(len(codes), dtype=np.int64) if copies is None else copies
    rows = _Rows(codes, each, k, whole=copies is not None)
    needy = rows.sizes(codes) < k
    results = [_by_masks(rows, needy.copy(), prices, levels=levels) for levels in _levels(needy, prices)]
    price = np.array(prices.costs)
    return min(results, key=lambda r: (int(each[r[1]].sum()), float(each @ ((r[0] < 0) & (codes >= 0)) @ price)))


@dataclass(frozen=True)
class _Rows:
    """Codes, how many records each row stands for, how many must look alike, and whether a row stays whole."""

    codes: Codes
    copies: Ints
    k: int
    whole: bool

    def sizes(self, codes: Codes) -> Ints:
        """How many records look like each row."""
        group, n_groups = _groups(codes)
        return _added(group, self.copies, n_groups)[group]


def _added(group: Ints, copies: Ints, n_groups: int) -> Ints:
    return np.bincount(group, weights=copies, minlength=n_groups).astype(np.int64)


def _levels(needy: NDArray[np.bool_], prices: Prices) -> list[int]:
    """Up to which size of mask groups are formed before the rest joins its neighbours."""
    return list(range(len(prices.costs) + 1)) if needy.sum() <= SMALL else [len(prices.costs)]


def _by_masks(rows: _Rows, needy: NDArray[np.bool_], prices: Prices, *, levels: int) -> tuple[Codes, NDArray[np.bool_]]:
    """Masks of up to `levels` variables by rising cost, then nearest neighbours for those who are left."""
    published = rows.codes.copy()
    masks = prices.candidates()[1:]
    masks = masks[np.bitwise_count(masks) <= levels]
    costs = np.round(prices.of_masks(masks), 9)
    for cost in np.unique(costs):
        for mask in _most_useful(rows, needy, masks[costs == cost]):
            if not needy.any():
                return published, needy
            _join(rows, published, needy, mask)
    _join_nearest(rows, published, needy, prices)
    return published, needy


def _blanked(codes: Codes, mask: int) -> Codes:
    out = codes.copy()
    out[:, [v for v in range(codes.shape[1]) if mask >> v & 1]] = -1
    return out


def _groups(rows: Codes) -> tuple[NDArray[np.int64], int]:
    return group_rows(rows, [int(c) + 1 for c in rows.max(axis=0)])


def _most_useful(rows: _Rows, needy: NDArray[np.bool_], masks: NDArray[np.int64]) -> list[int]:
    """Masks of one cost, those first that can settle most of the needy."""
    if len(masks) == 1 or not needy.any():
        return [int(m) for m in masks]
    settled = []
    own = rows.copies[needy]
    for mask in masks.tolist():
        group, n_groups = _groups(_blanked(rows.codes[needy], mask))
        settled.append(int(own[_added(group, own, n_groups)[group] >= rows.k].sum()))
    return [int(masks[i]) for i in np.argsort(-np.array(settled), kind="stable")]


def _join(rows: _Rows, published: Codes, needy: NDArray[np.bool_], mask: int) -> None:
    """Blank the mask in needy records that together, or with records that already look so, are at least k."""
    here = np.flatnonzero(needy)
    alike = np.flatnonzero(~needy & (published < 0).any(axis=1))
    trial = _blanked(rows.codes[here], mask)
    group, n_groups = _groups(np.concatenate((trial, published[alike])))
    sizes = _added(group, rows.copies[np.concatenate((here, alike))], n_groups)
    enough = sizes[group[: len(here)]] >= rows.k
    published[here[enough]] = trial[enough]
    needy[here[enough]] = False


def _join_nearest(own: _Rows, published: Codes, needy: NDArray[np.bool_], prices: Prices) -> None:
    """Join each needy group with the group that costs least: with some members where it has more to spare, else with all."""
    codes, k, cost = own.codes, own.k, np.array(prices.costs)
    movable = np.array([not prices.frozen >> v & 1 for v in range(codes.shape[1])])
    given_up = np.zeros(len(codes), np.bool_)
    while (needy & ~given_up).any():
        first, _, _, group = pattern_table(published, [int(c) + 1 for c in published.max(axis=0)])
        counts = _added(group, own.copies, len(first))
        one = int(group[np.flatnonzero(needy & ~given_up)[0]])
        rows, mine = published[first], published[first[one]]
        common = np.where(rows == mine, rows, -1)
        lost = (common < 0) & (rows >= 0)
        size = int(counts[one])
        spare = (counts - max(k - size, 1) >= k) & (not own.whole)
        taken = np.where(spare, max(k - size, 1), counts)
        price = taken * (lost @ cost) + size * (((common < 0) & (mine >= 0)) @ cost)
        blocked = ((common < 0) & ((rows >= 0) | (mine >= 0)) & ~movable).any(axis=1)
        if prices.cap is not None:
            had = (codes[first] < 0).sum(axis=1)
            blocked |= (common < 0).sum(axis=1) - np.minimum(had, had[one]) > prices.cap
        blocked[one] = True
        price[blocked] = np.inf
        best = int(np.argmin(price))
        if not np.isfinite(price[best]):
            given_up[group == one] = True
            continue
        others = np.flatnonzero(group == best)
        others = others if own.whole else others[: int(taken[best])]
        together = np.concatenate((np.flatnonzero(group == one), others))
        published[together] = common[best]
        alike = (published == common[best]).all(axis=1)
        needy[together] = int(own.copies[alike].sum()) < k
        if int(own.copies[alike].sum()) >= k:
            needy[alike] = False
