# SPDX-License-Identifier: Apache-2.0
"""Moments and covariance matrices for noise: estimates, factors, and what to do when a matrix is not one.

A matrix that no noise can have (an eigenvalue below zero) is an error that names the variables, unless the nearest
admissible one is asked for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import DataError
from reticent.microdata.perturb.exact_moments import exact_moments

# Eigenvalues down to this share of the largest one below zero are rounding, not a property of the data.
PSD_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Moments:
    """Mean vector, covariance and second moments E[X_i X_j], all with divisor n, of `count` complete records."""

    mean: Floats
    covariance: Floats
    second: Floats
    count: int

    def __iter__(self) -> Iterator[Any]:
        """All parts in turn: what draws are keyed by."""
        return iter((self.mean, self.covariance, self.second, self.count))


def moments(values: Floats, *, shrink: bool = False) -> Moments:
    """Moments of the complete records of values (n, d); correlations shrunk towards 0 on request."""
    missing = np.isnan(values).any(axis=1)
    complete = values[~missing] if missing.any() else values
    if complete.shape[0] == 0:
        raise DataError("noise: no record has a value in all of the variables; mask them in separate steps.")
    mean, covariance = exact_moments(complete)
    if shrink:
        # Sorted by value: sums of floats depend on the order of records, and the noise must not.
        covariance = shrink_correlations((complete - mean)[np.lexsort(complete.T)], covariance)
    return Moments(mean, covariance, covariance + np.outer(mean, mean), complete.shape[0])


def shrink_correlations(centered: Floats, covariance: Floats) -> Floats:
    """Covariance with correlations multiplied by 1 − λ, variances kept (Schäfer and Strimmer 2005).

    λ is the sum of the estimated variances of the correlations over the sum of their squares, cut to [0, 1].
    """
    n, d = centered.shape
    deviation = np.sqrt(np.diag(covariance))
    scale = np.where(deviation > 0, deviation, 1.0)
    scores = centered / scale
    correlation = scores.T @ scores / n
    products_variance = (scores**2).T @ (scores**2) / n - correlation**2
    off = ~np.eye(d, dtype=bool)
    denominator = float((correlation[off] ** 2).sum())
    if n < 3 or denominator == 0.0:
        return covariance
    strength = min(1.0, max(0.0, float(products_variance[off].sum()) / (n - 1) / denominator))
    shrunk: Floats = np.where(off, (1.0 - strength) * covariance, covariance)
    return shrunk


def check_not_constant(values: Floats, names: tuple[str, ...], *, owner: str) -> None:
    """Refuse variables without variation: noise in proportion to nothing is no noise."""
    constant = tuple(name for name, column in zip(names, values.T, strict=True) if not _varies(column))
    if constant:
        raise DataError(
            f"{owner}: {_list(constant)} has the same value in all records, so noise relative to its spread would "
            "change nothing. Leave it out of the step.",
            variables=constant,
        )


def factor(matrix: Floats, names: tuple[str, ...], *, owner: str, nearest: bool) -> Floats:
    """L with L Lᵀ = matrix, from the symmetric square root of the correlations; singular matrices are welcome.

    Unlike a matrix of eigenvectors or a Cholesky factor, the symmetric root changes continuously with the matrix: sums
    that differ in the last digit (another order of records) give the same noise up to the last digits.
    """
    scale = _scale(matrix)
    eigenvalues, vectors = np.linalg.eigh(_correlation_form(matrix, scale))
    if eigenvalues.size and eigenvalues[0] < -PSD_TOLERANCE * max(1.0, eigenvalues[-1]):
        if not nearest:
            culprits = not_psd_together(matrix, names)
            raise DataError(
                f"{owner}: no noise can have the covariance that {_list(culprits)} ask for together (the matrix is "
                "not positive semidefinite). Mask them in separate steps, or set nearest_psd = true.",
                variables=culprits,
            )
        return factor(nearest_psd(matrix), names, owner=owner, nearest=False)
    root: Floats = scale[:, None] * ((vectors * np.sqrt(np.clip(eigenvalues, 0.0, None))) @ vectors.T)
    return root


def not_psd_together(matrix: Floats, names: tuple[str, ...]) -> tuple[str, ...]:
    """A smallest set of variables whose own matrix already has a negative eigenvalue (dropped one by one)."""
    keep = list(range(len(names)))
    for candidate in range(len(names)):
        rest = [index for index in keep if index != candidate]
        if rest and not _is_psd(matrix[np.ix_(rest, rest)]):
            keep = rest
    return tuple(names[index] for index in keep)


def nearest_psd(matrix: Floats, *, sweeps: int = 500) -> Floats:
    """The nearest positive semidefinite matrix with the same diagonal (Higham 2002, alternating projections)."""
    scale = _scale(matrix)
    current = _correlation_form(matrix, scale)
    diagonal = np.diag(current).copy()
    correction = np.zeros_like(current)
    for _ in range(sweeps):
        shifted = current - correction
        eigenvalues, vectors = np.linalg.eigh(shifted)
        projected = (vectors * np.clip(eigenvalues, 0.0, None)) @ vectors.T
        correction = projected - shifted
        change = np.abs(np.diag(projected) - diagonal).max()
        current = projected.copy()
        np.fill_diagonal(current, diagonal)
        if change < 1e-12:
            break
    # The last projection leaves a tiny negative eigenvalue; pull correlations in by just that much.
    lowest = float(np.linalg.eigvalsh(current)[0])
    if lowest < 0:
        current = (current - lowest * np.diag(diagonal)) / (1.0 - lowest)
    result: Floats = current * np.outer(scale, scale)
    return result


def _is_psd(matrix: Floats) -> bool:
    eigenvalues = np.linalg.eigvalsh(_correlation_form(matrix, _scale(matrix)))
    return bool(eigenvalues[0] >= -PSD_TOLERANCE * max(1.0, eigenvalues[-1]))


def _scale(matrix: Floats) -> Floats:
    diagonal = np.abs(np.diag(matrix))
    scale: Floats = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return scale


def _correlation_form(matrix: Floats, scale: Floats) -> Floats:
    form: Floats = matrix / np.outer(scale, scale)
    return (form + form.T) / 2.0


def _varies(column: Floats) -> bool:
    # fmin and fmax pass over NaN without a copy.
    return column.size > 1 and float(np.fmin.reduce(column)) < float(np.fmax.reduce(column))


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names)
