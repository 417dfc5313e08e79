# SPDX-License-Identifier: Apache-2.0
"""What stands for a group: mean, median, mode or medoid, as arrays over the groups."""

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints


def group_means(values: Floats, labels: Ints) -> Floats:
    """Mean of each group over its present values; NaN where a group has none. Shape (groups,).

    The values are centred first: the sum of many large numbers would lose the digits that the means differ in.
    """
    present = ~np.isnan(values)
    middle = float(values[present].mean()) if present.any() else 0.0
    groups = int(labels.max()) + 1
    counts = np.bincount(labels[present], minlength=groups)
    sums = np.bincount(labels[present], weights=values[present] - middle, minlength=groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = middle + sums / counts
    return _keep_equal_groups(values, labels, means)


def _keep_equal_groups(values: Floats, labels: Ints, means: Floats) -> Floats:
    """A group whose values are all equal keeps exactly that value, free of rounding."""
    low = np.full(means.size, np.inf)
    high = np.full(means.size, -np.inf)
    np.fmin.at(low, labels, values)
    np.fmax.at(high, labels, values)
    return np.asarray(np.where(low == high, low, means))


def group_medians(values: Floats, labels: Ints, *, lower: bool = False) -> Floats:
    """Median of each group's present values; with `lower` the lower of the two in the middle, for ordered codes."""
    groups = int(labels.max()) + 1
    order = np.lexsort((values, labels))
    order = order[~np.isnan(values[order])]
    counts = np.bincount(labels[order], minlength=groups)
    ends = np.cumsum(counts)
    low = np.clip(ends - counts + (counts - 1) // 2, 0, max(order.size - 1, 0))
    high = low if lower else np.clip(ends - counts + counts // 2, 0, max(order.size - 1, 0))
    if order.size == 0:
        return np.full(groups, np.nan)
    picked = values[order]
    return np.asarray(np.where(counts > 0, (picked[low] + picked[high]) / 2.0, np.nan))


def group_modes(values: Floats, labels: Ints) -> Floats:
    """Most frequent present value of each group, the smallest of several; NaN where a group has none."""
    groups = int(labels.max()) + 1
    present = ~np.isnan(values)
    modes = np.full(groups, np.nan)
    if not present.any():
        return modes
    pairs, counts = np.unique(np.stack((labels[present].astype(float), values[present])), axis=1, return_counts=True)
    order = np.lexsort((-pairs[1], counts, pairs[0]))
    modes[pairs[0, order].astype(np.int64)] = pairs[1, order]  # of equal positions the last assignment stays
    return modes


def nearest_to_mean(x: Floats, labels: Ints) -> Ints:
    """The member nearest to its group's mean (for squared distances this is the medoid); ties: the smallest values."""
    means = np.stack([group_means(column, labels) for column in x.T], axis=1)
    distance = np.sum((x - means[labels]) ** 2, axis=1)
    order = np.lexsort((*x.T[::-1], distance, labels))
    _, first = np.unique(labels[order], return_index=True)
    return np.asarray(order[first], dtype=np.int64)


def mixed_medoids(columns: Floats, nominal: NDArray[np.bool_], labels: Ints, *, square: bool) -> Ints:
    """The member with the least sum of mixed distances to its group's members (see `kernels.gower`)."""
    order = np.lexsort((*np.nan_to_num(columns, nan=-1.0).T[::-1], labels))
    cuts = np.flatnonzero(np.diff(labels[order])) + 1
    medoids = []
    for rows in np.split(order, cuts):
        part = columns[rows]
        gone = np.isnan(part)
        with np.errstate(invalid="ignore"):
            apart = np.abs(part[:, None, :] - part[None, :, :])
        apart = np.where(nominal, (apart != 0).astype(float), apart)
        either, both = gone[:, None, :] | gone[None, :, :], gone[:, None, :] & gone[None, :, :]
        apart = np.where(both, 0.0, np.where(either, 1.0, apart))
        total = (apart**2 if square else apart).sum(axis=(1, 2))
        medoids.append(rows[int(np.argmin(total))])
    return np.asarray(medoids, dtype=np.int64)
