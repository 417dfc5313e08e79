# SPDX-License-Identifier: Apache-2.0
"""Loss of numeric variables: arrays x (original) and y (masked), records in rows; NaN is missing.

Measures that compare record by record use the values present in both; the others compare two distributions and take
files of different length.
"""

import numpy as np

from reticent.base.arrays import Floats

QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def means(x: Floats) -> Floats:
    """Means of the present values; NaN for a variable without any."""
    count = np.sum(~np.isnan(x), axis=0)
    return np.asarray(np.where(count > 0, np.nansum(x, axis=0) / np.maximum(count, 1), np.nan))


def gone(x: Floats, y: Floats) -> Floats:
    """The share of the values of each variable that are no longer there; 1 where all that are left are the same and were not."""
    present, left = ~np.isnan(x), ~np.isnan(y)
    share = np.sum(present & ~left, axis=0) / np.maximum(present.sum(axis=0), 1)
    flat = np.array([len(np.unique(column[seen])) <= 1 for column, seen in zip(y.T, left.T, strict=True)], dtype=bool)
    varied = np.array(
        [len(np.unique(column[seen])) > 1 for column, seen in zip(x.T, present.T, strict=True)], dtype=bool
    )
    return np.asarray(np.where(flat & varied, 1.0, share))


def deviations(x: Floats) -> Floats:
    """Sample standard deviations (divisor n − 1) of the present values; 0 stays 0."""
    centred = x - means(x)
    count = np.sum(~np.isnan(x), axis=0)
    return np.asarray(np.sqrt(np.nansum(centred**2, axis=0) / np.maximum(count - 1, 1)))


def il1s_terms(x: Floats, y: Floats) -> Floats:
    """|x − y| / (√2 s_j) for every value; variables without spread count 0 where equal, else 1."""
    spread = deviations(x)
    apart = np.abs(x - y)
    return np.asarray(np.where(spread > 0, apart / np.where(spread > 0, np.sqrt(2) * spread, 1.0), apart > 0))


def il1s(x: Floats, y: Floats) -> float:
    """IL1s = 1/(np) Σ |x_ij − y_ij| / (√2 s_j) (Yancey, Winkler and Creecy 2002); sdcMicro calls it IL1old."""
    return _mean(il1s_terms(x, y))


def il1s_sum(x: Floats, y: Floats) -> float:
    """Σ |x_ij − y_ij| / (√2 s_j): the sum that sdcMicro's dUtility(method = "IL1s") gives."""
    return float(np.nansum(il1s_terms(x, y)))


def il1_percent(x: Floats, y: Floats) -> float:
    """Σ 100 |x_ij − y_ij| / |x_ij| over values with x ≠ 0: sdcMicro's dUtility(method = "IL1")."""
    usable = (x != 0) & ~np.isnan(x) & ~np.isnan(y)
    return float(100 * np.sum(np.abs(x[usable] - y[usable]) / np.abs(x[usable])))


def squares_share(x: Floats, y: Floats) -> float:
    """SSE / SST on standardised variables: Σ (x − y)²/s² over Σ (x − x̄)²/s²; 1 = as bad as the mean for everybody."""
    spread = deviations(x)
    use = spread > 0
    if not use.any():
        return 0.0
    lost = np.nansum(((x[:, use] - y[:, use]) / spread[use]) ** 2)
    total = np.nansum(((x[:, use] - means(x[:, use])) / spread[use]) ** 2)
    return float(lost / total)


def mean_change(x: Floats, y: Floats) -> float:
    """Mean over variables of |x̄ − ȳ| / s."""
    return _mean(np.abs(means(x) - means(y)) / _positive(deviations(x)))


def variance_change(x: Floats, y: Floats) -> float:
    """Mean over variables of |s²_x − s²_y| / s²_x."""
    old, new = deviations(x) ** 2, deviations(y) ** 2
    return _mean(np.abs(old - new) / _positive(old))


def covariance_change(x: Floats, y: Floats) -> float:
    """Mean over i ≤ j of |Cov_x(i,j) − Cov_y(i,j)| / (s_i s_j)."""
    spread = _positive(deviations(x))
    upper = np.triu_indices(x.shape[1])
    return _mean((np.abs(covariance(x) - covariance(y)) / np.outer(spread, spread))[upper])


def covariance(x: Floats) -> Floats:
    """Sample covariance of the complete records, as a matrix for one variable too; 0 where no record is complete."""
    complete = x[~np.isnan(x).any(axis=1)]
    centred = complete - complete.mean(axis=0) if len(complete) else complete
    return np.asarray(centred.T @ centred / max(len(complete) - 1, 1))


def correlation(x: Floats) -> Floats:
    """Correlations of the complete records; variables without spread correlate 0 with all others.

    They do not depend on a scale: by powers of 2 that keep all digits, squares of very large numbers stay finite.
    """
    largest = np.fmax.reduce(np.abs(x), axis=0, initial=0.0)
    cov = covariance(np.ldexp(x, -np.frexp(largest)[1]))
    spread = _positive(np.sqrt(np.diag(cov)))
    out = cov / np.outer(spread, spread)
    np.fill_diagonal(out, 1.0)
    return np.asarray(out)


def correlation_change(x: Floats, y: Floats) -> float:
    """Mean over i < j of |r_x(i,j) − r_y(i,j)|."""
    upper = np.triu_indices(x.shape[1], 1)
    return _mean(np.abs(correlation(x) - correlation(y))[upper])


def quantile_change(x: Floats, y: Floats) -> float:
    """Mean over variables and seven quantiles of |q_x − q_y| / s."""
    some = ~(np.isnan(x).all(axis=0) | np.isnan(y).all(axis=0))
    x, y = x[:, some], y[:, some]
    old, new = np.nanquantile(x, QUANTILES, axis=0), np.nanquantile(y, QUANTILES, axis=0)
    return _mean(np.abs(old - new) / _positive(deviations(x)))


def eigenvalue_change(x: Floats, y: Floats) -> float:
    """Σ |e_x − e_y| / e_x over the eigenvalues of the correlation matrices (sdcMicro "eigen"); e_x = 0 left out."""
    old, new = np.linalg.eigvalsh(correlation(x)), np.linalg.eigvalsh(correlation(y))
    usable = old > 1e-12
    return float(np.sum(np.abs(old - new)[usable] / old[usable]))


def inverse_correlation_change(x: Floats, y: Floats) -> float:
    """(1/√2) ‖a/‖a‖ − b/‖b‖‖, a and b the diagonals of the inverse correlation matrices (Młodak 2020, IL_correl).

    Correlations that cannot be inverted are inverted in the sense of Moore and Penrose.
    """
    a, b = (np.diag(np.linalg.pinv(correlation(z), hermitian=True)) for z in (x, y))
    return float(np.linalg.norm(a / np.linalg.norm(a) - b / np.linalg.norm(b)) / np.sqrt(2))


def regression_change(x: Floats, y: Floats) -> float:
    """Σ |coefficient differences| of the regression of variable 1 on all others (sdcMicro "adlm")."""

    def coefficients(z: Floats) -> Floats:
        complete = z[~np.isnan(z).any(axis=1)]
        design = np.column_stack((np.ones(len(complete)), complete[:, 1:]))
        return np.asarray(np.linalg.lstsq(design, complete[:, 0], rcond=None)[0])

    return float(np.sum(np.abs(coefficients(x) - coefficients(y))))


def total_change(x: Floats, y: Floats, w: Floats, v: Floats) -> float:
    """Mean over variables of |T_x − T_y| / Σ w|x|, T the weighted totals with weights w (original) and v (masked)."""
    old, new = np.nansum(x * w[:, None], axis=0), np.nansum(y * v[:, None], axis=0)
    return _mean(np.abs(old - new) / _positive(np.nansum(np.abs(x) * w[:, None], axis=0)))


def arctangent_distance(x: Floats, y: Floats) -> Floats:
    """(2/π) arctan |x − y| for every value, 1 where exactly one is missing (Młodak 2020)."""
    apart = 2 / np.pi * np.arctan(np.abs(x - y))
    gone, lost = np.isnan(x), np.isnan(y)
    return np.asarray(np.where(gone & lost, 0.0, np.where(gone | lost, 1.0, apart)))


def _positive(spread: Floats) -> Floats:
    """The divisor, 1 where it would be 0 (the difference then counts as it is)."""
    return np.asarray(np.where(spread > 0, spread, 1.0))


def _mean(values: Floats) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if present.size else 0.0
