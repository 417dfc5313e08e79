# SPDX-License-Identifier: Apache-2.0
"""Calibration of weights to known totals by raking: new weights are the old ones times exp(xᵢ·λ), so never negative."""

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import InfeasibleError

TOLERANCE = 1e-9
_STEPS, _HALVINGS = 100, 30


def calibrate(weights: Floats, design: Floats, totals: Floats, *, owner: str) -> Floats:
    """Weights whose weighted column sums of `design` (n, p) are `totals` (Deville and Särndal 1992, raking distance).

    Newton's method on the convex dual, with steps halved while it does not fall; columns may be linearly dependent.
    """
    scale = np.maximum(np.abs(design).max(axis=0), 1e-300)
    columns, targets = design / scale, totals / scale
    multipliers = np.zeros(design.shape[1])
    current = weights.copy()
    for _ in range(_STEPS):
        gap = targets - current @ columns
        if np.abs(gap).max() <= TOLERANCE * max(1.0, float(np.abs(targets).max())):
            return current
        curvature = columns.T @ (current[:, None] * columns)
        step = np.linalg.lstsq(curvature, gap, rcond=1e-12)[0]
        value = current.sum() - targets @ multipliers
        size = 1.0
        for _ in range(_HALVINGS):
            trial = weights * np.exp(np.clip(columns @ (multipliers + size * step), -50.0, 50.0))
            if trial.sum() - targets @ (multipliers + size * step) <= value + 1e-9 * abs(value):
                break
            size /= 2.0
        multipliers = multipliers + size * step
        current = trial
    raise InfeasibleError(
        f"{owner}: no positive weights of the records that are left give all the totals. Calibrate to fewer or coarser "
        "variables, or keep more records."
    )
