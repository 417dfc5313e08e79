# SPDX-License-Identifier: Apache-2.0
"""Multiplicative (log-normal) noise that keeps positivity, order chains, means and covariance (Oganian, SORT 2011).

With s = √(1+k) and lag = c·E[X]/σ, 1 ≤ c ≤ s, equations (11)-(15) of the paper read
    X_m = ((s − 1) c E[X] + (X + (c − 1)E[X]) ∘ exp(E)) / s − (c − 1) E[X],
    Σ_E(i, j) = log(1 + k Σ(i, j) / (E[X_i X_j] + (c² − 1) E[X_i] E[X_j])),   μ_E = −diag(Σ_E)/2.
c = 1 is the plain scheme (7), c = s the z-score scheme (21). Errata 18 of the sources is applied throughout: μ_E is
minus half the variance, so that E[exp(E)] = 1.
"""

from itertools import pairwise

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import DataError
from reticent.microdata.perturb.covariance import Moments, factor

OWNER = "multiplicative-noise"


def noise_ratio(spread: Moments, *, k: float, lag: float) -> Floats:
    """exp(Σ_E): the ratio under the logarithm of (8) for lag = 1 and of (23) for lag = √(1+k)."""
    base = spread.second + (lag**2 - 1.0) * np.outer(spread.mean, spread.mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 1.0 + k * spread.covariance / base
    # 0/0: a variable that is zero throughout is multiplied by one.
    return np.where(np.isnan(ratio), 1.0, ratio)


def plain_applies(spread: Moments, *, k: float) -> bool:
    """Whether the plain scheme has a noise covariance, i.e. condition (10) does not happen."""
    return bool((noise_ratio(spread, k=k, lag=1.0) > 0).all())


def mask_nonnegative(
    values: Floats, draws: Floats, *, k: float, lag: float, spread: Moments, names: tuple[str, ...], nearest: bool
) -> Floats:
    """The masked values of nonnegative data for lag in [1, √(1+k)] (in units of E[X]/σ)."""
    ratio = noise_ratio(spread, k=k, lag=lag)
    if not (ratio > 0).all():
        pairs = np.argwhere(np.triu(~(ratio > 0)))
        culprits = tuple(sorted({names[index] for index in pairs.ravel()}))
        raise DataError(
            f"{OWNER}: the noise covariance of {', '.join(culprits)} cannot be computed, they lie too close to the "
            "axes (condition 10 of the paper). Use scheme = 'z-score', zones, or keep_zeros = true.",
            variables=culprits,
        )
    covariance = np.log(ratio)
    exponent = draws @ factor(covariance, names, owner=OWNER, nearest=nearest).T - np.diag(covariance) / 2.0
    root = np.sqrt(1.0 + k)
    masked: Floats = (
        (root - 1.0) * lag * spread.mean + (values + (lag - 1.0) * spread.mean) * np.exp(exponent)
    ) / root - (lag - 1.0) * spread.mean
    # Exact arithmetic gives masked >= (1 - lag/root) E[X] >= 0; rounding may not.
    return np.where(masked < 0, 0.0, masked) if lag <= root else masked


def shifts(values: Floats) -> Floats:
    """How far each variable must be moved up to be nonnegative (0 where it already is)."""
    lowest = np.nanmin(values, axis=0)
    return np.where(lowest < 0, -lowest, 0.0)


def chain_to_parts(values: Floats, names: tuple[str, ...], chains: tuple[tuple[str, ...], ...]) -> Floats:
    """Replace each chain X1 ≥ X2 ≥ … ≥ Xl by its differences X1 − X2, …, and Xl."""
    parts = values.copy()
    for chain in chains:
        for upper, lower in pairwise(chain):
            i, j = names.index(upper), names.index(lower)
            apart = int((np.isnan(values[:, i]) != np.isnan(values[:, j])).sum())
            if apart:
                raise DataError(
                    f"{OWNER}: in the chain {' >= '.join(chain)} only one of {upper} and {lower} is missing in {apart} "
                    "records, so their difference cannot be masked. Mask these records in a step of their own.",
                    variables=(upper, lower),
                )
            difference = values[:, i] - values[:, j]
            broken = int((difference < 0).sum())
            if broken:
                raise DataError(
                    f"{OWNER}: the chain {' >= '.join(chain)} does not hold in the data: {upper} is below {lower} in "
                    f"{broken} records. Edit these records first, or drop the chain.",
                    variables=(upper, lower),
                )
            parts[:, i] = difference
    return parts


def parts_to_chain(parts: Floats, names: tuple[str, ...], chains: tuple[tuple[str, ...], ...]) -> Floats:
    """Undo `chain_to_parts`: (27), summed from the last of the chain upwards (errata 18)."""
    values = parts.copy()
    for chain in chains:
        for upper, lower in reversed(list(pairwise(chain))):
            i, j = names.index(upper), names.index(lower)
            values[:, i] = values[:, j] + parts[:, i]
    return values
