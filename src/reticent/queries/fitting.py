# SPDX-License-Identifier: Apache-2.0
"""Least squares and logistic regression on plain arrays, a block of records at a time.

The triangle R of a QR decomposition is built from blocks (R of stacked block triangles), so that a million records are
read once by matrix routines and no second matrix of their size is held; nothing is squared, so no digits are lost.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from reticent.base.arrays import Floats, Ints

BLOCK = 65_536
SMALL = 512  # a block of this many records and a few columns is factorised within the cache
TOLERANCE = 1e-10
ITERATIONS = 50
FINEST = 1e-9
ROUNDING = 1e4 * 2.0**-52
STEEPEST = 30.0


@dataclass(frozen=True)
class LeastSquares:
    """A fit: coefficients, their standard errors, the sums of squares left and in all (about the mean), and X's R.

    The sums of squares are in units of `size` squared: in the unit of the data they may be beyond all floating-point numbers.
    """

    beta: Floats
    errors: Floats
    left: float
    spread: float
    size: float
    r: Floats

    @property
    def r_squared(self) -> float:
        """The share of the spread that is explained."""
        return 1.0 - self.left / self.spread if self.spread > 0 else 1.0


def triangle(x: Floats) -> Floats:
    """R of the QR decomposition of x, by blocks of records."""
    found: Floats = np.zeros((0, x.shape[1]))
    step = max(SMALL, 4 * x.shape[1])
    for start in range(0, len(x), step):
        found = np.asarray(np.linalg.qr(np.vstack([found, x[start : start + step]]), mode="r"), dtype=np.float64)
    return found


def independent(r: Floats) -> NDArray[np.intp]:
    """Columns that do not repeat others, judged with all columns at the same length."""
    lengths = np.sqrt((r**2).sum(axis=0))
    if not bool(np.isfinite(lengths).all()):
        return np.zeros(0, dtype=np.intp)
    scaled = r[:, lengths > 0] / lengths[lengths > 0]
    if scaled.size == 0:
        return np.zeros(0, dtype=np.intp)
    _, small, order = qr(scaled, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(small)) > TOLERANCE).sum())
    return np.sort(np.flatnonzero(lengths > 0)[order[:rank]])


def leverage(x: Floats, r: Floats | None = None) -> Floats:
    """The diagonal of the hat matrix: how far a record can pull its own fitted value."""
    whole = triangle(x) if r is None else r
    keep = independent(whole)
    small = np.linalg.qr(whole[:, keep], mode="r")
    found: Floats = np.zeros(len(x))
    for start in range(0, len(x), BLOCK):
        block = x[start : start + BLOCK][:, keep]
        found[start : start + BLOCK] = (solve_triangular(small, block.T, trans="T") ** 2).sum(axis=0)
    return found


def least_squares(x: Floats, y: Floats) -> LeastSquares | None:
    """Fit y by x; None with too few records, or columns that repeat each other."""
    n, k = x.shape
    if n <= k or not bool(np.isfinite(y).all()):
        return None
    size = _power(y)  # so that no square overflows or vanishes, however large or small the values are
    y = y / size
    whole = triangle(np.column_stack([x, y]))
    r = whole[:k, :k]
    if len(independent(r)) < k:
        return None
    beta = np.asarray(solve_triangular(r, whole[:k, k]), dtype=np.float64)
    left = float(whole[k, k] ** 2)
    inverse = solve_triangular(r, np.eye(k))
    errors = np.sqrt(left / (n - k) * (inverse**2).sum(axis=1))
    spread = float(((y - y.mean()) ** 2).sum())
    with np.errstate(over="ignore"):
        beta, errors = beta * size, np.asarray(errors * size, dtype=np.float64)
    if not bool(np.isfinite(beta).all() and np.isfinite(errors).all()):
        return None
    return LeastSquares(beta, errors, left, spread, size, r)


def tellable(r: Floats, size: float) -> float:
    """Up to which part of its standard error a coefficient is shown, given R of the predictors.

    Finer digits depend on how floating-point numbers were rounded on the way, so on each value, and an attacker who repeats the
    calculation learns from them what no sum tells. Rounding moves a coefficient, in standard errors, by the precision of a
    number times the condition of the predictors and the `size` of the response against its residuals; 10,000 times that is kept.
    """
    lengths = np.sqrt((r**2).sum(axis=0))
    return max(FINEST, ROUNDING * size * float(np.linalg.cond(r / lengths)))


def told(values: Floats, errors: Floats, part: float) -> list[float]:
    """Numbers rounded to a decimal that is at most ten times this part of their standard errors."""
    units = errors * part
    digits = [-math.ceil(math.log10(unit)) if 0 < unit < math.inf else None for unit in units.tolist()]
    return [value if d is None else round(value, d) for value, d in zip(values.tolist(), digits)]


def fit_without_one(x: Floats, y: Floats, owner: Ints) -> float:
    """The largest R² that is left without the records of one respondent, who knows them and can take them off.

    Where hardly anything is left unexplained without somebody, this one has nearly all of what is; so the two with most count.
    """
    fit = least_squares(x, y)
    if fit is None:
        return 0.0
    missed = (y / fit.size - x @ (fit.beta / fit.size)) ** 2 / np.maximum(1 - leverage(x, fit.r), TOLERANCE)
    people, of_row = np.unique(owner, return_inverse=True)
    most = np.argsort(-np.bincount(of_row.reshape(-1), weights=missed), kind="stable")[:2]
    rests = [least_squares(x[owner != people[who]], y[owner != people[who]]) for who in most.tolist()]
    return max((rest.r_squared for rest in rests if rest is not None), default=0.0)


def _power(y: Floats) -> float:
    """The power of two just above the largest absolute value."""
    exponent = int(np.frexp(np.abs(y).max(initial=0.0))[1])
    return float(np.ldexp(1.0, min(max(exponent, -1022), 1023)))


def logistic(x: Floats, y: Floats) -> tuple[Floats, Floats, float] | None:
    """Coefficients, standard errors and deviance of a logistic regression; None if it does not exist."""
    beta: Floats = np.zeros(x.shape[1])
    for _ in range(ITERATIONS):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ beta, -STEEPEST, STEEPEST)))
        information = _weighted_square(x, p * (1 - p))
        if np.linalg.matrix_rank(information) < len(beta):
            return None  # the codes separate zeros from ones
        step = np.linalg.solve(information, x.T @ (y - p))
        beta = np.asarray(beta + step, dtype=np.float64)
        if float(np.abs(step).max()) < TOLERANCE:
            deviance = -2.0 * float(np.where(y == 1, np.log(p), np.log1p(-p)).sum())
            if not math.isfinite(deviance):
                return None
            return beta, np.asarray(np.sqrt(np.diag(np.linalg.inv(information))), dtype=np.float64), deviance
    return None


def _weighted_square(x: Floats, weights: Floats) -> Floats:
    """X'WX by blocks."""
    total: Floats = np.zeros((x.shape[1], x.shape[1]))
    for start in range(0, len(x), BLOCK):
        block = x[start : start + BLOCK]
        total += block.T @ (block * weights[start : start + BLOCK, None])
    return total
