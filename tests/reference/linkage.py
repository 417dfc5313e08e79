"""Slow, obvious linkage: loops over all pairs."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def squared_distance(x: Sequence[float], q: Sequence[float], nominal: Sequence[bool], absent: Sequence[float]) -> float:
    """Sum over coordinates; a missing coordinate of the query adds nothing, one of the record adds `absent`."""
    total = 0.0
    for a, b, is_nominal, gone in zip(x, q, nominal, absent):
        if math.isnan(b):
            continue
        if math.isnan(a):
            total += gone
        elif is_nominal:
            total += a != b
        else:
            total += (a - b) ** 2
    return total


def credits(original, masked, nominal, absent) -> list[float]:  # type: ignore[no-untyped-def]
    """1/ties where nobody is nearer than the record at the same position, else 0."""
    result = []
    for i, q in enumerate(masked):
        distances = [squared_distance(x, q, nominal, absent) for x in original]
        own = distances[i]
        nearer = sum(d < own * (1 - 1e-9) for d in distances)
        ties = sum(own * (1 - 1e-9) <= d <= own * (1 + 1e-9) for d in distances)
        result.append(0.0 if nearer else 1.0 / ties)
    return result


def agreement_counts(left, right) -> list[int]:  # type: ignore[no-untyped-def]
    """Agreement patterns of all pairs, one pair after the other; a missing value (−1) agrees with nothing."""
    q = len(left[0])
    counts = [0] * (1 << q)
    for a in left:
        for b in right:
            counts[sum((a[j] == b[j] and a[j] >= 0) << j for j in range(q))] += 1
    return counts


def best_masks(left, right, order) -> list[tuple[int, int]]:  # type: ignore[no-untyped-def]
    """For each right record the pattern of its best pairs (first in `order`) and how many pairs have it."""
    q = len(left[0])
    result = []
    for b in right:
        masks = [sum((a[j] == b[j] and a[j] >= 0) << j for j in range(q)) for a in left]
        best = min(masks, key=order.index)
        result.append((best, masks.count(best)))
    return result


def gower_distances(original: npt.ArrayLike, masked: npt.ArrayLike) -> Floats:
    """Mean absolute difference of numeric variables in units of their range over both files, masked × original."""
    x, y = np.asarray(original, dtype=np.float64), np.asarray(masked, dtype=np.float64)
    both = np.vstack([x, y])
    spread = both.max(axis=0) - both.min(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return np.asarray(np.abs((y[:, None, :] - x[None, :, :]) / spread).mean(axis=2))
