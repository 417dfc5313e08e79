# SPDX-License-Identifier: Apache-2.0
"""Records outside an ellipse are pulled back to points on it; how far out they lie enters neither center nor covariance."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reticent.base.arrays import Floats
from reticent.base.errors import DataError

MOST_TURNS, SETTLED = 300, 50
"""Turns of an ellipse that pulled records enter, and those after which who is outside, and where, stays."""


def winsorize(values: Floats, *, share: float, robust: bool) -> tuple[Floats, NDArray[np.bool_]]:
    """Records pulled back to the ellipse, and which were outside."""
    n, d = values.shape
    if n <= 2 * d:
        raise DataError(f"multivariate-top-code: {d} variables need more than {2 * d} complete records, there are {n}.")
    limit = min(_chi_square(1.0 - share, d), 1e300)  # with a share of 0 nobody is outside
    if not robust:
        return _by_own_moments(values, limit)
    center, covariance = _robust(values)
    # with a share of 0.5 the farthest record that enters lies on the ellipse, up to rounding
    outside = _distance(values, center, covariance) > limit * (1.0 + 1e-9)
    directions = _coarse_directions(values[outside] - center, covariance)
    return _pulled(values, outside, center + math.sqrt(limit) * directions @ _root(covariance)), outside


def _by_own_moments(values: Floats, limit: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Records pulled to the ellipse of their own mean and covariance after pulling (as Huber 1981, in coarse directions).

    The first ellipse is that of values cut at quantiles. Who is outside may change back and forth, so that is settled after some
    turns; then mean and covariance go to where they depend on records outside by their directions only.
    """
    d = values.shape[1]
    published = np.clip(values, *np.quantile(values, (0.05, 0.95), axis=0))
    if np.linalg.matrix_rank(np.cov(published.T)) < d:
        published = values
    # what is left of a variance of normal data: the mean of the smaller of chi square and the limit, over d
    left = float(special.gammainc(d / 2 + 1, limit / 2) + limit / d * special.gammaincc(d / 2, limit / 2))
    for turn in range(MOST_TURNS):
        before, center, covariance = published, published.mean(axis=0), np.cov(published.T) / left
        _check_rank(covariance)
        if turn < SETTLED:
            outside = _distance(values, center, covariance) > limit
            directions = _coarse_directions(values[outside] - center, covariance)
        published = _pulled(values, outside, center + math.sqrt(limit) * directions @ _root(covariance))
        if np.allclose(published, before, rtol=1e-13, atol=1e-13 * math.sqrt(np.diag(covariance).min())):
            break
    return published, outside


def _check_rank(covariance: Floats) -> None:
    if np.linalg.matrix_rank(covariance) < len(covariance):
        raise DataError(
            "multivariate-top-code: one variable is a linear function of the others, or hardly varies inside the ellipse; "
            "leave it out, or use top-code for each."
        )


def _distance(values: Floats, center: Floats, covariance: Floats) -> Floats:
    """The squared Mahalanobis distance of each record."""
    centered = values - center
    found: Floats = np.einsum("ij,ij->i", centered, np.linalg.solve(covariance, centered.T).T)
    return found


def _pulled(values: Floats, outside: NDArray[np.bool_], points: Floats) -> Floats:
    pulled = values.copy()
    pulled[outside] = points
    return pulled


def _root(covariance: Floats) -> Floats:
    """What takes variables made uncorrelated back; they stay as near to themselves as possible (Kessy, Lewin, Strimmer 2018)."""
    spread = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(spread, spread))
    found: Floats = (vectors * np.sqrt(values)) @ vectors.T * spread
    return found


def _coarse_directions(centered: Floats, covariance: Floats) -> Floats:
    """For each record the nearest direction of −1, 0 and 1, in variables made uncorrelated, as a vector of length 1 there."""
    white = np.linalg.solve(_root(covariance).T, centered.T).T
    largest = -np.sort(-np.abs(white), axis=1)
    sizes = np.arange(1, white.shape[1] + 1)
    # with m entries that are not 0, the cosine is the sum of the m largest over √m
    chosen = np.argmax(np.cumsum(largest, axis=1) / np.sqrt(sizes), axis=1)
    least = largest[np.arange(len(white)), chosen]
    coarse = np.where(np.abs(white) >= least[:, None], np.sign(white), 0.0)
    found: Floats = coarse / np.linalg.norm(coarse, axis=1, keepdims=True)
    return found


def _robust(values: Floats) -> tuple[Floats, Floats]:
    """Center and covariance of the half of the records that lies closest (concentration steps from medians and MADs)."""
    n, d = values.shape
    middle = np.median(values, axis=0)
    spread = np.median(np.abs(values - middle), axis=0)
    scaled = (values - middle) / np.where(spread > 0, spread, 1.0)
    distance = np.einsum("ij,ij->i", scaled, scaled)
    # at most half, and the lower median: no record outside enters, with a share of 0.5 neither
    half = max(n // 2, d + 1)
    center, covariance = middle, np.cov(values.T)
    for _ in range(50):
        chosen = np.argpartition(distance, half - 1)[:half]
        center, covariance = values[chosen].mean(axis=0), np.cov(values[chosen].T)
        if np.linalg.matrix_rank(covariance) < d:
            raise DataError(
                "multivariate-top-code: half of the records lie on a line or plane; use estimate = 'classical'."
            )
        new = _distance(values, center, covariance)
        settled = np.array_equal(np.sort(np.argpartition(new, half - 1)[:half]), np.sort(chosen))
        distance = new
        if settled:
            break
    factor = float(np.sort(distance)[half - 1]) / _chi_square(0.5, d)
    return center, covariance * factor


def _chi_square(share: float, degrees: int) -> float:
    """The value that a chi-square variable stays below with that probability."""
    return 2.0 * float(special.gammaincinv(degrees / 2, share))
