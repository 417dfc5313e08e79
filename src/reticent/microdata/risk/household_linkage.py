# SPDX-License-Identifier: Apache-2.0
"""Linkage of whole households: which published households lead back by the nearest composition of their members.

Members are paired one to one at least total distance, by each attacker of record linkage (values, ranks, what was left
alone, which values are missing) and in both directions. So a household whose codes or numbers chance has changed is found
if no other household of its size is as near.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.kernels.household_distance import nearest_to_own
from reticent.microdata.risk.linkage_attackers import Column, Part, attackers

BUDGET = 12_000_000
"""Pairs of households that one attacker compares; where there are more, evenly chosen households ask."""


@dataclass(frozen=True)
class HouseholdLinkage:
    """The share of the asking households that are rightly and uniquely linked by the best attacker."""

    share: float
    attacker: str
    asked: int


def household_linkage(columns: Sequence[Column], own: Ints, starts: Ints, members: Ints) -> HouseholdLinkage:
    """Link published groups of records (stretches of `members`) to the true records of the same people."""
    size = np.diff(starts)
    peers = np.argsort(size, kind="stable").astype(np.int64)
    asking = _askers(size)
    first = np.searchsorted(size[peers], size[asking], side="left")
    last = np.searchsorted(size[peers], size[asking], side="right")
    best = HouseholdLinkage(0.0, "nothing", asking.size)
    for name, parts in attackers(columns):
        true, shown = _points(parts, own, members)
        nominal, absent = np.array([part.nominal for part in parts]), np.array([part.absent for part in parts])
        for queries, points in ((shown, true), (true, shown)):
            linked = nearest_to_own(asking, first, last, peers, starts, queries, points, nominal, absent)
            if float(linked.mean()) > best.share:
                best = HouseholdLinkage(float(linked.mean()), name, asking.size)
    return best


def _askers(size: Ints) -> Ints:
    """All households, or as many as the budget allows, evenly over the list."""
    pairs = float((np.bincount(size).astype(np.float64) ** 2).sum())
    if pairs <= BUDGET:
        return np.arange(size.size)
    many = max(int(size.size * BUDGET / pairs), 1)
    return np.unique(np.linspace(0, size.size - 1, many).astype(np.int64))


def _points(parts: Sequence[Part], own: Ints, members: Ints) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    true = np.column_stack([part.true[own[members]] for part in parts])
    shown = np.column_stack([part.shown[members] for part in parts])
    return np.ascontiguousarray(true), np.ascontiguousarray(shown)
