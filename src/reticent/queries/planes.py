# SPDX-License-Identifier: Apache-2.0
"""Equations of three or four responses that hold for most records: income is pay and rent, except for the self-employed.

An equation is found as a line is (`indexed`): many small sets of records are solved for it, and the one that most records follow
is taken, over all records or for the codes of a filter. It may hold exactly or up to the rounding of its variables.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.queries.indexed import EXACTLY, NARROW, SHARE, simple_fraction
from reticent.queries.ties import Groups, unit_of

TRIES = {2: 64, 3: 160}
"""How many sets are solved, by the number of parts: if half of the records follow an equation, some set does all but surely."""
MORE = 3
SCORED = SAMPLED = 300
MOST_CODES = 60


@dataclass(frozen=True)
class Plane:
    """The records that follow an equation: the last response is the sum of the others times these factors, and an amount."""

    rows: Ints
    factors: tuple[Fraction, ...]


def planes_in(values: Floats, groups: Groups) -> list[Plane]:
    """Equations for the last column that most records follow, then those of most that are left with a code of a filter.

    None if all records follow one: that is a tie.
    """
    left = np.flatnonzero(~np.isnan(values).any(axis=1))
    found: list[Plane] = []
    n = len(left)
    for codes in (np.zeros(len(values), dtype=np.int32), *groups):
        for part in _by_code(codes, left):
            found += _planes(values[part], part)
        follow = np.concatenate([plane.rows for plane in found]) if found else left[:0]
        left = np.setdiff1d(left, follow)
    tie = len(found) == 1 and len(found[0].rows) == n
    return [] if tie else found


def _by_code(codes: NDArray[np.int32], left: Ints) -> list[Ints]:
    order = left[np.argsort(codes[left], kind="stable")]
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    return parts if len(parts) <= MOST_CODES else []


def _planes(values: Floats, rows: Ints, share: float = SHARE) -> Iterator[Plane]:
    """The equation that most of some records follow, if it is more than what few points always satisfy."""
    n, parts = len(values), values.shape[1] - 1
    if n > 2 * SAMPLED:  # of many records some are looked at first
        some = np.random.default_rng(0).integers(0, n, SAMPLED)
        if not any(True for _ in _planes(values[some], rows[some], 0.8 * share)):
            return
    if n < parts + 1 + MORE or any(len(np.unique(column)) < 2 + MORE for column in values.T):
        return
    units, last = np.array([unit_of(column) for column in values.T]), values[:, -1]
    x = np.column_stack((np.ones(n), values[:, :-1]))
    exact = EXACTLY * float(np.abs(values).max())
    tried = _solved(x, last)
    for rounding in (0.0, 1.0) if len(tried) else ():
        sizes = np.abs(tried[:, 1:]) @ units[:-1] + units[-1]
        beta = _best(x, last, tried, exact + rounding * 2 * sizes)
        allowed = exact + rounding * float(np.abs(beta[1:]) @ units[:-1] + units[-1])
        for _ in range(2) if rounding else ():
            near = np.abs(last - x @ beta) <= 2 * allowed
            if int(near.sum()) > parts + 1:
                beta = np.asarray(np.linalg.lstsq(x[near], last[near], rcond=None)[0], dtype=np.float64)
        follow = np.abs(last - x @ beta) <= allowed
        if np.mean(follow) >= share and _convincing(values[follow], beta, allowed if rounding else 0.0):
            sizes = np.ptp(values[follow, :-1], axis=0)
            yield Plane(rows[follow], tuple(simple_fraction(b, allowed / s) for b, s in zip(beta[1:].tolist(), sizes)))
            return


def _convincing(own: Floats, beta: Floats, blurred: float) -> bool:
    """Whether the records that follow an equation are enough different ones, and every response takes part in it."""
    if len(np.unique(own, axis=0)) < own.shape[1] + MORE:
        return False
    spread = own.std(axis=0)
    if bool((spread == 0).any()) or blurred > NARROW * float(spread[-1]):
        return False
    share = np.abs(beta[1:]) * spread[:-1]
    centred = (own - own.mean(axis=0)) / spread
    free = float(np.linalg.eigvalsh(centred[:, :-1].T @ centred[:, :-1] / len(own))[0])
    return bool((share > EXACTLY * spread[-1]).all()) and free > EXACTLY


def _solved(x: Floats, last: Floats) -> Floats:
    """The equations through some sets of records, as many of each as have unknowns; always the same sets."""
    n, width = x.shape
    chosen = np.random.default_rng(0).integers(0, n, (TRIES[width - 1], width))
    size = np.abs(x).max(axis=0)
    sets = x[chosen] / size
    good = np.abs(np.linalg.det(sets)) > EXACTLY
    solved = np.linalg.solve(sets[good], last[chosen][good][:, :, None])[:, :, 0] / size
    return np.asarray(solved[np.isfinite(solved).all(axis=1)])


def _best(x: Floats, last: Floats, tried: Floats, allowed: Floats) -> Floats:
    """The equation that most records follow."""
    some = np.arange(len(x)) if len(x) <= SCORED else np.random.default_rng(0).integers(0, len(x), SCORED)
    left = np.abs(last[some][:, None] - x[some] @ tried.T)
    return np.asarray(tried[int(np.argmax((left <= allowed).sum(axis=0)))])
