"""Regression on a subsample, with the rules that keep it from telling about single records."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.randomness import Secret
from reticent.queries.statistics import leverage

Floats = NDArray[np.float64]
MOST_POINTS = 5000
CLIP = 4.0


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


def absorb_sparse(design: Floats, labels: tuple[str, ...], least: int) -> tuple[Floats, tuple[str, ...]]:
    """Indicators of fewer than `least` records (or of all but so few) go into the reference category."""
    keep = []
    for column in range(design.shape[1]):
        values = design[:, column]
        indicator = column > 0 and bool(np.isin(values, (0.0, 1.0)).all())
        ones = int(values.sum()) if indicator else 0
        keep.append(not indicator or least <= ones <= len(values) - least)
    return design[:, keep], tuple(label for label, kept in zip(labels, keep) if kept)


def fit_regression(design: Floats, labels: tuple[str, ...], response: Floats, rules: RegressionRules) -> Fit | str:
    """Fit, or the name of the rule that forbids it."""
    design, labels = absorb_sparse(design, labels, rules.least)
    n, k = design.shape
    if n < k + rules.least or np.linalg.matrix_rank(design) < k:
        return "too few records for the model, or predictors that repeat each other"
    patterns = np.unique(design, axis=0)
    dummies = bool(np.isin(design[:, 1:], (0.0, 1.0)).all()) and k > 2
    if dummies and len(patterns) <= k:
        return "fully interacted model of indicators only"
    if float(leverage(design).max()) > rules.leverage:
        return "a record has too much leverage"
    beta = np.asarray(np.linalg.lstsq(design, response, rcond=None)[0], dtype=np.float64)
    residual = response - design @ beta
    spread = float(((response - response.mean()) ** 2).sum())
    left = float(residual @ residual)
    fit = 1.0 - left / spread if spread > 0 else 1.0
    if fit > rules.r_squared:
        return "R squared too close to one"
    if _predicts_a_subset(design, residual, response, rules):
        return "a subset is predicted too well"
    errors = np.sqrt(left / (n - k) * np.diag(np.linalg.inv(design.T @ design)))
    return Fit(labels, beta, errors, n, fit, (spread - left, left), residual, design)


def _predicts_a_subset(design: Floats, residual: Floats, response: Floats, rules: RegressionRules) -> bool:
    """Whether the records of some indicator (or without it) are all predicted within a small share of the spread."""
    limit = rules.exactness * float(response.std())
    for column in range(1, design.shape[1]):
        values = design[:, column]
        if bool(np.isin(values, (0.0, 1.0)).all()):
            for side in (0.0, 1.0):
                part = residual[values == side]
                if len(part) and float(np.sqrt((part**2).mean())) <= limit:
                    return True
    return False


def synthetic_residuals(fit: Fit, secret: Secret, *, noise: float = 0.25) -> dict[str, dict[str, list[float]]]:
    """For each predictor a synthetic plot: x drawn anew, residual = smooth + local deviation + noise, clipped to ±4.

    Numeric predictors are drawn from a kernel density, indicators by bootstrap (Reiter 2003). The stream depends on the
    response only, so that repeating a model does not average the noise out.
    """
    rng = secret.stream("synthetic-residuals")
    scale = float(fit.residuals.std()) or 1.0
    standard = fit.residuals / scale
    n_points = min(MOST_POINTS, fit.n)
    plots = {}
    for column, label in enumerate(fit.labels[1:], start=1):
        real = fit.design[:, column]
        drawn = real[rng.integers(0, fit.n, n_points)]
        indicator = bool(np.isin(real, (0.0, 1.0)).all())
        if not indicator:
            width = 0.9 * float(real.std()) * fit.n**-0.2
            drawn = drawn + width * rng.standard_normal(n_points)
        plots[label] = _plot(real, standard, drawn, indicator, noise, rng)
    return plots


def _plot(
    real: Floats, standard: Floats, drawn: Floats, indicator: bool, noise: float, rng: np.random.Generator
) -> dict[str, list[float]]:
    order = np.argsort(real, kind="stable")
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
    weights = np.exp(-0.5 * ((knots[:, None] - x[None, :]) / width) ** 2)
    return np.asarray(np.interp(x, knots, weights @ t / weights.sum(axis=1)), dtype=np.float64)


def logistic(design: Floats, response: Floats) -> tuple[Floats, Floats, float] | None:
    """Coefficients, standard errors and deviance of a logistic regression; None if it does not converge."""
    beta: Floats = np.zeros(design.shape[1])
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -30.0, 30.0)))
        information = (design * (p * (1 - p))[:, None]).T @ design
        if np.linalg.matrix_rank(information) < len(beta):
            return None
        step = np.linalg.solve(information, design.T @ (response - p))
        beta = np.asarray(beta + step, dtype=np.float64)
        if float(np.abs(step).max()) < 1e-10:
            likelihood = np.where(response == 1, np.log(p), np.log1p(-p)).sum()
            deviance = -2.0 * float(likelihood)
            if not math.isfinite(deviance):
                return None
            return beta, np.sqrt(np.diag(np.linalg.inv(information))), deviance
    return None
