# SPDX-License-Identifier: Apache-2.0
"""Separable convex quadratic programs: minimise ½ Σ d_i x_i² with A x = b and bounds, by an interior-point method.

HiGHS's quadratic solver is an active-set method that slows down on tables; a primal-dual path follower with one sparse
factorisation of A D A' a step solves them in some twenty steps.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from reticent.base.arrays import Floats, Mask
from reticent.base.errors import SolverError

STEPS = 200
FRACTION = 0.995
TOLERANCE = 1e-10


@dataclass(frozen=True)
class QuadraticModel:
    """Minimise ½ Σ curvature_i x_i² subject to matrix · x = target and lower ≤ x ≤ upper (infinite bounds allowed)."""

    curvature: Floats
    matrix: sparse.csr_array
    target: Floats
    lower: Floats
    upper: Floats


def solve_quadratic(model: QuadraticModel) -> Floats:
    """The minimiser, to a relative gap of 1e−10; fixed variables (lower = upper) are allowed."""
    free = model.upper > model.lower
    x = np.where(free, 0.0, model.lower)
    target = model.target - model.matrix @ x
    inner = _follow_path(
        model.curvature[free],
        sparse.csr_array(model.matrix[:, np.flatnonzero(free)]),
        target,
        model.lower[free],
        model.upper[free],
    )
    x[free] = inner
    return x


def _follow_path(d: Floats, a: sparse.csr_array, b: Floats, low: Floats, high: Floats) -> Floats:
    has_low, has_high = np.isfinite(low), np.isfinite(high)
    x = np.clip(np.zeros(len(d)), np.where(has_low, low, -np.inf), np.where(has_high, high, np.inf))
    width = np.where(has_low & has_high, high - low, np.inf)
    margin = np.minimum(np.maximum(1.0, np.abs(b).max(initial=1.0)), width / 4)
    x = np.where(has_low, np.maximum(x, low + margin), x)
    x = np.where(has_high, np.minimum(x, high - margin), x)
    y = np.zeros(a.shape[0])
    scale = max(1.0, float(np.abs(d * x).max(initial=1.0)))
    zl, zu = np.where(has_low, scale, 0.0), np.where(has_high, scale, 0.0)
    n_bounds = max(1, int(has_low.sum() + has_high.sum()))
    size = 1.0 + float(np.abs(b).max(initial=0.0))
    for _ in range(STEPS):
        sl, su = np.where(has_low, x - low, 1.0), np.where(has_high, high - x, 1.0)
        gap = float(sl[has_low] @ zl[has_low] + su[has_high] @ zu[has_high]) / n_bounds
        primal = b - a @ x
        dual = -(d * x) + a.T @ y + zl - zu
        objective = 1.0 + abs(0.5 * float(d @ x**2))
        balanced = np.abs(primal).max(initial=0) <= 1e-9 * size
        stationary = np.abs(dual).max(initial=0) <= 1e-7 * (1.0 + np.abs(d * x).max(initial=0))
        if gap * n_bounds <= TOLERANCE * objective and balanced and stationary:
            return x
        x, y, zl, zu = _step((d, a, has_low, has_high), (x, y, zl, zu), (sl, su), (primal, dual), gap)
    raise SolverError("Quadratic program: no solution was found; the demands may contradict each other.")


def _step(
    program: tuple[Floats, sparse.csr_array, Mask, Mask],
    point: tuple[Floats, Floats, Floats, Floats],
    slacks: tuple[Floats, Floats],
    residuals: tuple[Floats, Floats],
    gap: float,
) -> tuple[Floats, Floats, Floats, Floats]:
    """One predictor-corrector step (Mehrotra) from a point: the next x, multipliers of rows, of lower and of upper bounds."""
    (d, a, has_low, has_high), (x, y, zl, zu) = program, point
    (sl, su), (primal, dual) = slacks, residuals
    weight = 1.0 / (d + zl / sl + zu / su + 1e-14)
    normal = (a @ sparse.diags_array(weight) @ a.T).tocsc()
    shift = 1e-12 * max(1.0, float(np.abs(normal.diagonal()).max(initial=1.0)))
    shifted = (normal + shift * sparse.eye_array(normal.shape[0])).tocsc()
    factor = linalg.splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def direction(low_push: Floats, high_push: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        rhs = dual + low_push / sl - high_push / su
        dy = factor.solve(primal - a @ (weight * rhs))
        dx = weight * (rhs + a.T @ dy)
        dzl = np.where(has_low, (low_push - zl * dx) / sl, 0.0)
        dzu = np.where(has_high, (high_push + zu * dx) / su, 0.0)
        return dx, dy, dzl, dzu

    def longest(dx: Floats, dzl: Floats, dzu: Floats) -> float:
        limit = 1.0
        for value, change, use in ((sl, dx, has_low), (su, -dx, has_high), (zl, dzl, has_low), (zu, dzu, has_high)):
            shrinking = use & (change < 0)
            if shrinking.any():
                limit = min(limit, float((-value[shrinking] / change[shrinking]).min()))
        return limit

    dx, _, dzl, dzu = direction(np.where(has_low, -zl * sl, 0.0), np.where(has_high, -zu * su, 0.0))
    reach = longest(dx, dzl, dzu)
    n = max(1, int(has_low.sum() + has_high.sum()))
    after = (
        float(
            ((sl + reach * dx) * (zl + reach * dzl))[has_low].sum()
            + ((su - reach * dx) * (zu + reach * dzu))[has_high].sum()
        )
        / n
    )
    aim = gap * (max(after, 0.0) / gap) ** 3 if gap > 0 else 0.0
    low_push = np.where(has_low, aim - zl * sl - dx * dzl, 0.0)
    high_push = np.where(has_high, aim - zu * su + dx * dzu, 0.0)
    dx, dy, dzl, dzu = direction(low_push, high_push)
    reach = min(1.0, FRACTION * longest(dx, dzl, dzu))
    return x + reach * dx, y + reach * dy, zl + reach * dzl, zu + reach * dzu
