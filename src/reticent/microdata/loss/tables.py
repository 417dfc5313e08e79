# SPDX-License-Identifier: Apache-2.0
"""Loss of categorical variables: tables before and after, entropy that recoding or PRAM takes away.

Tables are arrays of counts with the same cells on both sides; a missing code has a cell of its own.
"""

from collections.abc import Sequence

import numpy as np

from reticent.base.arrays import Codes, Floats


def cross_counts(codes: Codes, levels: Sequence[int], weights: Floats | None = None) -> Floats:
    """Counts of all combinations, shape levels + 1 each (the last cell of an axis is missing)."""
    shape = tuple(level + 1 for level in levels)
    place = np.zeros(codes.shape[0], np.int64)
    for position, size in enumerate(shape):
        place = place * size + np.where(codes[:, position] < 0, size - 1, codes[:, position])
    return np.bincount(place, weights=weights, minlength=int(np.prod(shape))).astype(np.float64).reshape(shape)


def _shares(table: Floats) -> Floats:
    total = table.sum()
    return np.asarray(table / total if total > 0 else table)


def hellinger(a: Floats, b: Floats) -> float:
    """√(½ Σ (√p − √q)²), p and q the shares of the cells; between 0 and 1."""
    return float(np.sqrt(0.5 * np.sum((np.sqrt(_shares(a)) - np.sqrt(_shares(b))) ** 2)))


def jensen_shannon(a: Floats, b: Floats) -> float:
    """Jensen–Shannon divergence in bits (synthpop JSD); between 0 and 1."""
    p, q = _shares(a).ravel(), _shares(b).ravel()
    m = (p + q) / 2
    return float(max((_divergence(p, m) + _divergence(q, m)) / 2, 0.0))


def _divergence(p: Floats, q: Floats) -> float:
    use = p > 0
    return float(np.sum(p[use] * np.log2(p[use] / q[use])))


def absolute_differences(a: Floats, b: Floats) -> float:
    """Σ |a − b| over the cells (sdcMicro infoLoss "absD")."""
    return float(np.sum(np.abs(a - b)))


def relative_differences(a: Floats, b: Floats) -> float:
    """Mean of |a − b| / a over cells with a > 0 (sdcMicro infoLoss "relabsD")."""
    use = a > 0
    return float(np.mean(np.abs(a - b)[use] / a[use])) if use.any() else 0.0


def root_differences(a: Floats, b: Floats) -> float:
    """Σ |√a − √b| over the cells (sdcMicro infoLoss "abssqrtD")."""
    return float(np.sum(np.abs(np.sqrt(a) - np.sqrt(b))))


def voas_williamson(a: Floats, b: Floats) -> float:
    """Σ (b − e)² / e with e = c (a + b), c = n_b / (n_a + n_b), over (1 − c)² (synthpop VW): a chi-squared distance.

    When both files have n records this is Σ 2 (b − a)² / (a + b).
    """
    n_a, n_b = a.sum(), b.sum()
    c = n_b / (n_a + n_b)
    expected = c * (a + b)
    use = expected > 0
    return float(np.sum((b - expected)[use] ** 2 / expected[use]) / (1 - c) ** 2)


def table_pmse(a: Floats, b: Floats) -> float:
    """Propensity mean squared error of the saturated model of a table: VW · c (1 − c)² / N (synthpop)."""
    total = a.sum() + b.sum()
    c = b.sum() / total
    return float(voas_williamson(a, b) * c * (1 - c) ** 2 / total)


def cramers_v(table: Floats) -> float:
    """Cramér's V of a two-way table (rows and columns without counts left out)."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    least = min(table.shape) - 1
    total = table.sum()
    if least < 1 or total == 0:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    return float(np.sqrt(np.sum((table - expected) ** 2 / expected) / (total * least)))


def entropy(table: Floats) -> float:
    """Entropy in bits of the shares of a table."""
    p = _shares(table).ravel()
    p = p[p > 0]
    return float(-np.sum(p * np.log2(p)))


def entropy_loss(before: Codes, after: Codes, levels: tuple[int, int]) -> tuple[float, float]:
    """Entropy of the true code given the masked one: bits per record, and as a share of the entropy there was.

    For recoding this is what ARGUS reports: −Σ_i log2 p(v_i | v'_i) / n. For PRAM the joint distribution of true and
    masked codes in the file stands for the matrix (de Waal and Willenborg 1999).
    """
    joint = cross_counts(np.column_stack((before, after)).astype(np.int32), levels)
    bits = max(entropy(joint) - entropy(joint.sum(axis=0)), 0.0)
    whole = entropy(joint.sum(axis=1))
    return bits, bits / whole if whole > 0 else 0.0
