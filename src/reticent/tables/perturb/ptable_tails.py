# SPDX-License-Identifier: Apache-2.0
"""Rows of p-tables with a given centre and tails of a normal distribution, as in SORT 3.1 (Giessing and Höhne).

Where mean and variance do not let the centre have the wanted probability, each tail is level: then centre and the two
levels follow from the three equations, which gives the rows of SORT table 1 for D = 3; so does a count that cannot stay, with its
next higher result as the centre. Elsewhere the centre is held, and each
tail is a level and on it the tail of a normal distribution that begins at 2 (a lower tail that lacks two changes or more is
level): spread and levels follow from the equations. Where 0 stands apart from the other lower results it has its own level, and
one more or one fewer are equally likely. Where no such row exists, the tails are those of a normal distribution around the
centre, moved as little as possible (in relative entropy) to meet the equations.
"""

from collections.abc import Callable
from math import erf, sqrt

import numpy as np
from scipy.optimize import brentq

from reticent.base.arrays import Floats

EXACT = 1e-12
START = 2
"""Where the normal tails of SORT table 1 begin; the print fits no other start."""
_SPREADS = np.arange(0.3, 6.0, 0.05)


def level_tails(changes: Floats, variance: float) -> Floats | None:
    """Probabilities with one level below and one above no change; None if there are none that fit.

    Changes that are farthest away are given up where the levels would be negative. A count that cannot stay as it is has
    its next higher result in place of the centre, and that is at least as likely as those above it.
    """
    below, above = np.flatnonzero(changes < 0), np.flatnonzero(changes > 0)
    centre = np.flatnonzero(changes == 0)
    stays = len(centre) > 0
    if not stays:
        centre, above = above[:1], above[1:]
    if not len(centre) or not len(below) or not len(above):
        return None
    for fewer in range(len(below)):
        left = below[fewer:]
        groups = (left, centre, above)
        system = np.array([[float((changes[group] ** power).sum()) for group in groups] for power in (0, 1, 2)])
        levels = np.linalg.solve(system, np.array([1.0, 0.0, variance]))
        if bool((levels >= -EXACT).all()) and (stays or levels[1] >= levels[2]):
            chances = np.zeros(len(changes))
            for group, level in zip(groups, levels.tolist(), strict=True):
                chances[group] = max(level, 0.0)
            return chances
    return None


def raised_tails(changes: Floats, variance: float, stay: float) -> Floats | None:
    """`stay` for no change, and level tails with a normal one on them; None where no spread meets the equations."""
    below, above = -changes[changes < 0][::-1], changes[changes > 0]
    if not len(below) or not _no_gap(above) or len(below) > len(above):
        return None
    if len(below) == 1 or _no_gap(below):

        def made(spread: float) -> Floats:
            return _raised(below, above, stay, spread)

        def off(spread: float) -> float:
            return float(made(spread) @ changes**2) - variance

    elif _no_gap(below[:-1]):  # the change to 0 is apart from the others

        def made(spread: float) -> Floats:
            return _apart(below, above, (stay, variance), spread)

        def off(spread: float) -> float:
            chances = made(spread)
            return float(chances[len(below) - 1] - chances[len(below) + 1])

    else:
        return None
    return _met(made, off)


def _met(made: Callable[[float], Floats], off: Callable[[float], float]) -> Floats | None:
    """The first row, by rising spread, that is not off and has no negative probability."""
    found = [off(spread) for spread in _SPREADS.tolist()]
    for at in np.flatnonzero(np.diff(np.sign(found)) != 0).tolist():
        spread = float(brentq(off, _SPREADS[at], _SPREADS[at + 1], xtol=1e-15, maxiter=200))
        chances = made(spread)
        if bool((chances >= 0).all()) and abs(off(spread)) < EXACT:
            return chances
    return None


def _no_gap(sizes: Floats) -> bool:
    return np.array_equal(sizes, np.arange(1, len(sizes) + 1))


def _raised(below: Floats, above: Floats, stay: float, spread: float) -> Floats:
    """Probabilities of all changes in rising order: levels are such that they add up to 1 and the mean is 0."""
    upper = _normal_tail(len(above), spread)
    lower = upper[: len(below)] if len(below) >= len(above) - 1 else np.zeros(len(below))
    system = np.array([[len(below), len(above)], [-below.sum(), above.sum()]])
    target = np.array([1.0 - stay - lower.sum() - upper.sum(), below @ lower - above @ upper])
    levels = np.linalg.solve(system, target)
    return np.concatenate([(levels[0] + lower)[::-1], [stay], levels[1] + upper])


def _apart(below: Floats, above: Floats, wanted: tuple[float, float], spread: float) -> Floats:
    """The same where the farthest lower change stands apart with a level of its own; mean and variance are met."""
    upper = _normal_tail(len(above), spread)
    near = below[:-1]
    system = np.array([[(near**n).sum() * (-1.0) ** n, (-below[-1]) ** n, (above**n).sum()] for n in (0, 1, 2)])
    target = np.array([1.0 - wanted[0], 0.0, wanted[1]]) - np.array([(above**n) @ upper for n in (0, 1, 2)])
    levels = np.linalg.solve(system, target)
    return np.concatenate([[levels[1]], np.full(len(near), levels[0]), [wanted[0]], levels[2] + upper])


def _normal_tail(n: int, spread: float) -> Floats:
    """What a normal distribution has around START + 1, START + 2, …"""
    return np.diff([0.5 * erf((START + x) / (spread * sqrt(2.0))) for x in np.arange(n + 1) + 0.5])


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
