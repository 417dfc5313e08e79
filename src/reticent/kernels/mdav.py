# SPDX-License-Identifier: Apache-2.0
"""Distance-driven partitions into groups of k to 2k − 1 records: MDAV, V-MDAV and CBFS on standardised numbers.

All three look for the record farthest from a centre and build a group around it; time grows like n²·d/k, memory like
n·d. Coordinates are kept one variable after the other, and taken records are moved out of the way, so that each pass
is a straight run over what is left. Ties go to the record that comes first in the run.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Mask
from reticent.kernels.gower import mixed_centre, mixed_distances


@njit(cache=True, nogil=True)
def _distances(columns: Floats, left: int, point: Floats, out: Floats) -> None:
    """Squared distances of the first `left` records (columns of shape (d, n)) to a point."""
    for i in range(left):
        out[i] = 0.0
    for c in range(columns.shape[0]):
        p = point[c]
        for i in range(left):
            diff = columns[c, i] - p
            out[i] += diff * diff


@njit(cache=True, nogil=True)
def _farthest(values: Floats, left: int) -> int:
    """Position of the largest of the first `left` values."""
    at = 0
    for i in range(1, left):
        if values[i] > values[at]:
            at = i
    return at


@njit(cache=True, nogil=True)
def _nearest(values: Floats, left: int, k: int, out: Ints) -> None:
    """Positions of the k smallest of the first `left` values, nearest first, into out[:k]; O(left + k² log left)."""
    count = 0
    for i in range(left):
        if count == k and values[i] >= values[out[k - 1]]:
            continue
        at = count if count < k else k - 1
        while at > 0 and values[out[at - 1]] > values[i]:
            out[at] = out[at - 1]
            at -= 1
        out[at] = i
        if count < k:
            count += 1


@njit(cache=True, nogil=True)
def _take(columns: Floats, ids: Ints, left: int, chosen: Ints, count: int, labels: Ints, group: int) -> int:
    """Give the chosen positions a label and move them behind the first `left` records; returns what is left."""
    order = np.sort(chosen[:count])
    for at in range(count - 1, -1, -1):
        position = order[at]
        labels[ids[position]] = group
        left -= 1
        ids[position] = ids[left]
        for c in range(columns.shape[0]):
            columns[c, position] = columns[c, left]
    return left


@njit(cache=True, nogil=True)
def _centre(columns: Floats, left: int) -> Floats:
    """Mean of the first `left` records."""
    out = np.zeros(columns.shape[0])
    for c in range(columns.shape[0]):
        total = 0.0
        for i in range(left):
            total += columns[c, i]
        out[c] = total / left
    return out


@njit(cache=True, nogil=True)
def _distances_to(columns: Floats, nominal: Mask, square: bool, left: int, point: Floats, out: Floats) -> None:
    """Squared distances of plain numbers (`nominal` is empty), or those of mixed records."""
    if nominal.size:
        mixed_distances(columns, nominal, square, left, point, out)
    else:
        _distances(columns, left, point, out)


@njit(cache=True, nogil=True)
def mdav_mixed(x: Floats, nominal: Mask, square: bool, k: int) -> Ints:
    """Group number of every mixed record (rows of x) by MDAV's steps with the distance of `gower.mixed_distances`."""
    n, d = x.shape
    labels = np.zeros(n, np.int64)
    columns = np.empty((d, n))
    for i in range(n):
        for c in range(d):
            columns[c, i] = x[i, c]
    ids = np.arange(n)
    values = np.empty(n)
    chosen = np.empty(k, np.int64)
    left, group = n, 0
    while left >= 2 * k:
        centre = mixed_centre(columns, nominal, left) if nominal.size else _centre(columns, left)
        _distances_to(columns, nominal, square, left, centre, values)
        r = _farthest(values, left)
        _distances_to(columns, nominal, square, left, columns[:, r].copy(), values)
        both = left >= 3 * k
        opposite = columns[:, _farthest(values, left)].copy()
        _nearest(values, left, k, chosen)
        left = _take(columns, ids, left, chosen, k, labels, group)
        group += 1
        if both:
            _distances_to(columns, nominal, square, left, opposite, values)
            _nearest(values, left, k, chosen)
            left = _take(columns, ids, left, chosen, k, labels, group)
            group += 1
    for i in range(left):
        labels[ids[i]] = group
    return labels


@njit(cache=True, nogil=True)
def mdav(x: Floats, k: int) -> Ints:
    """Group number of every record by maximum distance to the average vector; O(n²·d/k).

    Domingo-Ferrer and Torra (2005), the generic algorithm: while at least 3k records are left, take the record r
    farthest from their mean and the record s farthest from r, and group each with its k − 1 nearest; with 2k to
    3k − 1 left one more group around r; the k to 2k − 1 that remain are the last group.
    """
    labels: Ints = mdav_mixed(x, np.empty(0, np.bool_), True, k)
    return labels


@njit(cache=True, nogil=True)
def _nearest_group(x: Floats, i: int, labels: Ints, sums: Floats, sizes: Ints, groups: int) -> int:
    """The group whose mean is nearest to record i."""
    best, at = np.inf, 0
    for g in range(groups):
        total = 0.0
        for c in range(x.shape[1]):
            diff = x[i, c] - sums[g, c] / sizes[g]
            total += diff * diff
        if total < best:
            best, at = total, g
    return at


@njit(cache=True, nogil=True)
def _join_rest(x: Floats, rest: Ints, labels: Ints, groups: int) -> None:
    """Give every record of `rest` to the group with the nearest mean (means as they were before)."""
    sums = np.zeros((groups, x.shape[1]))
    sizes = np.zeros(groups, np.int64)
    for i in range(x.shape[0]):
        g = labels[i]
        if g >= 0:
            sizes[g] += 1
            for c in range(x.shape[1]):
                sums[g, c] += x[i, c]
    for at in range(rest.size):
        labels[rest[at]] = _nearest_group(x, rest[at], labels, sums, sizes, groups)


@njit(cache=True, nogil=True)
def _extend(
    columns: Floats, left: int, reach: Floats, size: int, limit: int, gain: float, chosen: Ints, out: Floats
) -> int:
    """V-MDAV's growth: add the nearest outside record while it is nearer to the group than gain × to any other.

    `reach[i]` is the squared distance of outside record i to the group's nearest member; members have reach −1.
    """
    while size < limit:
        near = -1
        for i in range(left):
            if reach[i] >= 0.0 and (near < 0 or reach[i] < reach[near]):
                near = i
        if near < 0:
            return size
        _distances(columns, left, columns[:, near].copy(), out)
        outside = np.inf
        for i in range(left):
            if i != near and reach[i] >= 0.0 and out[i] < outside:
                outside = out[i]
        if not np.sqrt(reach[near]) < gain * np.sqrt(outside):
            return size
        chosen[size] = near
        size += 1
        reach[near] = -1.0
        for i in range(left):
            if reach[i] > out[i]:
                reach[i] = out[i]
    return size


@njit(cache=True, nogil=True)
def vmdav(x: Floats, k: int, gain: float) -> Ints:
    """Group numbers by V-MDAV; sizes can pass 2k − 1 where leftovers join, the caller splits those. O(n²·d/k).

    Solanas and Martínez-Ballesté (2006): groups of k around the record farthest from the overall mean; a group grows
    to at most 2k − 1 by an outside record that is nearer to it than `gain` times its distance to other outsiders.
    """
    n = x.shape[0]
    labels = np.full(n, -1, np.int64)
    columns = np.ascontiguousarray(x.T)
    ids = np.arange(n)
    middle = _centre(columns, n)
    values, reach, scratch = np.empty(n), np.empty(n), np.empty(n)
    chosen = np.empty(2 * k, np.int64)
    left, group = n, 0
    while left >= k:
        _distances(columns, left, middle, values)
        r = _farthest(values, left)
        _distances(columns, left, columns[:, r].copy(), values)
        _nearest(values, left, k, chosen)
        for i in range(left):
            reach[i] = values[i]
        for at in range(k):
            reach[chosen[at]] = -1.0
        for at in range(1, k):
            _distances(columns, left, columns[:, chosen[at]].copy(), scratch)
            for i in range(left):
                if reach[i] > scratch[i]:
                    reach[i] = scratch[i]
        size = _extend(columns, left, reach, k, 2 * k - 1, gain, chosen, scratch)
        left = _take(columns, ids, left, chosen, size, labels, group)
        group += 1
    _join_rest(x, ids[:left].copy(), labels, group)
    return labels


@njit(cache=True, nogil=True)
def cbfs(x: Floats, k: int) -> Ints:
    """Group numbers by centroid-based fixed size; leftovers join the nearest group (the caller splits). O(n²·d/k).

    Laszlo and Mukherjee (2005): around the record farthest from the mean of the ungrouped records, add k − 1 times
    the ungrouped record nearest to the group's current mean.
    """
    n, d = x.shape
    labels = np.full(n, -1, np.int64)
    columns = np.ascontiguousarray(x.T)
    ids = np.arange(n)
    values = np.empty(n)
    one = np.empty(1, np.int64)
    left, group = n, 0
    while left >= k:
        _distances(columns, left, _centre(columns, left), values)
        one[0] = _farthest(values, left)
        total = np.zeros(d)
        for size in range(k):
            for c in range(d):
                total[c] += columns[c, one[0]]
            left = _take(columns, ids, left, one, 1, labels, group)
            if size < k - 1:
                _distances(columns, left, total / (size + 1), values)
                _nearest(values, left, 1, one)
        group += 1
    _join_rest(x, ids[:left].copy(), labels, group)
    return labels
