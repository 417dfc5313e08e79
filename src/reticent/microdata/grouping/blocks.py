# SPDX-License-Identifier: Apache-2.0
"""Blocks of neighbouring records, cut at medians, so that quadratic methods meet only a few thousand at a time."""

import numpy as np

from reticent.base.arrays import Floats, Ints


def median_blocks(x: Floats, largest: int) -> list[Ints]:
    """Cut the records at the median of the widest variable until no block has more than `largest`; O(n log n · d)."""
    waiting = [np.arange(x.shape[0])]
    blocks: list[Ints] = []
    while waiting:
        rows = waiting.pop()
        if rows.size <= largest:
            blocks.append(np.sort(rows))
            continue
        part = x[rows]
        values = part[:, int(np.argmax(part.var(axis=0)))]
        cut = np.argpartition(values, rows.size // 2)
        waiting.append(rows[cut[rows.size // 2 :]])
        waiting.append(rows[cut[: rows.size // 2]])
    return blocks


def rotated_group_blocks(x: Floats, labels: Ints, largest: int) -> list[Ints]:
    """Blocks of whole groups, cut along turned axes: the borders fall elsewhere than those of `median_blocks`."""
    groups = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=groups)
    means = np.stack([np.bincount(labels, weights=column, minlength=groups) for column in x.T], axis=1) / sizes[:, None]
    turn = np.linalg.qr(np.random.Generator(np.random.Philox(key=1)).standard_normal((x.shape[1], x.shape[1])))[0]
    per_group = max(int(largest / sizes.mean()), 2)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(sizes)
    out = []
    for block in median_blocks(means @ turn, per_group):
        out.append(np.sort(np.concatenate([order[ends[g] - sizes[g] : ends[g]] for g in block])))
    return out
