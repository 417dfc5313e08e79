# SPDX-License-Identifier: Apache-2.0
"""The value of a response that most of a stratum have, and which responses reveal who has another one.

Hardly one of the few dropped records has another value, so that a near pair reveals more of it. An amount, a flag for it and its
code are one secret: what was answered about one of them is measured for all.
"""

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask

MOST = 0.5
EXPLAINED = 0.25
"""Four pairs of a response that explains less than this of another reveal less of it than one pair of its own."""


def allowed_share(values: Floats, stratum: Ints) -> float:
    """The share of the allowed pairs: the variance of having the most common value of a stratum, by ¼."""
    there = ~np.isnan(values)
    counts = _alike(values[there], stratum[there])[2]
    usual = float(counts.max(initial=0))
    return 4 * usual * (1 - usual) if usual > MOST else 1.0


def reveals(told: Floats, values: Floats, stratum: Ints) -> bool:
    """Whether an answered response explains much of who has another value than most of a stratum, in any stratum."""
    there = ~(np.isnan(told) | np.isnan(values))
    told, stratum = told[there], stratum[there]
    unusual = _unusual(values[there], stratum).astype(np.float64)
    forms = (told, _unusual(told, stratum).astype(np.float64))
    return any(bool((_explained(form, unusual, stratum) >= EXPLAINED).any()) for form in forms)


def _alike(values: Floats, stratum: Ints) -> tuple[Ints, Ints, Floats]:
    """The group of equal values of a stratum that each record is in, the strata of these groups, and their parts of them."""
    code = np.unique(values, return_inverse=True)[1].reshape(-1)
    n = len(code) + 1
    groups, own, counts = np.unique(stratum.astype(np.int64) * n + code, return_inverse=True, return_counts=True)
    strata = groups // n
    return own.reshape(-1), strata, counts / np.bincount(strata, weights=counts)[strata]


def _unusual(values: Floats, stratum: Ints) -> Mask:
    """Who has another value than the most common one of the stratum."""
    own, strata, parts = _alike(values, stratum)
    best = np.lexsort((-parts, strata))
    first = best[np.unique(strata[best], return_index=True)[1]]
    return ~np.isin(own, first)


def _explained(one: Floats, other: Floats, stratum: Ints) -> Floats:
    """The squared correlation in each stratum; 0 where one of the two does not vary."""
    sizes = np.maximum(np.bincount(stratum), 1)

    def centred(values: Floats) -> Floats:
        scaled = values / max(float(np.abs(values).max(initial=0)), 1.0)
        apart: Floats = scaled - (np.bincount(stratum, weights=scaled) / sizes)[stratum]
        return apart

    a, b = centred(one), centred(other)
    squares, products = [np.bincount(stratum, weights=own) for own in (a * a, b * b)], a * b
    both = squares[0] * squares[1]
    found: Floats = np.bincount(stratum, weights=products) ** 2 / np.where(both > 0, both, np.inf)
    return found
