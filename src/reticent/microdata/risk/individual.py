# SPDX-License-Identifier: Apache-2.0
"""Individual risk: the expected 1/F of the key group of a record, given what the sample shows; and its sum over a file.

Sources: Benedetti and Franconi (1998), Franconi and Polettini (2004) for the negative-binomial model that mu-ARGUS
uses; Skinner and Holmes (1998) for the Poisson model. Peers' variants are here for comparison, under their own names.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from reticent.base.checks import check_between, check_choice, check_integer
from reticent.base.errors import DataError
from reticent.kernels.inverse_moments import negative_binomial_inverse, poisson_inverse

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

OWNER = "individual risk"


def _shares(counts: Integers, population: Floats) -> Floats:
    """p = f/F̂, never above 1: a weight sum below the count says that the whole group is in the sample."""
    return np.minimum(1.0, counts / population)


def _negative_binomial(counts: Integers, population: Floats) -> Floats:
    return np.asarray(negative_binomial_inverse(counts, _shares(counts, population)))


def _poisson(counts: Integers, population: Floats) -> Floats:
    return np.asarray(poisson_inverse(counts, np.maximum(population - counts, 0.0)))


def _reciprocal(counts: Integers, population: Floats) -> Floats:
    return 1.0 / counts


def _sdcmicro_approx(counts: Integers, population: Floats) -> Floats:
    """Exact for f ≤ 2, p/(f − (1−p)) from 3 on: up to 4.0 % too high at f = 3."""
    p = _shares(counts, population)
    exact = negative_binomial_inverse(np.minimum(counts, 2), p)
    return np.where(counts <= 2, exact, p / (counts - (1.0 - p)))


def _mu_argus_series(counts: Integers, population: Floats) -> Floats:
    """Exact for f ≤ 3, the series cut after its term of order 7 from 4 on: up to 0.6 % too low at f = 4."""
    p = _shares(counts, population)
    term = np.ones_like(p)
    total = np.ones_like(p)
    for i in range(1, 8):
        term = term * i * (1.0 - p) / (counts + i)
        total += term
    exact = negative_binomial_inverse(np.minimum(counts, 3), p)
    return np.where(counts <= 3, exact, p / counts * total)


MODELS: dict[str, Callable[[Integers, Floats], Floats]] = {
    "negative-binomial": _negative_binomial,
    "poisson": _poisson,
    "sample-only": _reciprocal,
    "sdcmicro-approx": _sdcmicro_approx,
    "mu-argus-series": _mu_argus_series,
}


def record_risk(
    sample_counts: npt.ArrayLike, population_counts: npt.ArrayLike, *, model: str = "negative-binomial"
) -> Floats:
    """The expected 1/F of every group, from its sample count f and its estimated population count F̂ (sum of weights).

    Notes
    -----
    Negative binomial, p = f/F̂, q = 1 − p: r = (p/f)·₂F₁(1,1;f+1;q). f = 1: (p/q)·ln(1/p); f = 2: p/q − (p/q)²·ln(1/p).
    Poisson, μ = F̂ − f: r = E[1/(f + X)], X ~ Poisson(μ). Where F̂ ≤ f the group is all there: r = 1/f.

    Examples
    --------
    >>> record_risk([1, 3], [45.5, 108.0]).round(8).tolist()
    [0.08579129, 0.01355297]
    """
    check_choice(model, tuple(MODELS), name="model", owner=OWNER)
    counts = np.ascontiguousarray(sample_counts, dtype=np.int64)
    population = np.ascontiguousarray(population_counts, dtype=np.float64)
    if counts.shape != population.shape:
        raise DataError(f"{OWNER}: there are {counts.size} sample counts but {population.size} population counts.")
    if counts.size and counts.min() < 1:
        raise DataError(f"{OWNER}: a group without records has no risk; every sample count must be at least 1.")
    check_weights(population, owner=OWNER)
    return MODELS[model](counts, population)


def check_weights(weights: Floats, *, owner: str) -> None:
    """Refuse weights (or sums of them) that are missing, infinite, zero or negative; says how many, not which."""
    bad = int(np.count_nonzero(~(np.isfinite(weights) & (weights > 0))))
    if bad:
        raise DataError(
            f"{owner}: every weight must be a number above 0; {bad} of {weights.size} are missing, infinite, zero or "
            "negative. Correct them, or leave the weight variable out."
        )


@dataclass(frozen=True)
class IndividualRisk:
    """The risk of every record under one model, and what it means for the file."""

    model: str
    risk: Floats = field(repr=False)
    sample_counts: Integers = field(repr=False)
    population_counts: Floats = field(repr=False)
    copies: Integers | None = field(default=None, repr=False, compare=False)
    """How many records each entry stands for (none: one)."""

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.risk.size if self.copies is None else self.copies.sum())

    @property
    def expected_reidentifications(self) -> float:
        """Σ r over records: how many correct matches an attacker who tries them all expects."""
        return float(self.risk.sum() if self.copies is None else self.risk @ self.copies)

    @property
    def file_risk(self) -> float:
        """Σ r / n: the expected rate of correct matches."""
        return self.expected_reidentifications / self.n_records if self.risk.size else 0.0

    def records_above(self, limit: float) -> int:
        """How many records have a risk above the limit."""
        above = self.risk > limit
        return int(above.sum() if self.copies is None else self.copies[above].sum())

    def at_risk(self, threshold: float) -> npt.NDArray[np.bool_]:
        """The records whose risk is above the threshold."""
        check_between(threshold, 0, 1, name="threshold", owner=OWNER)
        return self.risk > threshold

    def threshold_for(self, rate: float) -> float:
        """The highest cap on the risk of a record that brings the file to `rate` (see `rate_threshold`)."""
        return rate_threshold(self.by_record(), rate=rate)

    def histogram(self, *, bins: int = 40) -> tuple[dict[str, float], ...]:
        """Counts by classes of log10 risk, with how many records and expected matches lie above each class's start."""
        return risk_histogram(self.risk, bins=bins, copies=self.copies)

    def by_record(self) -> Floats:
        """The risk of each record."""
        return self.risk if self.copies is None else np.repeat(self.risk, self.copies)

    def outstanding(self) -> npt.NDArray[np.bool_]:
        """Records far above the rest: risk above median + 3·1.4826·MAD and above 0.1 (sdcMicro's screen)."""
        if not self.risk.size:
            return np.zeros(0, dtype=bool)
        middle = _median(self.risk, self.copies)
        spread = 1.4826 * _median(np.abs(self.risk - middle), self.copies)
        return (self.risk > middle + 3.0 * spread) & (self.risk > 0.1)

    def summary(self) -> dict[str, Any]:
        """The file in a few numbers."""
        return {
            "model": self.model,
            "records": self.n_records,
            "expected_reidentifications": self.expected_reidentifications,
            "file_risk": self.file_risk,
            "highest_risk": float(self.risk.max(initial=0.0)),
            "outstanding_records": int(
                self.outstanding().sum() if self.copies is None else self.copies[self.outstanding()].sum()
            ),
        }


def individual_risk(
    group: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    *,
    model: str = "negative-binomial",
) -> IndividualRisk:
    """The risk of every record from the number of its key group and its weight, computed once per group.

    Without weights the file is taken as its own population, so that the risk is 1/f.
    """
    groups = np.ascontiguousarray(group, dtype=np.int64)
    counts = np.bincount(groups)
    totals = counts.astype(np.float64)
    if weights is not None:
        each = np.ascontiguousarray(weights, dtype=np.float64)
        check_weights(each, owner=OWNER)
        totals = np.bincount(groups, weights=each, minlength=counts.size).astype(np.float64)
    present = counts > 0
    per_group = np.zeros(counts.size)
    per_group[present] = record_risk(counts[present], totals[present], model=model)
    return IndividualRisk(model, per_group[groups], counts[groups], totals[groups])


def rate_threshold(risk: Floats, *, rate: float) -> float:
    """The largest t with Σ min(r_i, t) ≤ rate·n: bring the records above t down to t and the file meets the rate.

    sdcMicro and mu-ARGUS stop at the nearest risk that occurs; this is the exact crossing point of the same sum.
    """
    check_between(rate, 0, 1, name="rate", owner=OWNER)
    ordered = np.sort(risk)
    target = rate * ordered.size
    if ordered.sum() <= target:
        return float(ordered[-1]) if ordered.size else 1.0
    below = np.concatenate(([0.0], np.cumsum(ordered)[:-1]))
    capped = below + ordered * (ordered.size - np.arange(ordered.size))  # Σ min(r, r_(i)) for each i
    first = int(np.searchsorted(capped, target, side="right"))
    return float((target - below[first]) / (ordered.size - first))


def _median(values: Floats, copies: Integers | None) -> float:
    """The median of the records, each value standing for its copies."""
    if copies is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(copies[order])
    middle = [(int(upto[-1]) - 1) // 2, int(upto[-1]) // 2]
    return float(values[order][np.searchsorted(upto, middle, side="right")].mean())


def risk_histogram(risk: Floats, *, bins: int = 40, copies: Integers | None = None) -> tuple[dict[str, float], ...]:
    """Rows for a histogram with a threshold slider: equal classes of log10 risk from 10⁻⁶ (and below) to 1."""
    check_integer(bins, minimum=2, name="bins", owner=OWNER)
    edges = np.linspace(-6.0, 0.0, bins + 1)
    place = np.clip(np.searchsorted(edges, np.log10(np.maximum(risk, 1e-300)), side="right") - 1, 0, bins - 1)
    many = np.ones(risk.size, dtype=np.int64) if copies is None else copies
    counts = np.bincount(place, weights=many, minlength=bins).astype(np.int64)
    sums = np.bincount(place, weights=risk * many, minlength=bins)
    above = np.cumsum(counts[::-1])[::-1]
    expected = np.cumsum(sums[::-1])[::-1]
    return tuple(
        {
            "from": 0.0 if i == 0 else float(10.0 ** edges[i]),
            "to": float(10.0 ** edges[i + 1]),
            "records": int(counts[i]),
            "records_from_here": int(above[i]),
            "expected_from_here": float(expected[i]),
        }
        for i in range(bins)
    )
