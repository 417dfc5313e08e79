# SPDX-License-Identifier: Apache-2.0
"""Swapping whole households between areas: risk by level, profiles, donors; on arrays of households.

Targeted record swapping: a household with a member whose risk combination is rare in its area is exchanged with a
household of the same profile from another area; then more are drawn until the rate is reached.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.kernels.swaps import match_donors

REASONS = ("risk", "rate")


@dataclass(frozen=True)
class HouseholdSwaps:
    """Every swap, one entry each: the two households, the level and profile used (from 0), and the reason.

    `reason` 0 is risk, 1 the rate; `unmatched` are households at risk for which no donor was left.
    """

    first: Ints
    second: Ints
    level: Ints
    profile: Ints
    reason: Ints
    unmatched: Ints


def swap_households(
    areas: Ints, profiles: Ints, at_risk: NDArray[np.bool_], lottery: Floats, rare_count: Ints, *, n_swapped: int
) -> HouseholdSwaps:
    """Choose swaps for households described by area codes per level (h, levels) and profile codes (h, profiles).

    `at_risk[h, l]`: must leave its area of level l. `rare_count` (smallest count of a member's combination in the
    finest area) makes rare donors likelier: priority is an exponential draw times the count. O(h log h + matches).
    """
    n, n_levels = areas.shape
    priority: Floats = -np.log1p(-lottery) * rare_count.astype(np.float64)
    used = np.zeros(n, dtype=np.bool_)
    swaps: list[tuple[Ints, Ints, int, int, int]] = []
    unmatched = np.zeros(n, dtype=np.bool_)
    order: Ints = np.argsort(priority, kind="stable")
    for level in range(n_levels):
        targets = order[at_risk[order, level]]
        for profile in range(profiles.shape[1]):
            targets = targets[~used[targets]]
            swaps.append((*_match(targets, profiles[:, profile], areas[:, level], priority, used), level, profile, 0))
        unmatched[targets[~used[targets]]] = True
    finest = n_levels - 1
    for profile in range(profiles.shape[1]):
        missing = max(0, n_swapped - int(used.sum())) // 2
        # Some drawn households find no donor, so draw until enough pairs are made or nobody is left.
        targets = order[~used[order]]
        first, second = _match(targets, profiles[:, profile], areas[:, finest], priority, used, limit=missing)
        swaps.append((first, second, finest, profile, 1))
    unmatched &= ~used
    return _collect(swaps, np.flatnonzero(unmatched))


def areas_told(areas: Ints, profiles: Ints, swaps: HouseholdSwaps) -> int:
    """Households swapped for their risk whose profile occurs in two areas only: they come from the other one."""
    told = 0
    for level in range(areas.shape[1]):
        for profile in range(profiles.shape[1]):
            pairs = np.unique(np.column_stack((profiles[:, profile], areas[:, level])), axis=0)
            many = np.bincount(pairs[:, 0], minlength=int(profiles[:, profile].max(initial=0)) + 1)
            mine = (swaps.reason == 0) & (swaps.level == level) & (swaps.profile == profile)
            told += int((many[profiles[swaps.first[mine], profile]] == 2).sum())
    return told


def _match(
    targets: Ints, profile: Ints, area: Ints, priority: Floats, used: NDArray[np.bool_], *, limit: int | None = None
) -> tuple[Ints, Ints]:
    """Match targets with donors; with a limit, in growing batches until this many pairs are made."""
    queue = np.lexsort((priority, area, profile))
    change = (np.diff(profile[queue]) != 0) | (np.diff(area[queue]) != 0)
    queue_start = np.concatenate([[0], np.flatnonzero(change) + 1, [len(queue)]]).astype(np.int64)
    profile_start = np.searchsorted(profile[queue[queue_start[:-1]]], np.arange(int(profile.max()) + 2))
    first: list[Ints] = []
    second: list[Ints] = []
    made, start = 0, 0
    while start < len(targets) and (limit is None or made < limit):
        batch = targets[start:] if limit is None else targets[start : start + (limit - made)]
        start += len(batch)
        donors = match_donors(batch, profile, area, priority, queue, queue_start, profile_start, used)
        found = donors >= 0
        first.append(batch[found])
        second.append(donors[found])
        made += int(found.sum())
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *first]), np.concatenate([empty, *second])


def _collect(swaps: list[tuple[Ints, Ints, int, int, int]], unmatched: Ints) -> HouseholdSwaps:
    columns = [np.concatenate([swap[side] for swap in swaps]) for side in (0, 1)]
    labels = [
        np.concatenate([np.full(len(swap[0]), swap[part], dtype=np.int64) for swap in swaps]) for part in (2, 3, 4)
    ]
    return HouseholdSwaps(columns[0], columns[1], labels[0], labels[1], labels[2], unmatched)
