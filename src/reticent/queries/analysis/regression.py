# SPDX-License-Identifier: Apache-2.0
"""Regression on a subsample, with the rules that keep it from telling about single records."""

from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.randomness import Secret
from reticent.queries.fitting import least_squares, leverage

MOST_POINTS = 5000
CLIP = 4.0
MOST_BINS, N_KNOTS = 4096, 50
WINDOW = 0.25
"""The part of the records that a place in a plot of residuals is made of, at least."""
FINEST = 1e-9


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
    """For each predictor a synthetic plot: x drawn again, residual = smooth + spread there · shape + noise, clipped to ±4.

    Numeric predictors are drawn from a kernel density, indicators by bootstrap (Reiter 2003). No residual of a record is shown:
    whoever knows the numbers of all records knows whose is the nearest to a point. What is shown at a point belongs to a quarter
    of the records or more, or to those with a code, and the shape to all. The secret belongs to the model and its records:
    repeating a model does not average the noise out, and another model shares no draw with it.
    """
    rng = secret.stream(f"residual-shapes:{float(noise)!r}")
    scale = float(fit.residuals.std()) or 1.0
    standard = fit.residuals / scale
    n_points = min(MOST_POINTS, fit.n)
    plots = {}
    for column, label in enumerate(fit.labels[1:], start=1):
        real = fit.design[:, column]
        drawn = real[rng.integers(0, fit.n, n_points)]
        if not is_indicator(real):
            width = 0.9 * float(real.std()) * fit.n**-0.2
            drawn = drawn + width * rng.standard_normal(n_points)
        plots[label] = _plot(real, standard, drawn, noise, rng)
    return plots


def _plot(
    real: Floats, standard: Floats, drawn: Floats, noise: float, rng: np.random.Generator
) -> dict[str, list[float]]:
    knots, centre, spread = _of_codes(real, standard) if is_indicator(real) else _near_knots(real, standard)

    def at(places: Floats, figures: Floats) -> Floats:
        return np.interp(places, knots, figures).astype(np.float64)

    shape = _shape((standard - at(real, centre)) / np.maximum(at(real, spread), FINEST))
    deviation = np.interp(rng.random(len(drawn)), (np.arange(len(shape)) + 0.5) / len(shape), shape)
    value = at(drawn, centre) + at(drawn, spread) * deviation + noise * rng.standard_normal(len(drawn))
    return {"x": [float(v) for v in drawn], "residual": [float(v) for v in np.clip(value, -CLIP, CLIP)]}


def _of_codes(real: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
    """The codes 0 and 1 with no bend, and the spread of the residuals of each."""
    codes = np.array([0.0, 1.0])
    return (
        codes,
        np.zeros(2),
        np.array([float(t[real == code].std()) if bool((real == code).any()) else 0.0 for code in codes]),
    )


def _near_knots(x: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean and spread of the residuals around some places: enough to show a bend, of too many records to follow single ones.

    A place far from most records (an area that is larger than all others) takes in those that are nearest all the same.
    """
    knots = np.linspace(x.min(), x.max(), N_KNOTS)
    place, counts, sums, squares = _binned(x, t) if len(x) > MOST_BINS else (x, np.ones(len(x)), t, t * t)
    apart = np.abs(knots[:, None] - place[None, :])
    order = np.argsort(apart, axis=1)
    enough = (np.cumsum(counts[order], axis=1) >= WINDOW * len(x)).argmax(axis=1)
    reached = np.take_along_axis(apart, np.take_along_axis(order, enough[:, None], axis=1), axis=1)
    weights = np.exp(-0.5 * (apart / np.maximum(reached, max(float(x.std()) * 0.5, 1e-12))) ** 2)
    centre, size = (weights @ part / (weights @ counts) for part in (sums, squares))
    return knots, centre, np.sqrt(np.maximum(size - centre**2, 0.0))


def _shape(standard: Floats) -> Floats:
    """Residuals in their order as means of blocks of neighbours, with mean 0 and spread 1; none beyond what is shown."""
    ordered = np.sort(np.clip(standard, -CLIP, CLIP))
    blocks = np.array_split(ordered, max(1, len(ordered) // (2 * max(2, len(ordered) // 50) + 1)))
    means = np.array([block.mean() for block in blocks])
    spread = float(means.std())
    return (means - means.mean()) / spread if spread > 0 else np.zeros(len(means))


def _binned(x: Floats, t: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Bins far narrower than the windows: their centres and counts, and the sums of t and of its squares in them."""
    edges = np.linspace(x.min(), x.max(), MOST_BINS + 1)
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, MOST_BINS - 1)
    own = [np.bincount(place, weights=w, minlength=MOST_BINS).astype(np.float64) for w in (np.ones(len(x)), t, t * t)]
    return np.asarray((edges[:-1] + edges[1:]) / 2), own[0], own[1], own[2]
