"""Regression attacks on plain arrays, after the attacks on remote analysis servers described in SORT 35 (2011).

An attacker who may transform predictors makes one record lean out of all others (`outlier_attack`) or builds an indicator
that only the target has (`dummy_attack`); both read the target's response off the fit. The same models are put before the
rules of the analysis mode (`rules` given): then they are refused, or the telling column is absorbed.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reticent.base.randomness import as_secret
from reticent.queries.analysis.regression import RegressionRules, fit_regression

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
QUANTILES = (0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class Firms:
    """Generated establishments: a skewed whole-number size, two codes, and a response that grows with the size."""

    size: Floats
    region: NDArray[np.int64]
    industry: NDArray[np.int64]
    turnover: Floats

    @property
    def columns(self) -> Floats:
        """What an attacker may know, as columns: size, region, industry."""
        return np.column_stack([self.size, self.region, self.industry]).astype(np.float64)


def generated_firms(n: int, *, unique_sizes: bool = False) -> Firms:
    """Firms from a fixed stream; with `unique_sizes` no two have the same size."""
    rng = as_secret(2011).stream("regression-attacks")
    size = np.round(np.exp(rng.normal(3.5, 1.3, n))) + 1
    if unique_sizes:
        size = np.sort(size) + np.arange(n)
    turnover = np.round(np.exp(0.7 * np.log(size) + rng.normal(3.0, 0.5, n)), 2)
    region, industry = rng.integers(0, 4, n), rng.integers(0, 5, n)
    return Firms(size.astype(np.float64), region, industry, turnover.astype(np.float64))


def outlier_variable(x: Floats, guess: float, epsilon: float) -> Floats:
    """z = 1 / (|x − x̂| + ε): huge for who has the guessed value, small for everybody else."""
    return np.asarray(1.0 / (np.abs(x - guess) + epsilon), dtype=np.float64)


def strategic_dummy(columns: Floats, guess: Floats, width: Floats) -> Floats:
    """1 where every known column is within `width` of the guess: a conjunction of indicators."""
    return np.asarray((np.abs(columns - guess) <= width).all(axis=1), dtype=np.float64)


def outlier_attack(
    x: Floats, y: Floats, *, guess: float, epsilon: float, rules: RegressionRules | None = None
) -> float | None:
    """The fitted value at the greatest z; None if the rules refuse the model."""
    z = outlier_variable(x, guess, epsilon)
    fitted = _fit(z, y, rules)
    return None if fitted is None else fitted[0] + fitted[1] * float(z.max())


def dummy_attack(
    columns: Floats, y: Floats, *, guess: Floats, width: Floats, rules: RegressionRules | None = None
) -> float | None:
    """Intercept + coefficient of the dummy; None if nobody matches, or the rules refuse the model or absorb the dummy."""
    dummy = strategic_dummy(columns, guess, width)
    if not 0 < dummy.sum() < len(dummy):
        return None
    fitted = _fit(dummy, y, rules)
    return None if fitted is None else fitted[0] + fitted[1]


def _fit(predictor: Floats, y: Floats, rules: RegressionRules | None) -> tuple[float, float] | None:
    """Intercept and slope, openly or under rules."""
    if rules is None:
        # deviations from the mean: the plain normal equations lose digits when one z is huge
        centred = predictor - predictor.mean()
        slope = float(centred @ (y - y.mean())) / float(centred @ centred)
        return float(y.mean()) - slope * float(predictor.mean()), slope
    fit = fit_regression(np.column_stack([np.ones(len(y)), predictor]), ("(intercept)", "z"), y, rules)
    if isinstance(fit, str) or "z" not in fit.labels:
        return None
    return float(fit.coefficients[0]), float(fit.coefficients[1])


@dataclass(frozen=True)
class Sweep:
    """One line of a sweep: how far off the attacker is, on an open regression and under rules."""

    epsilon: float
    knowledge: float
    open_error: float
    refused: float
    protected_error: float | None


def sweep_outlier(
    firms: Firms,
    rules: RegressionRules,
    *,
    epsilons: tuple[float, ...],
    knowledge: tuple[float, ...],
    targets: int = 60,
) -> list[Sweep]:
    """Attack every so many firms for each ε and each relative error of the known size."""
    rows = np.linspace(0, len(firms.size) - 1, targets).astype(int)
    found = []
    for epsilon in epsilons:
        for off in knowledge:
            guesses = firms.size[rows] * (1 + off)
            openly = [outlier_attack(firms.size, firms.turnover, guess=g, epsilon=epsilon) for g in guesses]
            guarded = [
                outlier_attack(firms.size, firms.turnover, guess=g, epsilon=epsilon, rules=rules) for g in guesses
            ]
            found.append(_line(epsilon, off, openly, guarded, firms.turnover[rows]))
    return found


def sweep_dummy(firms: Firms, rules: RegressionRules, *, widths: tuple[float, ...], targets: int = 60) -> list[Sweep]:
    """The same with indicators; the size is known within ± a share, region and industry exactly."""
    rows = np.linspace(0, len(firms.size) - 1, targets).astype(int)
    found = []
    for share in widths:
        openly, guarded = [], []
        for row in rows:
            guess = firms.columns[row]
            width = np.array([share * guess[0], 0.0, 0.0])
            openly.append(dummy_attack(firms.columns, firms.turnover, guess=guess, width=width))
            guarded.append(dummy_attack(firms.columns, firms.turnover, guess=guess, width=width, rules=rules))
        found.append(_line(0.0, share, openly, guarded, firms.turnover[rows]))
    return found


def _line(epsilon: float, off: float, openly: list[float | None], guarded: list[float | None], y: Floats) -> Sweep:
    def errors(found: list[float | None]) -> list[float]:
        return [abs(value - truth) / truth for value, truth in zip(found, y.tolist()) if value is not None]

    answered = errors(guarded)
    middle = float(np.median(answered)) if answered else None
    return Sweep(epsilon, off, float(np.mean(errors(openly))), 1 - len(answered) / len(guarded), middle)


def uniquely_identified(columns: Floats, width: Floats) -> Mask:
    """Who is alone within `width` (per record and column) of his own values: whom a dummy singles out."""
    alone = np.ones(len(columns), dtype=bool)
    for row, (guess, around) in enumerate(zip(columns, width)):
        alone[row] = int((np.abs(columns - guess) <= around).all(axis=1).sum()) == 1
    return alone


def by_size_quantile(size: Floats, marks: NDArray[np.generic]) -> list[tuple[str, float]]:
    """The mean of a mark within each group of size quantiles."""
    ends = np.quantile(size, QUANTILES)
    table = []
    for k, (low, high) in enumerate(pairwise(ends)):
        inside = (size >= low) & ((size < high) | (k == len(ends) - 2))
        table.append((f"{100 * QUANTILES[k]:g}–{100 * QUANTILES[k + 1]:g} %", float(np.mean(marks[inside]))))
    return table
