# SPDX-License-Identifier: Apache-2.0
"""How moments of z-score multiplicative noise relate to the true ones: (26) of Oganian (SORT 2011), corrected.

An analyst who knows k can undo the inflation of third and higher moments. In (24)-(26) and A the cross term is
((1+k) E[X_j X_l] / (E[X_j X_l] + k E[X_j] E[X_l]))^(p_j p_l) (errata 18 of the sources).
"""

from collections.abc import Callable, Mapping
from itertools import product
from math import comb, prod, sqrt

from reticent.base.doors import door

Powers = tuple[int, ...]


@door
def masked_moment(powers: Powers, original: Callable[[Powers], float], *, k: float) -> float:
    """E[Π X_m(j)^p_j] from the moments of the original data, given as a function of the powers."""
    return _inflation(powers, original, k=k) * sum(
        _term(powers, lower, original, k=k) for lower in product(*(range(p + 1) for p in powers))
    )


@door
def original_moments(masked: Mapping[Powers, float], *, k: float) -> dict[Powers, float]:
    """The original moments from masked ones: every power with total order 3 or more is corrected recursively.

    `masked` must hold all lower powers of each power in it; first and second moments are kept by the method.
    """
    known: dict[Powers, float] = {}
    for powers in sorted(masked, key=lambda p: (sum(p), p)):
        if sum(powers) <= 2:
            known[powers] = masked[powers]
            continue
        known[powers] = 0.0
        rest = sum(
            _term(powers, lower, known.__getitem__, k=k)
            for lower in product(*(range(p + 1) for p in powers))
            if lower != powers
        )
        scale = sqrt(1.0 + k) ** sum(powers)
        known[powers] = (masked[powers] / _inflation(powers, known.__getitem__, k=k) - rest) * scale
    return known


def _term(powers: Powers, lower: Powers, original: Callable[[Powers], float], *, k: float) -> float:
    """One summand of (25) without the factor A."""
    root = sqrt(1.0 + k)
    means = prod(
        comb(p, i) * original(_unit(len(powers), j)) ** (p - i)
        for j, (p, i) in enumerate(zip(powers, lower, strict=True))
        if p
    )
    return original(lower) * means * (root - 1.0) ** (sum(powers) - sum(lower)) / root ** sum(powers)


def _inflation(powers: Powers, original: Callable[[Powers], float], *, k: float) -> float:
    """The factor A: E[exp(Σ p_j E_j)] of the noise."""
    d = len(powers)
    value = 1.0
    for j in range(d):
        for other in range(j, d):
            exponent = powers[j] * (powers[j] - 1) // 2 if j == other else powers[j] * powers[other]
            if exponent == 0:
                continue
            second = original(_sum(_unit(d, j), _unit(d, other)))
            means = original(_unit(d, j)) * original(_unit(d, other))
            value *= ((1.0 + k) * second / (second + k * means)) ** exponent
    return value


def _unit(d: int, j: int) -> Powers:
    return tuple(int(index == j) for index in range(d))


def _sum(left: Powers, right: Powers) -> Powers:
    return tuple(a + b for a, b in zip(left, right, strict=True))
