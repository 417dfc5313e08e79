# SPDX-License-Identifier: Apache-2.0
"""Regression on a subsample, with the rules that keep it from telling about single records."""

from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.randomness import Secret
from reticent.queries.fitting import least_squares, leverage

MOST_POINTS = 5000
CLIP = 4.0
MOST_SMOOTHED, MOST_BINS = 50_000, 4096


@dataclass(frozen=True)
class RegressionRules:
    """The limits of a regression; `least` is the smallest number of records an indicator may have."""

    least: int
    r_squared: float
    leverage: float
    exactness: float = 0.01


@dataclass(frozen=True)
class Fit:
    """A least-squares fit that passed its rules."""

    labels: tuple[str, ...]
    coefficients: Floats
    errors: Floats
    n: int
    r_squared: float
    sums: tuple[float, float]
    residuals: Floats
    design: Floats

    @property
    def unexplained(self) -> float:
        """The variance that is left: sums of squares are compared in its unit."""
        return self.sums[1] / max(1, self.n - len(self.labels))


def absorb_sparse(design: Floats, labels: tuple[str, ...], least: int) -> tuple[Floats, tuple[str, ...]]:
    """Leave out columns in which fewer than `least` records differ from all others.

    An indicator of so few records (or of all but so few) goes into the reference category this way, and with it its
    products with other columns; a number that nearly all have alike is no better than such an indicator.
    """
    keep = [True]
    for column in range(1, design.shape[1]):
        values = design[:, column]
        # a value that all but fewer than `least` have is the median of any 2·least records
        common = np.median(values[: 2 * least - 1]) if len(values) else 0.0
        keep.append(int(np.count_nonzero(values != common)) >= least)
    if all(keep):
        return design, labels
    return design[:, keep], tuple(label for label, kept in zip(labels, keep) if kept)


def fit_regression(design: Floats, labels: tuple[str, ...], response: Floats, rules: RegressionRules) -> Fit | str:
    """Fit, or the name of the rule that forbids it."""
    design, labels = absorb_sparse(design, labels, rules.least)
    n, k = design.shape
    found = least_squares(design, response) if n >= k + rules.least else None
    if found is None:
        return "too few records for the model, or predictors that repeat each other"
    if saturated(design):
        return "fully interacted model of indicators only"
    if float(leverage(design, found.r).max()) > rules.leverage:
        return "a record has too much leverage"
    if found.r_squared > rules.r_squared:
        return "R squared too close to one"
    residual = response - design @ found.beta
    if _predicts_a_subset(design, residual, response, rules):
        return "a subset is predicted too well"
    square = found.size * found.size
    sums = ((found.spread - found.left) * square, found.left * square)
    return Fit(labels, found.beta, found.errors, n, found.r_squared, sums, residual, design)


def is_indicator(values: Floats) -> bool:
    """Whether there are zeros and ones only."""
    return bool(((values == 0.0) | (values == 1.0)).all())


def saturated(design: Floats) -> bool:
    """Whether all predictors are indicators, and the model has a coefficient for each combination that occurs."""
    k = design.shape[1]
    if k <= 2 or not all(is_indicator(design[:, column]) for column in range(1, k)):
        return False
    number = np.zeros(len(design), dtype=np.int64)
    n_patterns = 1
    for column in range(1, k):
        # renumbered at each step, so that the numbers stay below twice the number of records
        _, number = np.unique(2 * number + (design[:, column] == 1.0), return_inverse=True)
        n_patterns = int(number.max()) + 1
        if n_patterns > k:
            return False
    return bool(n_patterns <= k)


def _predicts_a_subset(design: Floats, residual: Floats, response: Floats, rules: RegressionRules) -> bool:
    """Whether the records of some indicator (or without it) are all predicted within a small share of the spread."""
    limit = rules.exactness * float(response.std())
    for column in range(1, design.shape[1]):
        values = design[:, column]
        if is_indicator(values):
            for side in (0.0, 1.0):
                part = residual[values == side]
                if len(part) and float(np.sqrt((part**2).mean())) <= limit:
                    return True
    return False


def synthetic_residuals(fit: Fit, secret: Secret, *, noise: float = 0.25) -> dict[str, dict[str, list[float]]]:
    """For each predictor a synthetic plot: x drawn again, residual = smooth + local deviation + noise, clipped to ±4.

    Numeric predictors are drawn from a kernel density, indicators by bootstrap (Reiter 2003). The secret belongs to the model
    and its records: repeating a model does not average the noise out, and another model shares no draw with it.
    """
    rng = secret.stream(f"synthetic-residuals:{float(noise)!r}")
    scale = float(fit.residuals.std()) or 1.0
    standard = fit.residuals / scale
    n_points = min(MOST_POINTS, fit.n)
    plots = {}
    for column, label in enumerate(fit.labels[1:], start=1):
        real = fit.design[:, column]
        drawn = real[rng.integers(0, fit.n, n_points)]
        indicator = is_indicator(real)
        if not indicator:
            width = 0.9 * float(real.std()) * fit.n**-0.2
            drawn = drawn + width * rng.standard_normal(n_points)
        plots[label] = _plot(real, standard, drawn, indicator, noise, rng)
    return plots


def _plot(
    real: Floats, standard: Floats, drawn: Floats, indicator: bool, noise: float, rng: np.random.Generator
) -> dict[str, list[float]]:
    order = (
        np.argsort(real, kind="stable")
        if not indicator
        else np.concatenate([np.flatnonzero(real == v) for v in (0, 1)])
    )
    sorted_real = real[order]
    smooth = np.zeros(len(real)) if indicator else _smooth(sorted_real, standard[order])
    if indicator:
        low, high = np.searchsorted(sorted_real, drawn, "left"), np.searchsorted(sorted_real, drawn, "right")
        near = low + (rng.random(len(drawn)) * np.maximum(high - low, 1)).astype(np.int64)
    else:
        right = np.clip(np.searchsorted(sorted_real, drawn), 1, len(real) - 1)
        closer = np.abs(drawn - sorted_real[right - 1]) <= np.abs(drawn - sorted_real[right])
        near = right - closer
    near = np.clip(near, 0, len(real) - 1)
    centre = np.zeros(len(drawn)) if indicator else np.interp(drawn, sorted_real, smooth)
    deviation = standard[order][near] - smooth[near]
    value = np.clip(centre + deviation + noise * rng.standard_normal(len(drawn)), -CLIP, CLIP)
    return {"x": [float(v) for v in drawn], "residual": [float(v) for v in value]}


def _smooth(x: Floats, t: Floats) -> Floats:
    """A kernel smoother with a wide window: enough to show a bend, too stiff to follow single records."""
    width = max(float(x.std()) * 0.5, 1e-12)
    knots = np.linspace(x[0], x[-1], 50)
    centre, total, count = _binned(x, t) if len(x) > MOST_SMOOTHED else (x, t, np.ones(len(x)))
    weights = np.exp(-0.5 * ((knots[:, None] - centre[None, :]) / width) ** 2)
    return np.asarray(np.interp(x, knots, weights @ total / (weights @ count)), dtype=np.float64)


def _binned(x: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
    """Bins far narrower than the smoother's window: their centres, the sums of t in them, and their counts."""
    edges = np.linspace(x[0], x[-1], MOST_BINS + 1)
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, MOST_BINS - 1)
    total = np.bincount(place, weights=t, minlength=MOST_BINS).astype(np.float64)
    count = np.bincount(place, minlength=MOST_BINS).astype(np.float64)
    return np.asarray((edges[:-1] + edges[1:]) / 2, dtype=np.float64), total, count
