"""Intervals of statistics over a hull: exact for linear ones, valid outer bounds for the others, rounded outward."""

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reticent.queries.camouflage.hulls import BlockHull, CommonHull

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Interval = tuple[float, float]
SLACK = 1e-11


def outward(interval: Interval, unit: float) -> Interval:
    """The smallest interval of multiples of `unit` that surely holds the given one, float noise included."""
    low, high = interval
    noise = SLACK * max(1.0, abs(low), abs(high))
    return math.floor((low - noise) / unit) * unit, math.ceil((high + noise) / unit) * unit


def sum_interval(hull: CommonHull | BlockHull, rows: Integers) -> Interval:
    """Range of a sum."""
    return hull.linear_range(rows, np.ones(len(rows)))


def mean_interval(hull: CommonHull | BlockHull, rows: Integers) -> Interval:
    """Range of a mean."""
    return hull.linear_range(rows, np.full(len(rows), 1.0 / len(rows)))


def quantile_interval(hull: CommonHull | BlockHull, rows: Integers, share: float) -> Interval:
    """Outer bounds of a quantile: order statistics grow with every value, so the ends give bounds."""
    return float(np.quantile(hull.lowest[rows], share)), float(np.quantile(hull.highest[rows], share))


def variance_interval(hull: CommonHull | BlockHull, rows: Integers) -> Interval:
    """Bounds of the sample variance (n − 1): from the values' own ranges, and exactly over the simplex of a common hull."""
    box = _box_variance(hull.lowest[rows], hull.highest[rows])
    if isinstance(hull, BlockHull):
        return box
    centred = hull.vectors[:, rows] - hull.vectors[:, rows].mean(axis=1, keepdims=True)
    gram = centred @ centred.T / (len(rows) - 1)
    low, high = max(0.0, least_quadratic(gram)), float(np.diag(gram).max())
    return max(low, box[0]), min(high, box[1])


def least_quadratic(gram: Floats) -> float:
    """min λ'Gλ over the simplex, G positive semidefinite: the optimum of some face, so try every face (k is small)."""
    k = len(gram)
    best = float(np.diag(gram).min())
    for size in range(2, k + 1):
        for face in combinations(range(k), size):
            part = gram[np.ix_(face, face)]
            system = np.block([[2 * part, np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            weights = np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0][:size]
            if bool((weights >= -1e-9).all()):
                weights = np.maximum(weights, 0) / np.maximum(weights, 0).sum()
                best = min(best, float(weights @ part @ weights))
    # a numerically singular face can be missed by a little; the slack keeps the bound valid
    return best - 1e-9 * float(np.abs(gram).max(initial=0.0))


def _box_variance(low: Floats, high: Floats) -> Interval:
    """For any c: Σ dist(c, [l, u])² at its least ≤ (n − 1)·variance ≤ Σ max((l − c)², (u − c)²)."""
    n = len(low)
    c = float((low + high).mean() / 2)
    upper = float(np.maximum((low - c) ** 2, (high - c) ** 2).sum()) / (n - 1)
    left, right = float(low.min()), float(high.max())
    for _ in range(100):  # the distance is convex in c
        a, b = left + (right - left) / 3, right - (right - left) / 3
        if _distance(a, low, high) <= _distance(b, low, high):
            right = b
        else:
            left = a
    lower = _distance((left + right) / 2, low, high) / (n - 1)
    return max(0.0, lower * (1 - 1e-9)), upper


def _distance(c: float, low: Floats, high: Floats) -> float:
    return float((np.maximum(np.maximum(low - c, c - high), 0.0) ** 2).sum())


def regression_intervals(hull: CommonHull | BlockHull, rows: Integers, design: Floats) -> list[Interval]:
    """Range of each least-squares coefficient when the predictors are known: linear in the response, so exact."""
    weights = np.linalg.pinv(design)
    return [hull.linear_range(rows, weights[j]) for j in range(design.shape[1])]


def ratio_interval(top: Interval, bottom: Interval) -> Interval | None:
    """Bounds of a ratio of two confidential sums; None if the divisor may be zero."""
    if bottom[0] <= 0 <= bottom[1]:
        return None
    ends = [t / b for t in top for b in bottom]
    return min(ends), max(ends)
