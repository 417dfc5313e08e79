# SPDX-License-Identifier: Apache-2.0
"""Interval disclosure: does a narrow interval around a masked number hold the true one?

Sources: rank intervals, Domingo-Ferrer and Torra (2001); intervals in standard deviations, as in sdcMicro's `dRisk`; the
attack on individual ranking (the value lies between the means of the neighbouring groups).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from reticent.base.checks import check_between
from reticent.base.errors import DataError

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
OWNER = "interval disclosure"


@dataclass(frozen=True)
class IntervalDisclosure:
    """Which true values lie in the interval around the masked ones."""

    kind: str
    width: float
    inside: Truths = field(repr=False)

    @property
    def share(self) -> float:
        """Share of values inside, over all variables."""
        return float(self.inside.mean())

    @property
    def by_variable(self) -> tuple[float, ...]:
        """Share of values inside, per variable."""
        return tuple(float(share) for share in self.inside.mean(axis=0))

    @property
    def records(self) -> float:
        """Share of records with all variables inside (the measure of `dRisk`)."""
        return float(self.inside.all(axis=1).mean())

    def summary(self) -> dict[str, Any]:
        """The shares."""
        return {"kind": self.kind, "width": self.width, "share": self.share, "records": self.records}


def _pair(original: npt.ArrayLike, masked: npt.ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(original, dtype=np.float64), np.asarray(masked, dtype=np.float64)
    x, y = (a[:, None] if a.ndim == 1 else a for a in (x, y))
    if x.shape != y.shape:
        raise DataError(f"{OWNER}: the files must have the same records and variables, got {x.shape} and {y.shape}.")
    if not x.size:
        raise DataError(f"{OWNER}: there are no values.")
    return x, y


def rank_intervals(original: npt.ArrayLike, masked: npt.ArrayLike, *, percent: float) -> IntervalDisclosure:
    """Intervals of ranks of the masked file that span `percent` of its records around the masked value.

    With n records the ranks reach percent·n/200 to either side of the (mean) rank of the masked value; they are turned
    back into the masked values of these ranks. Missing values are outside.
    """
    check_between(percent, 0, 100, name="percent", owner=OWNER)
    x, y = _pair(original, masked)
    inside = np.zeros(x.shape, dtype=bool)
    for column in range(x.shape[1]):
        known = ~(np.isnan(x[:, column]) | np.isnan(y[:, column]))
        values = y[known, column]
        if not values.size:
            continue
        ordered = np.sort(values)
        _, place, alike = np.unique(values, return_inverse=True, return_counts=True)
        rank = (np.cumsum(alike) - (alike + 1) / 2.0)[place]  # values that are alike share the middle of their ranks
        reach = percent * values.size / 200.0
        low = ordered[np.clip(np.ceil(rank - reach), 0, values.size - 1).astype(np.int64)]
        high = ordered[np.clip(np.floor(rank + reach), 0, values.size - 1).astype(np.int64)]
        true = x[known, column]
        inside[known, column] = (np.minimum(low, values) <= true) & (true <= np.maximum(high, values))
    return IntervalDisclosure("rank", percent, inside)


def deviation_intervals(original: npt.ArrayLike, masked: npt.ArrayLike, *, k: float = 0.05) -> IntervalDisclosure:
    """Intervals of ± k standard deviations of the masked variable around the masked value; missing values are outside.

    sdcMicro counts a missing value as inside; that would call a suppressed value disclosed.
    """
    check_between(k, 0, float("inf"), name="k", owner=OWNER)
    x, y = _pair(original, masked)
    spread = np.array([np.std(column[~np.isnan(column)], ddof=1) if (~np.isnan(column)).sum() > 1 else 0.0
                       for column in y.T])  # fmt: skip
    with np.errstate(invalid="ignore"):
        inside = np.abs(x - y) <= k * spread
    return IntervalDisclosure("deviation", k, inside)


@dataclass(frozen=True)
class RankingAttack:
    """What individual ranking reveals for one variable."""

    covered: float
    median_width: float
    narrow_share: float
    percent: float
    groups: int

    def summary(self) -> dict[str, Any]:
        """The numbers."""
        return dict(vars(self))


def ranking_attack(original: npt.ArrayLike, masked: npt.ArrayLike, *, percent: float = 10.0) -> RankingAttack:
    """Attack one variable masked by individual ranking: a value lies between the means of the groups beside its own.

    `covered` is the share of true values in that interval, `median_width` its width in standard deviations of the
    masked variable, `narrow_share` the share of values covered by an interval within ±percent % of the true value.
    """
    check_between(percent, 0, 100, name="percent", owner=OWNER)
    x, y = _pair(original, masked)
    if x.shape[1] != 1:
        raise DataError(f"{OWNER}: the attack on individual ranking takes one variable at a time.")
    known = ~(np.isnan(x[:, 0]) | np.isnan(y[:, 0]))
    true, value = x[known, 0], y[known, 0]
    if not true.size:
        raise DataError(f"{OWNER}: every value is missing.")
    means, place = np.unique(value, return_inverse=True)
    low = np.concatenate(([-np.inf], means[:-1]))[place]
    high = np.concatenate((means[1:], [np.inf]))[place]
    covered = (low <= true) & (true <= high)
    reach = percent / 100.0 * np.abs(true)
    narrow = covered & (low >= true - reach) & (high <= true + reach)
    spread = float(value.std()) or 1.0
    return RankingAttack(
        float(covered.mean()), float(np.median(high - low)) / spread, float(narrow.mean()), percent, int(means.size)
    )
