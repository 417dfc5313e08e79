# SPDX-License-Identifier: Apache-2.0
"""A lower bound that does not depend on how a solver rounds: multipliers of the rows, multiplied out in exact arithmetic.

Whatever multipliers y ≥ 0 a solver gives, y·b + Σ min over [lower, upper] of (c − y·A)·x is a bound of c·x over all x with
A·x ≥ b (weak duality); wrong multipliers make it worse and never false. Rows of bridges and circles have whole coefficients.
Those of attacks are computed in floating point and are raised by `ROUNDED`, far more than the error of that, which only
loosens them.
"""

from fractions import Fraction

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats
from reticent.solve.model import LinearModel

ROUNDED = Fraction(1, 10**9)


def exact_bound(model: LinearModel, multipliers: Floats) -> Fraction:
    """The bound that multipliers of the rows A·x ≥ b prove; those below 0 count as 0. O(entries of rows with a multiplier)."""
    used = np.flatnonzero(multipliers > 0)
    matrix = sparse.csr_array(model.matrix)
    value, rest = Fraction(0), [Fraction(cost) for cost in model.cost.tolist()]
    for row in used.tolist():
        weight = Fraction(float(multipliers[row]))
        value += weight * Fraction(float(model.row_lower[row]))
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        for cell, coef in zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True):
            rest[cell] -= weight * _raised(coef)
    for left, low, high in zip(rest, model.col_lower.tolist(), model.col_upper.tolist(), strict=True):
        value += left * Fraction(low if left > 0 else high)
    return value


def _raised(coef: float) -> Fraction:
    return Fraction(coef) if coef.is_integer() else Fraction(coef) + abs(Fraction(coef)) * ROUNDED
