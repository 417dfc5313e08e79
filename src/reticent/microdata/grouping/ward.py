# SPDX-License-Identifier: Apache-2.0
"""Modified Ward grouping (EUSTAT, "MWA"): two extreme groups of k, least-cost joins, recursion on what is too large."""

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.kernels.ward import farthest_pair, join_groups, seed_groups


def modified_ward(x: Floats, k: int, scores: Floats | None = None) -> Ints:
    """Group numbers by modified Ward; with `scores` the extremes are the lowest and highest, else the farthest pair.

    Every size is k to 2k − 1: two groups of k or more never join, so a part of 2k or more always falls apart.
    """
    labels = np.zeros(x.shape[0], np.int64)
    waiting = [np.arange(x.shape[0])]
    done = 0
    while waiting:
        rows = waiting.pop()
        if rows.size < 2 * k:
            labels[rows] = done
            done += 1
            continue
        part = np.ascontiguousarray(x[rows])
        if scores is None:
            first, last = farthest_pair(part)
            seeds = seed_groups(part, first, last, k)
        else:
            order = np.argsort(scores[rows], kind="stable")
            seeds = np.full(rows.size, -1, np.int64)
            seeds[order[:k]], seeds[order[-k:]] = 0, 1
        joined = join_groups(part, seeds, k)
        waiting.extend(rows[joined == number] for number in np.unique(joined)[::-1])
    return labels
