# SPDX-License-Identifier: Apache-2.0
"""Printed or rounded p-tables made exact: the nearest row with mean 0, a given variance and the sum 1."""

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.tables.perturb.ptable import Row

OWNER = "p-table"
PRINTED = 0.01
"""How far the probabilities of a printed row may add up from 1, and a probability may be moved to make it exact."""


def exact_row(row: Row, *, variance: float) -> Row:
    """A row printed with few digits as the nearest exact one; the row of size 0, where nothing changes, stays."""
    if row.size == 0:
        return row
    if abs(float(row.chances.sum()) - 1.0) > PRINTED:
        raise DataError(
            f"{OWNER}: the probabilities of row {row.size:g} must add up to 1 except for the print's rounding."
        )
    found = nearest_row(row.size, row.changes, row.chances, variance=variance)
    moved = dict(zip(found.changes.tolist(), found.chances.tolist(), strict=True))
    if (
        max(abs(moved.get(v, 0.0) - p) for v, p in zip(row.changes.tolist(), row.chances.tolist(), strict=True))
        > PRINTED
    ):
        raise DataError(
            f"{OWNER}: row {row.size:g} is not a rounded row of mean 0 and variance {variance:g}; "
            f"its own variance is about {row.variance:.2f}."
        )
    return found


def nearest_row(size: float, changes: Floats, chances: Floats, *, variance: float) -> Row:
    """The row of least squared distance from given probabilities that meets the three equations; 0 stays 0.

    >>> nearest_row(1.0, np.array([-1.0, 2.0]), np.array([0.667, 0.332]), variance=2.0).chances.round(6).tolist()
    [0.666667, 0.333333]
    """
    if len(changes) != len(chances) or bool((chances < 0).any()):
        raise ParameterError(f"{OWNER}: row {size:g} needs one probability of at least 0 for each change.")
    active = chances > 0
    for _ in range(len(changes)):
        found = _projected(changes[active], chances[active], variance)
        if found is None:
            break
        if bool((found >= 0).all()):
            return Row.of(size, changes[active], found)
        active[np.flatnonzero(active)[int(np.argmin(found))]] = False  # what would become negative is given up
    raise InfeasibleError(
        f"{OWNER}: row {size:g} has no probabilities with mean 0 and variance {variance:g} on these changes."
    )


def _projected(changes: Floats, chances: Floats, variance: float) -> Floats | None:
    """Orthogonal projection on Σp = 1, Σvp = 0, Σv²p = V; None if these contradict each other on the changes."""
    system = np.stack([np.ones(len(changes)), changes, changes**2])
    step = np.linalg.pinv(system) @ (np.array([1.0, 0.0, variance]) - system @ chances)
    moved = chances + step
    moved = moved + np.linalg.pinv(system) @ (np.array([1.0, 0.0, variance]) - system @ moved)
    left = system @ moved - np.array([1.0, 0.0, variance])
    return np.asarray(moved) if float(np.abs(left).max()) < 1e-10 else None
