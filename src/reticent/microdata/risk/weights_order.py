# SPDX-License-Identifier: Apache-2.0
"""Weights that stand in the order of a number, as where firms were drawn by size: they tell a number that the file hides."""

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.kernels.ranking import mean_ranks

FEWEST_IN_ORDER = 50
"""Records that an order is looked at among: fewer may stand in order by chance."""
NEAR = 1 / 8
"""The share of the ranks within which the rank of the weight must place half of the records; chance does so within 0.29."""


def told_in_order(true: Floats, weights: Floats, group: Ints, shown: Floats | None = None) -> Mask:
    """Records whose number follows from the rank of their weight, among those with one group (−1: not looked at).

    Where the file shows changed numbers, the weights must be nearer than these.
    """
    told = np.zeros(true.size, dtype=bool)
    asked = np.where(np.isnan(true), -1, group)
    for one in np.unique(asked[asked >= 0]).tolist():
        rows = np.flatnonzero(asked == one)
        if rows.size < FEWEST_IN_ORDER or np.unique(true[rows]).size < FEWEST_IN_ORDER // 2:
            continue
        rank, by_weight = mean_ranks(true[rows]), mean_ranks(weights[rows])
        off = np.abs(rank - _same_way(rank, by_weight))
        enough = NEAR * rows.size
        if shown is not None:
            enough = min(enough, float(np.median(np.abs(rank - mean_ranks(shown[rows])))))
        if np.median(off) < enough:
            told[rows] = off <= NEAR * rows.size
    return told


def _same_way(rank: Floats, by_weight: Floats) -> Floats:
    """The ranks of the weights from below or from above, whichever goes with the number."""
    up = float((rank - rank.mean()) @ (by_weight - by_weight.mean())) >= 0
    return by_weight if up else by_weight.size + 1 - by_weight
