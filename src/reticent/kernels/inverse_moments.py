# SPDX-License-Identifier: Apache-2.0
"""Expected 1/F of a cell given its sample count: negative binomial and Poisson, without cancellation anywhere.

Both integrals obey a two-term recurrence; each is run in the direction in which rounding errors shrink.
"""

import numpy as np
from numba import njit

SERIES_FROM = 16  # from this count on the hypergeometric series needs at most about 80 terms for every p
EPSILON = 1e-17


@njit(cache=True)
def negative_binomial_inverse(counts: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """E[1/F | f] = p ∫ u^(f−1)/(p+qu) du = (p/f)·₂F₁(1,1;f+1;q) for int64 counts ≥ 1 and p in (0, 1]; O(80) each.

    With I_f the integral, q·I_(f+1) + p·I_f = 1/f. For p ≤ 1/2 the upward recurrence damps errors by p/q a step; for
    larger p, and for counts that make every term small, the series of positive terms i!·q^i/((f+1)…(f+i)) is summed.
    """
    result = np.empty(counts.size, dtype=np.float64)
    for j in range(counts.size):
        f, p = counts[j], shares[j]
        q = 1.0 - p
        if f < SERIES_FROM and p <= 0.5:
            integral = -np.log(p) / q
            for i in range(1, f):
                integral = (1.0 / i - p * integral) / q
            result[j] = p * integral
        else:
            term, total, i = 1.0, 1.0, 0
            while term > EPSILON * total:
                i += 1
                term *= i * q / (f + i)
                total += term
            result[j] = p / f * total
    return result


@njit(cache=True)
def poisson_inverse(counts: np.ndarray, means: np.ndarray) -> np.ndarray:
    """E[1/(f+X)], X ~ Poisson(μ), for int64 counts ≥ 1 and μ ≥ 0; O(min(f, μ) + √f) each, so O(n) over a file.

    With J_f the value, f·J_f + μ·J_(f+1) = 1: upward from J_1 = (1−e^−μ)/μ while f ≤ μ, downward from far out else.
    """
    result = np.empty(counts.size, dtype=np.float64)
    for j in range(counts.size):
        f, mu = counts[j], means[j]
        if f <= mu:
            value = -np.expm1(-mu) / mu
            for i in range(1, f):
                value = (1.0 - i * value) / mu
        else:
            value, shrink, far = 0.0, 1.0, f
            while shrink > EPSILON and far < f + 100_000:
                shrink *= mu / far
                far += 1
            value = 1.0 / (far + mu)
            for i in range(far - 1, f - 1, -1):
                value = (1.0 - mu * value) / i
        result[j] = value
    return result
