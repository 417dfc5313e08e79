# SPDX-License-Identifier: Apache-2.0
"""Additive noise on arrays: uncorrelated, correlated, with linear or non-linear transformation.

`k` is the variance of the noise as a share of the variance of the data; `draws` are independent standard normals of
the same shape as the values. Missing values (NaN) stay missing; moments come from complete records.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reticent.base.arrays import Floats
from reticent.base.errors import DataError
from reticent.kernels.ranking import mean_ranks
from reticent.microdata.perturb.covariance import Moments, factor, moments

# Scales the median absolute deviation to the standard deviation of a normal distribution.
MAD_TO_SIGMA = 1.4826022185056018
# Exact moments tie each variable to each masked one by an equation of 53 bits, those of a float. So many bits for each masked
# variable must be in the values of each, or the equations could be solved for them.
EXACT_BITS = 100


def uncorrelated(values: Floats, draws: Floats, *, k: float, spread: Moments) -> Floats:
    """X + √k σ_j ε: variances grow by the factor 1 + k, covariances stay."""
    noisy: Floats = values + np.sqrt(k * np.diag(spread.covariance)) * draws
    return noisy


def correlated(
    values: Floats, draws: Floats, *, k: float, spread: Moments, names: tuple[str, ...], nearest: bool
) -> Floats:
    """X + E with E ~ N(0, kΣ): the whole covariance matrix grows by the factor 1 + k, correlations stay."""
    root = factor(spread.covariance, names, owner="noise", nearest=nearest)
    # added one by one: a matrix product may round differently where a record stands elsewhere in its block
    shaped = np.zeros_like(values)
    for j in range(values.shape[1]):
        shaped += (np.sqrt(k) * draws[:, j])[:, None] * root[:, j]
    noisy: Floats = values + shaped
    return noisy


def linear(
    values: Floats, draws: Floats, *, k: float, spread: Moments, names: tuple[str, ...], nearest: bool
) -> Floats:
    """E[X] + ((X − E[X]) + E)/√(1+k): means and covariance are kept in expectation (Kim 1986; SORT (1))."""
    noisy = correlated(values, draws, k=k, spread=spread, names=names, nearest=nearest)
    kept: Floats = spread.mean + (noisy - spread.mean) / np.sqrt(1.0 + k)
    return kept


def linear_exact(values: Floats, draws: Floats, *, k: float, names: tuple[str, ...]) -> Floats:
    """As `linear`, but mean and covariance of this very sample are kept to rounding.

    The noise is made orthogonal to the data and to the constant, then given exactly the covariance kΣ. It needs
    complete records, and so many different values that what is kept does not determine them.
    """
    n, d = values.shape
    if np.isnan(values).any():
        raise DataError(
            "noise: exact moments need complete records, and some values are missing. Say exact = false, or complete the data.",
            variables=names,
        )
    bits = n * np.log2(min(len(np.unique(column)) for column in values.T))
    if bits < EXACT_BITS * d:
        raise DataError(
            f"noise: a group of {n} records is too small, or has too few different values, for exact moments of {len(names)} "
            "variables: the true values could be calculated from what is kept. Use exact = false, or larger strata.",
            variables=names,
        )
    spread = moments(values)
    centered = values - spread.mean
    basis = np.linalg.qr(np.column_stack([np.ones(n), centered]))[0]
    noise = draws - basis @ (basis.T @ draws)
    left, _, right = np.linalg.svd(noise, full_matrices=False)
    white = left @ right * np.sqrt(n)
    shaped = np.sqrt(k) * white @ factor(spread.covariance, names, owner="noise", nearest=False).T
    kept: Floats = spread.mean + (centered + shaped) / np.sqrt(1.0 + k)
    return kept


def nonlinear(values: Floats, draws: Floats, *, k: float, names: tuple[str, ...], nearest: bool) -> Floats:
    """Noise through the distribution function (Sullivan 1989): every marginal keeps its shape and its range.

    Values become normal scores of their ranks, the scores get noise as in `linear`, and the result is read back
    through the empirical quantile function. Rank correlations are kept in expectation up to the normal copula.
    """
    scores = normal_scores(values)
    spread = moments(scores)
    deviation = np.sqrt(np.diag(spread.covariance))
    correlation = spread.covariance / np.outer(deviation, deviation)
    unit = Moments(np.zeros_like(spread.mean), correlation, correlation, spread.count)
    noisy = linear(scores, draws, k=k, spread=unit, names=names, nearest=nearest)
    masked = np.full_like(values, np.nan)
    for j in range(values.shape[1]):
        known = ~np.isnan(values[:, j])
        share = special.ndtr(noisy[known, j])
        masked[known, j] = quantiles(np.sort(values[known, j]), share)
    return masked


def normal_scores(values: Floats) -> Floats:
    """Φ⁻¹((rank − ½)/n) column by column, equal values at their mean rank; NaN stays."""
    scores = np.full_like(values, np.nan)
    for j in range(values.shape[1]):
        known = ~np.isnan(values[:, j])
        scores[known, j] = special.ndtri((mean_ranks(values[known, j]) - 0.5) / max(1, int(known.sum())))
    return scores


def quantiles(ordered: Floats, share: Floats) -> Floats:
    """The empirical quantile function with linear interpolation between the points (i − ½)/n."""
    n = ordered.shape[0]
    read: Floats = np.interp(share * n - 0.5, np.arange(n), ordered)
    return read


def outliers(values: Floats, *, cutoff: float) -> NDArray[np.bool_]:
    """Records with a variable farther than `cutoff` robust deviations (MAD) from its median."""
    with np.errstate(invalid="ignore"):
        center = np.nanmedian(values, axis=0)
        deviation = MAD_TO_SIGMA * np.nanmedian(np.abs(values - center), axis=0)
        # More than half equal values: the MAD is 0, so fall back on the standard deviation.
        deviation = np.where(deviation > 0, deviation, np.nanstd(values, axis=0))
        far = np.abs(values - center) > cutoff * deviation
    flags: NDArray[np.bool_] = np.any(far, axis=1)
    return flags
