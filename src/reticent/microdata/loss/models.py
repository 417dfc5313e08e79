# SPDX-License-Identifier: Apache-2.0
"""The statistical models of the loss measures, in plain numpy: least squares, logistic regression, naive Bayes."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, stdtrit

from reticent.base.arrays import Floats, Ints

ITERATIONS = 25
RIDGE = 1e-8


@dataclass(frozen=True)
class Fit:
    """Coefficients (intercept first), standard errors, half width of a 95 % interval in standard errors, the rank."""

    coefficients: Floats
    errors: Floats
    width: float
    rank: int

    @property
    def intervals(self) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence intervals."""
        half = self.width * self.errors
        return self.coefficients - half, self.coefficients + half


def least_squares(design: Floats, response: Floats) -> Fit:
    """Ordinary least squares with intercept; dependent columns share their effect (Moore–Penrose)."""
    x = np.column_stack((np.ones(len(design)), design))
    coefficients, _, rank, _ = np.linalg.lstsq(x, response, rcond=None)
    free = max(len(x) - int(rank), 1)
    variance = float(np.sum((response - x @ coefficients) ** 2)) / free
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(x.T @ x, hermitian=True)) * variance, 0.0))
    return Fit(np.asarray(coefficients, dtype=np.float64), errors, float(stdtrit(free, 0.975)), int(rank))


def logistic(design: Floats, response: Floats) -> tuple[Fit, Floats]:
    """Logistic regression with intercept by iteratively reweighted least squares; also the fitted probabilities.

    A ridge of 1e−8 keeps separated data finite; the step is halved while the deviance would grow.
    """
    x = np.column_stack((np.ones(len(design)), design))
    beta = np.zeros(x.shape[1])
    share = min(max(float(response.mean()), 1e-6), 1 - 1e-6)
    beta[0] = np.log(share / (1 - share))
    deviance = _deviance(x @ beta, response, beta)
    information = np.eye(x.shape[1])
    for _ in range(ITERATIONS):
        p = expit(x @ beta)
        weight = np.maximum(p * (1 - p), 1e-10)
        information = x.T @ (x * weight[:, None]) + RIDGE * len(x) * np.eye(x.shape[1])
        step = np.linalg.solve(information, x.T @ (response - p) - RIDGE * len(x) * beta)
        for _ in range(20):
            new = _deviance(x @ (beta + step), response, beta + step)
            if new <= deviance + 1e-10 * abs(deviance):
                break
            step = step / 2
        beta = beta + step
        done = abs(deviance - new) < 1e-9 * (abs(deviance) + 1)
        deviance = new
        if done:
            break
    errors = np.sqrt(np.maximum(np.diag(np.linalg.inv(information)), 0.0))
    rank = int(np.linalg.matrix_rank(x.T @ x, hermitian=True))
    return Fit(beta, errors, 1.959963984540054, rank), expit(x @ beta)


def _deviance(score: Floats, response: Floats, beta: Floats) -> float:
    """Minus twice the log-likelihood, with the ridge."""
    return float(2 * np.sum(np.logaddexp(0.0, score) - response * score) + RIDGE * len(score) * np.sum(beta**2))


def interval_overlap(original: Fit, masked: Fit) -> Floats:
    """Overlap of the two confidence intervals of each coefficient, averaged over both lengths (Karr et al. 2006).

    1: the same interval; 0: they just touch; negative: apart.
    """
    low, high = original.intervals
    low_m, high_m = masked.intervals
    shared = np.minimum(high, high_m) - np.maximum(low, low_m)
    lengths = np.stack((high - low, high_m - low_m))
    with np.errstate(invalid="ignore", divide="ignore"):
        overlap = 0.5 * (shared / lengths[0] + shared / lengths[1])
    same = np.isclose(original.coefficients, masked.coefficients, rtol=1e-12, atol=0.0)
    return np.asarray(np.where((lengths == 0).any(axis=0), np.where(same, 1.0, 0.0), overlap))


def naive_bayes(codes: Ints, numbers: Floats, target: Ints, classes: int) -> "NaiveBayes":
    """Learn class shares, code shares (one added to each count) and normal distributions of numbers per class."""
    shares = np.log((np.bincount(target, minlength=classes) + 1.0) / (target.size + classes))
    tables = []
    for column in codes.T:
        size = int(column.max()) + 1 if column.size else 1
        table = np.ones((classes, size))
        np.add.at(table, (target, column), 1.0)
        tables.append(np.log(table / table.sum(axis=1, keepdims=True)))
    overall = numbers.std(axis=0)
    means = np.zeros((classes, numbers.shape[1]))
    spreads = np.ones((classes, numbers.shape[1]))
    for c in range(classes):
        own = numbers[target == c]
        means[c] = own.mean(axis=0) if len(own) else numbers.mean(axis=0)
        spreads[c] = np.maximum(own.std(axis=0) if len(own) else overall, 1e-3 * overall + 1e-12)
    return NaiveBayes(shares, tuple(tables), means, spreads)


@dataclass(frozen=True)
class NaiveBayes:
    """A trained classifier."""

    shares: Floats
    tables: tuple[Floats, ...]
    means: Floats
    spreads: Floats

    def predict(self, codes: Ints, numbers: Floats) -> Ints:
        """The most probable class of each record; a code never seen in training says nothing."""
        score = np.tile(self.shares, (len(codes), 1))
        for position, table in enumerate(self.tables):
            column = codes[:, position]
            known = column < table.shape[1]
            score[known] += table[:, column[known]].T
        for c in range(self.shares.size):
            z = (numbers - self.means[c]) / self.spreads[c]
            score[:, c] -= np.sum(0.5 * z**2 + np.log(self.spreads[c]), axis=1)
        return np.asarray(np.argmax(score, axis=1), dtype=np.int64)
