# SPDX-License-Identifier: Apache-2.0
"""Markov matrices for PRAM: given, uniform, or invariant (expected marginals unchanged) with structural zeros.

An invariant matrix is R = J / π with a joint table J whose two margins are both π. Of the tables that keep at least
the asked share on the diagonal and are zero where transitions are forbidden, the one nearest to independence (in
Kullback-Leibler divergence) is taken: a convex program, solved by scaling rows and columns and then by Newton steps.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse.csgraph import connected_components

from reticent.base.arrays import Floats, Mask
from reticent.base.doors import door
from reticent.base.errors import ParameterError, SolverError

OWNER = "pram"
ROW_TOLERANCE = 1e-9
MARGIN_TOLERANCE = 1e-13
_SWEEPS, _NEWTON_STEPS = 300, 60


def check_markov(matrix: Sequence[Sequence[float]], codes: Sequence[str], known: Sequence[str]) -> Floats:
    """The matrix in the order of `known`; refuse one that is not square, not stochastic, or labelled otherwise."""
    size = len(codes)
    if len(matrix) != size or any(len(row) != size for row in matrix):
        raise ParameterError(f"{OWNER}: the matrix must be {size} × {size}, one row and one column for each code.")
    if len(set(codes)) != size:
        raise ParameterError(f"{OWNER}: a code occurs twice in codes; each may occur once.")
    if set(codes) != set(known):
        raise ParameterError(
            f"{OWNER}: the labels of the matrix must be the {len(known)} codes of the variable; "
            f"{len(set(known) - set(codes))} are absent and {len(set(codes) - set(known))} unknown."
        )
    values = np.array(matrix, dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any() or (values > 1).any():
        raise ParameterError(f"{OWNER}: probabilities of the matrix must be between 0 and 1.")
    wrong = np.flatnonzero(np.abs(values.sum(axis=1) - 1.0) > ROW_TOLERANCE)
    if wrong.size:
        raise ParameterError(
            f"{OWNER}: the matrix is not stochastic: row {wrong[0] + 1} sums to {values[wrong[0]].sum():.6g}, not to 1."
        )
    place = [list(codes).index(code) for code in known]
    ordered = values[np.ix_(place, place)]
    normalised: Floats = ordered / ordered.sum(axis=1, keepdims=True)
    return normalised


def allowed_moves(
    size: int, *, bandwidth: int | None, forbidden: Sequence[tuple[int, int]], exempt: Sequence[int]
) -> Mask:
    """Which transitions may happen: within the bandwidth of the code order, not forbidden, not from or to exempt ones."""
    index = np.arange(size)
    allowed = np.ones((size, size), dtype=np.bool_)
    if bandwidth is not None:
        allowed &= np.abs(index[:, None] - index) <= bandwidth
    for origin, target in forbidden:
        allowed[origin, target] = False
    for code in exempt:
        allowed[code, :] = allowed[:, code] = False
    np.fill_diagonal(allowed, True)
    return allowed


def restrict(matrix: Floats, reachable: Mask) -> Floats:
    """The matrix when only some categories can be reached: forbidden mass stays on the diagonal."""
    limited = np.where(reachable, matrix, 0.0)
    limited[np.diag_indices_from(limited)] += 1.0 - limited.sum(axis=1)
    return limited


def uniform_matrix(allowed: Mask, *, keep: float) -> Floats:
    """Stay with probability `keep`, else move to one of the allowed categories, all equally likely."""
    others = allowed & ~np.eye(len(allowed), dtype=np.bool_)
    count = others.sum(axis=1, keepdims=True)
    matrix = np.where(others, (1.0 - keep) / np.maximum(count, 1), 0.0)
    matrix[np.diag_indices_from(matrix)] = np.where(count.ravel() > 0, keep, 1.0)
    return matrix


def invariant_matrix(counts: Floats, allowed: Mask, *, keep: float) -> Floats:
    """R with πR = π, R_ii ≥ keep and R_ij = 0 where not allowed; categories without records keep to themselves.

    A transition that no cycle of allowed transitions contains cannot have mass in any invariant matrix: it gets 0.
    """
    matrix = np.eye(len(counts))
    present = np.flatnonzero(counts > 0)
    if present.size == 0:
        return matrix
    shares = counts[present] / counts[present].sum()
    support = allowed[np.ix_(present, present)]
    component = connected_components(support.astype(np.int8), directed=True, connection="strong")[1]
    support = support & (component[:, None] == component)
    moving = (1.0 - keep) * shares
    joint = np.diag(keep * shares) + _balance(moving, support)
    rows = joint / joint.sum(axis=1, keepdims=True)
    matrix[np.ix_(present, present)] = rows
    return matrix


def _balance(margin: Floats, support: Mask) -> Floats:
    """The table with both margins equal to `margin`, on the support, nearest to independence."""
    if margin.sum() == 0.0:
        return np.zeros((len(margin), len(margin)))
    prior = np.where(support, np.outer(margin, margin) / margin.sum(), 0.0)
    row, column = np.ones(len(margin)), np.ones(len(margin))
    for _ in range(_SWEEPS):
        row = margin / (prior @ column)
        column = margin / (row @ prior)
        table = row[:, None] * prior * column
        if _imbalance(table, margin) < MARGIN_TOLERANCE:
            return table
    return _newton(prior, margin, np.log(row), np.log(column))


def _newton(prior: Floats, margin: Floats, row: Floats, column: Floats) -> Floats:
    """Finish the scaling by Newton steps on the convex dual, halved while they do not improve it."""
    size = len(margin)
    table = np.exp(row)[:, None] * prior * np.exp(column)
    for _ in range(_NEWTON_STEPS):
        if _imbalance(table, margin) < MARGIN_TOLERANCE:
            return table
        gradient = np.concatenate([table.sum(axis=1) - margin, table.sum(axis=0) - margin])
        curvature = np.block([[np.diag(table.sum(axis=1)), table], [table.T, np.diag(table.sum(axis=0))]])
        step = np.linalg.lstsq(curvature, -gradient, rcond=None)[0]
        value = table.sum() - margin @ row - margin @ column
        scale = 1.0
        while scale > 1e-6:
            new_row, new_column = row + scale * step[:size], column + scale * step[size:]
            new = np.exp(new_row)[:, None] * prior * np.exp(new_column)
            if new.sum() - margin @ new_row - margin @ new_column <= value + 1e-15:
                break
            scale /= 2.0
        row, column, table = new_row, new_column, new
    if _imbalance(table, margin) < 1e2 * MARGIN_TOLERANCE:
        return table
    raise SolverError(
        f"{OWNER}: the invariant matrix could not be computed; forbid fewer transitions or use another keep."
    )


def _imbalance(table: Floats, margin: Floats) -> float:
    return float(max(np.abs(table.sum(axis=1) - margin).max(), np.abs(table.sum(axis=0) - margin).max()))


@door
def estimate_counts(matrix: Floats, observed: Floats, *, steps: int = 10_000, tolerance: float = 1e-10) -> Floats:
    """Maximum-likelihood counts before PRAM from counts after it, never negative (EM).

    Inverting the matrix is the textbook estimate, but it can be negative and explodes when the matrix is nearly
    singular; this is what an analyst should use.
    """
    matrix, observed = np.asarray(matrix, dtype=np.float64), np.asarray(observed, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or observed.shape != (len(matrix),):
        raise ParameterError("estimate_counts: the matrix must be square, with one row per count in observed.")
    total = float(observed.sum())
    estimate = np.full(len(observed), total / max(1, len(observed)))
    for _ in range(steps):
        expected = estimate @ matrix
        weight = np.divide(observed, expected, out=np.zeros_like(expected), where=expected > 0)
        new = estimate * (matrix @ weight)
        if np.abs(new - estimate).max() <= tolerance * max(1.0, total):
            return np.asarray(new, dtype=np.float64)
        estimate = new
    return np.asarray(estimate, dtype=np.float64)
