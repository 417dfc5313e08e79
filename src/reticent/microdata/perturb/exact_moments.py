# SPDX-License-Identifier: Apache-2.0
"""Means and covariances without rounding on the way: sums of exact fractions, the same for every order of the records.

A float is a whole number times a power of two. Cut into limbs of 20 bits, sums of products of up to 8,192 of them are
whole numbers below 2^53, so that fast matrix products of floats add them exactly; the rest is Python's integers.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.errors import DataError

_BITS = 20
_ROWS = 8192


def exact_moments(values: Floats) -> tuple[Floats, Floats]:
    """Mean vector and covariance matrix (divisor n) of complete records (n, d), each entry rounded once, at the end."""
    return moments_of_sums(len(values), *exact_sums(values))


def moments_of_sums(n: int, sums: list[Fraction], products: list[list[Fraction]]) -> tuple[Floats, Floats]:
    """The same from the sums over n complete records, which may come from several blocks."""
    d = len(sums)
    try:
        mean = np.array([float(total / n) for total in sums])
        covariance = np.empty((d, d))
        for i in range(d):
            for j in range(i + 1):
                centered = products[i][j] / n - sums[i] * sums[j] / (n * n)
                covariance[i, j] = covariance[j, i] = float(centered)
    except OverflowError:
        raise DataError("noise: the values are too large for a covariance; scale the variables down first.") from None
    return mean, covariance


def exact_sums(values: Floats) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Σ x_i and Σ x_i x_j of finite numbers, exactly; O(n · (d · limbs)²) with one to four limbs for most files."""
    if not np.isfinite(values).all():
        raise DataError("noise: a value is infinite; correct it first.")
    d = values.shape[1]
    top = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    firsts: dict[int, NDArray[np.object_]] = {}
    seconds: dict[int, NDArray[np.object_]] = {}
    for start in range(0, len(values), _ROWS):
        limbs = _limbs(values[start : start + _ROWS], top)
        stacked = np.concatenate(limbs, axis=1)
        gram = (stacked.T @ stacked).astype(np.int64).astype(object)
        totals = stacked.sum(axis=0).astype(np.int64).astype(object)
        for a in range(len(limbs)):
            firsts[a] = firsts.get(a, 0) + totals[a * d : (a + 1) * d]
            for b in range(len(limbs)):
                seconds[a + b] = seconds.get(a + b, 0) + gram[a * d : (a + 1) * d, b * d : (b + 1) * d]
    unit = Fraction(2) ** top
    sums = [Fraction(0)] * d
    products = [[Fraction(0)] * d for _ in range(d)]
    for place, row in firsts.items():
        weight = unit / 2 ** (_BITS * (place + 1))
        sums = [total + int(limb) * weight for total, limb in zip(sums, row, strict=True)]
    for place, table in seconds.items():
        weight = unit * unit / 2 ** (_BITS * (place + 2))
        for i in range(d):
            products[i] = [total + int(limb) * weight for total, limb in zip(products[i], table[i], strict=True)]
    return sums, products


def _limbs(values: Floats, top: int) -> list[Floats]:
    """Whole numbers l_0, l_1, … below 2^20 with values = Σ l_a 2^(top − 20 (a + 1)), exactly."""
    rest = values.copy()
    limbs: list[Floats] = []
    while not limbs or rest.any():
        place = top - _BITS * (len(limbs) + 1)
        limb = np.trunc(np.ldexp(rest, -place))
        rest -= np.ldexp(limb, place)
        limbs.append(limb)
    return limbs
