"""Slow, obvious log-linear models: the whole table, iterative proportional fitting over all cells, loops for sums."""

import math
from itertools import product

import numpy as np


def fit(table: np.ndarray, edges) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Fit all one-way margins and the given two-way margins of a dense table."""
    q = table.ndim
    margins = [(v,) for v in range(q)] + [tuple(edge) for edge in edges]
    fitted = np.full(table.shape, table.sum() / table.size)
    for _ in range(2000):
        before = fitted.copy()
        for axes in margins:
            others = tuple(a for a in range(q) if a not in axes)
            now, target = fitted.sum(axis=others, keepdims=True), table.sum(axis=others, keepdims=True)
            fitted = fitted * np.divide(target, now, out=np.zeros_like(target), where=now > 0)
        if np.abs(fitted - before).max() < 1e-12 * table.sum():
            break
    return fitted


def standardized_bias(counts: np.ndarray, means: np.ndarray, pi: float) -> tuple[float, float]:
    """B1/√V1 and B2/√V2 from h, h', h'' by finite differences: −λe^(−πλ)h' and λe^(−πλ)h''/(2π) per cell."""
    sums = [0.0, 0.0, 0.0, 0.0]
    for index in product(*(range(size) for size in counts.shape)):
        f, mean = float(counts[index]), float(means[index])
        if mean <= 0:
            continue
        step = 1e-3 * mean
        for position, h in enumerate((lambda x: math.exp(-(1 - pi) * x), lambda x: _inverse((1 - pi) * x))):
            first = (h(mean + step) - h(mean - step)) / (2 * step)
            second = (h(mean + step) - 2 * h(mean) + h(mean - step)) / step**2
            a = -mean * math.exp(-pi * mean) * first
            b = mean * math.exp(-pi * mean) * second / (2 * pi)
            expected = pi * mean
            sums[2 * position] += a * (f - expected) + b * ((f - expected) ** 2 - f)
            sums[2 * position + 1] += a * a * expected + 2 * b * b * expected * expected
    return sums[0] / math.sqrt(sums[1]), sums[2] / math.sqrt(sums[3])


def _inverse(m: float) -> float:
    return -math.expm1(-m) / m
