"""Rows of p-tables with a given centre and tails of a normal distribution, as in SORT 3.1 (Giessing and Höhne).

Where mean and variance do not let the centre have the wanted probability, each tail is level: then centre and the two
levels follow from the three equations, which gives the rows of SORT table 1 for D = 3. Elsewhere the centre is held and the
tails are those of a normal distribution, moved as little as possible (in relative entropy) to meet the equations.
"""

from math import erf, sqrt

import numpy as np

from reticent.base.arrays import Floats

EXACT = 1e-12


def level_tails(changes: Floats, variance: float) -> Floats | None:
    """Probabilities with one level below and one above no change; None if there are none that fit.

    Changes that are farthest away are given up where the levels would be negative.
    """
    below, above = np.flatnonzero(changes < 0), np.flatnonzero(changes > 0)
    centre = np.flatnonzero(changes == 0)
    if not len(centre) or not len(below) or not len(above):
        return None
    for fewer in range(len(below)):
        left = below[fewer:]
        groups = (left, centre, above)
        system = np.array([[float((changes[group] ** power).sum()) for group in groups] for power in (0, 1, 2)])
        levels = np.linalg.solve(system, np.array([1.0, 0.0, variance]))
        if bool((levels >= -EXACT).all()):
            chances = np.zeros(len(changes))
            for group, level in zip(groups, levels.tolist(), strict=True):
                chances[group] = max(level, 0.0)
            return chances
    return None


def normal_reference(changes: Floats, variance: float, stay: float) -> Floats:
    """`stay` for no change, and the rest as a normal distribution over whole changes whose variance is about the wanted one."""
    wide = max(variance / max(1.0 - stay, 1e-6), 1e-6)

    def cumulated(x: float) -> float:
        return 0.5 * (1.0 + erf(x / sqrt(2.0 * wide)))

    tails = np.array([cumulated(v + 0.5) - cumulated(v - 0.5) if v else 0.0 for v in changes.tolist()])
    tails = np.maximum(tails, 1e-12) * (changes != 0)
    if not bool((changes == 0).any()):
        return np.asarray(tails / tails.sum())
    return np.asarray((1.0 - stay) * tails / tails.sum() + stay * (changes == 0))
