# SPDX-License-Identifier: Apache-2.0
"""How many establishments a regression attack identifies, and how near it comes: the tables of SORT 35 (2011).

Ronning, Drechsler and others treat each record in turn as the target. Table 1: an artificial outlier made from the size;
table 2: from the interaction of size and federal state; table 3: strategic dummies from more and more knowledge. Rows are
the subsets above a quantile of the size; columns the number of records, the share that is uniquely identified, and Δ, the
mean of |ŷ − y| / y over all records of the subset and over those uniquely identified.
"""

from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.queries.attacks.regression import STATES, Firms, outlier_attack

QUANTILES = (None, 0.5, 0.75, 0.9, 0.99)
EPSILON = 1e-4
NEAR = 0.025


@dataclass(frozen=True)
class RiskRow:
    """One row of a table; `quantile` is None for all records, `error_unique` None where nobody is unique."""

    quantile: float | None
    indicators: str
    n: int
    unique: float
    error_all: float
    error_unique: float | None


def table_1(firms: Firms) -> list[RiskRow]:
    """Artificial outliers from the size."""
    return _rows(firms, "size", *_outliers(firms.size, firms.turnover))


def table_2(firms: Firms) -> list[RiskRow]:
    """Artificial outliers from the interaction of size and state: a number that is different for each pair."""
    return _rows(firms, "size * fed. state", *_outliers(firms.size * STATES + firms.state, firms.turnover))


def table_3(firms: Firms) -> list[RiskRow]:
    """Strategic dummies: the exact size, the size within ± 2.5 %, and that with more and more codes."""
    none = np.zeros(len(firms.size), dtype=np.int64)
    by_state = firms.state
    by_form = by_state * (int(firms.form.max()) + 1) + firms.form
    by_branch = by_form * (int(firms.branch.max()) + 1) + firms.branch
    found = [
        ("exact size", none, 0.0),
        ("approx. size", none, NEAR),
        ("+ federal state", by_state, NEAR),
        ("+ legal form", by_form, NEAR),
        ("+ branch", by_branch, NEAR),
    ]
    tables = [_rows(firms, label, *_dummies(firms, group, width)) for label, group, width in found]
    return [row for rows in zip(*tables) for row in rows]


def _outliers(x: Floats, y: Floats) -> tuple[Mask, Floats]:
    """Who is unique in x, and the fitted value of each record as target; records alike in x share an outlier."""
    distinct, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    fitted = [outlier_attack(x, y, guess=float(guess), epsilon=EPSILON) or 0.0 for guess in distinct]
    return counts[place] == 1, np.array(fitted)[place]


def _dummies(firms: Firms, group: Ints, width: float) -> tuple[Mask, Floats]:
    """Who is the only one in their group within ± width of their size, and the mean response of those that are there."""
    matches = np.empty(len(group), dtype=np.int64)
    means = np.empty(len(group))
    order = np.lexsort((firms.size, group))
    for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        size = firms.size[part]
        total = np.concatenate(([0.0], np.cumsum(firms.turnover[part])))
        low = np.searchsorted(size, size * (1 - width), "left")
        high = np.searchsorted(size, size * (1 + width), "right")
        matches[part] = high - low
        means[part] = (total[high] - total[low]) / (high - low)
    # a mean of one value is that value: the difference of two running totals has rounding in it
    return matches == 1, np.where(matches == 1, firms.turnover, means)


def _rows(firms: Firms, indicators: str, unique: Mask, fitted: Floats) -> list[RiskRow]:
    error = np.abs(fitted - firms.turnover) / firms.turnover
    found = []
    for quantile in QUANTILES:
        inside = (
            np.ones(len(error), dtype=bool) if quantile is None else firms.size >= np.quantile(firms.size, quantile)
        )
        alone = inside & unique
        own = float(error[alone].mean()) if bool(alone.any()) else None
        share = float(unique[inside].mean())
        found.append(RiskRow(quantile, indicators, int(inside.sum()), share, float(error[inside].mean()), own))
    return found
