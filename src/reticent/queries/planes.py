# SPDX-License-Identifier: Apache-2.0
"""Equations of several responses that hold for most records: income is pay and rent, except for the self-employed.

An equation is found as a line is (`indexed`): many small sets of records are solved for it, and the one that most records follow
is taken, over all records or for the codes of a filter; then that of most of the others, and so on. It may hold exactly or up to
the rounding of its variables. Public numbers may take part: pay is a bonus and 12 for each year of age.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.queries.indexed import EXACTLY, LAST_DIGITS, NARROW, OF_A_UNIT, SHARE, simple_fraction
from reticent.queries.ties import Groups, unit_of

TRIES = {1: 64, 2: 64, 3: 160}
"""How many sets are solved, by the number of parts: if half of the records follow an equation, some set does all but surely."""
MORE = 3
SCORED = SAMPLED = 300
MOST_CODES = 60
FAR = 1000
"""How many times the usual size a value may have to take part in the search."""


@dataclass(frozen=True)
class Plane:
    """The records that follow an equation: the last response is the sum of the others times these factors, and an amount."""

    rows: Ints
    factors: tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class Relation:
    """The planes that records follow in some responses (and public numbers), and the one that each record follows (0: none).

    A `tie` is one plane for all records that have these responses.
    """

    names: tuple[str, ...]
    n_public: int
    planes: Sequence[Plane]
    tie: bool
    number: Ints

    @classmethod
    def of(cls, public: tuple[str, ...], names: tuple[str, ...], values: Floats, groups: Groups) -> "Relation":
        """Look for planes in the values of public numbers and responses."""
        planes = planes_in(values, groups, len(public))
        number = np.zeros(len(values), dtype=np.int64)
        for place, plane in enumerate(planes, start=1):
            number[plane.rows] = place
        tie = len(planes) == 1 and len(planes[0].rows) == int((~np.isnan(values).any(axis=1)).sum())
        return cls(names, len(public), planes, tie, number)

    @property
    def a_line(self) -> bool:
        """Whether this is a line between two responses."""
        return len(self.names) + self.n_public == 2

    def equation(self, names: Sequence[str], record: int) -> list[Fraction] | None:
        """What times each response is a public number for a record; None if it follows no plane."""
        if not self.number[record]:
            return None
        factors = dict(zip(self.names, (*self.planes[self.number[record] - 1].factors, Fraction(-1))))
        return [factors.get(name, Fraction(0)) for name in names]


def by_free(equations: Sequence[Sequence[Fraction]], n: int) -> list[list[Fraction]]:
    """Each of n responses as the sum of those that equations leave free, times these factors; the last are replaced first."""
    told = [[Fraction(one == other) for other in range(n)] for one in range(n)]
    for equation in equations:
        left = [sum((f * own[j] for f, own in zip(equation, told)), Fraction(0)) for j in range(n)]
        places = [j for j in range(n) if left[j]]
        for own in told if places else ():
            share = own[places[-1]] / left[places[-1]]
            own[:] = [mine - share * each for mine, each in zip(own, left)]
    return told


def planes_in(values: Floats, groups: Groups, n_public: int = 0) -> list[Plane]:
    """Equations for the last column that most records follow, then those of most that are left with a code of a filter.

    The first columns are public numbers.
    """
    complete = left = np.flatnonzero(~np.isnan(values).any(axis=1))
    found: list[Plane] = []
    for codes in (np.zeros(len(values), dtype=np.int32), *groups):
        with np.errstate(over="ignore", invalid="ignore"):  # values far away may be as large as any
            for part in _by_code(codes, complete) if len(left) < len(complete) else ():
                found, left = _of_a_code(values, part, found, left)
            for part in _by_code(codes, left):
                found += _one_after_another(values, part)
        follow = np.concatenate([plane.rows for plane in found]) if found else left[:0]
        left = np.setdiff1d(left, follow)
    return [Plane(plane.rows, plane.factors[n_public:]) for plane in found]


def _of_a_code(values: Floats, part: Ints, found: list[Plane], left: Ints) -> tuple[list[Plane], Ints]:
    """The planes and who is left, after those of a code who follow its own plane have left others that are no plane of it.

    Some records lie on both: half of nothing is nothing. They are on that of their code, or they would hide who is not.
    """
    own = next(_planes(values[part], part), None)
    if own is None or any(np.isin(own.rows, plane.rows).all() for plane in found):
        return found, left
    out = []
    for plane in found:
        here = np.intersect1d(plane.rows, part)
        taken = here if np.isin(here, own.rows).all() else here[:0]
        out.append(Plane(np.setdiff1d(plane.rows, taken), plane.factors))
        own = Plane(np.setdiff1d(own.rows, out[-1].rows), own.factors)
    if len(own.rows) <= MORE:
        return found, left
    return [*(plane for plane in out if len(plane.rows)), own], np.setdiff1d(left, own.rows)


def _one_after_another(values: Floats, rows: Ints) -> Iterator[Plane]:
    """The equation that most of some records follow, then the one that most of the others do, until there is none."""
    while plane := next(_planes(values[rows], rows), None):
        yield plane
        rows = np.setdiff1d(rows, plane.rows)


def _by_code(codes: NDArray[np.int32], left: Ints) -> list[Ints]:
    order = left[np.argsort(codes[left], kind="stable")]
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    return parts if len(parts) <= MOST_CODES else []


def _planes(values: Floats, rows: Ints, share: float = SHARE) -> Iterator[Plane]:
    """The equation that most of some records follow, if it is more than what few points always satisfy.

    Far values take no part in the search, or nothing else would be left of the others: they only follow what is found.
    """
    n, parts = len(values), values.shape[1] - 1
    if n > 2 * SAMPLED:  # of many records some are looked at first
        some = np.random.default_rng(0).integers(0, n, SAMPLED)
        if not any(True for _ in _planes(values[some], rows[some], 0.8 * share)):
            return
    size = np.abs(values).max(axis=1, initial=0)
    if n < parts + 1 + MORE or not size.any():
        return
    middle = float(np.median(size[size > 0]))
    power = -int(np.frexp(middle)[1])
    near, middle = size <= FAR * middle, float(np.ldexp(middle, power))
    units = np.ldexp([unit_of(column) for column in values[near].T], power)
    values, size = np.ldexp(values, power), np.ldexp(size, power)
    usual = values[near]
    if len(usual) < parts + 1 + MORE or bool((np.ptp(usual, axis=0) == 0).any()):
        return
    exact = np.minimum(EXACTLY * np.clip(size, middle, FAR * middle), OF_A_UNIT * units.min()) + LAST_DIGITS * size
    every, x = (np.column_stack((np.ones(len(own)), own[:, :-1])) for own in (values, usual))
    units[units == 0] = EXACTLY * middle
    tried = _solved(x, usual[:, -1])
    for rounding in (0.0, 1.0) if len(tried) else ():
        beta = _best(
            x, usual[:, -1], tried, exact[near], rounding * 2 * (np.abs(tried[:, 1:]) @ units[:-1] + units[-1])
        )
        blurred = rounding * float(np.abs(beta[1:]) @ units[:-1] + units[-1])
        for _ in range(2):
            some = np.abs(usual[:, -1] - x @ beta) <= 2 * (exact[near] + blurred)
            if int(some.sum()) > parts + 1:
                beta = np.asarray(np.linalg.lstsq(x[some], usual[some, -1], rcond=None)[0], dtype=np.float64)
        follow = np.abs(usual[:, -1] - x @ beta) <= exact[near] + blurred
        if np.mean(follow) >= share and _convincing(usual, follow, beta, blurred, exact[near]):
            own = usual[follow]
            allowed = (float(exact[near][follow].max()) + blurred) / np.ptp(own[:, :-1], axis=0)
            factors = tuple(simple_fraction(b, a) for b, a in zip(beta[1:].tolist(), allowed.tolist()))
            rest = values[:, -1] - every[:, 1:] @ np.array([float(factor) for factor in factors])
            rest -= np.median(rest[near][follow])
            all_of_them = np.abs(rest) <= exact + blurred
            all_of_them[near] = follow & (np.abs(rest[near]) <= (1 + parts) * (exact[near] + blurred))
            if not np.mean(all_of_them[near]) >= share or not _convincing(
                usual, all_of_them[near], beta, blurred, exact[near]
            ):
                continue  # with factors of few digits they do not follow: a few were near by chance
            yield Plane(rows[all_of_them], factors)
            return


def _convincing(values: Floats, follow: Mask, beta: Floats, blurred: float, exact: Floats) -> bool:
    """Whether the records that follow an equation are enough different ones, and every variable takes part in it."""
    own = values[follow]
    different = len(np.unique(own, axis=0))
    if different < own.shape[1] + MORE:
        return False
    many = all(len(np.unique(column)) >= 2 + MORE for column in own.T)
    if not many and different < SHARE * len(np.unique(values, axis=0)):
        return False  # small whole numbers, of which the usual ones satisfy some equation by chance
    spread = own.std(axis=0)
    if bool((spread == 0).any()) or blurred > NARROW * float(spread[-1]):
        return False
    share = np.abs(beta[1:]) * spread[:-1]
    centred = (own - own.mean(axis=0)) / spread
    if not np.isfinite(centred).all() or not np.isfinite(share).all():
        return False
    free = float(np.linalg.eigvalsh(centred[:, :-1].T @ centred[:, :-1] / len(own))[0])
    return bool((share > 2 * exact[follow].max()).all()) and free > EXACTLY


def _solved(x: Floats, last: Floats) -> Floats:
    """The equations through some sets of records, as many of each as have unknowns; always the same sets.

    In half of the sets each variable has a record in which it is not as usual: most people have no rent.
    """
    n, width = x.shape
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, n, (TRIES[width - 1], width))
    for k in range(1, width):
        values, counts = np.unique(x[:, k], return_counts=True)
        unusual = np.flatnonzero(x[:, k] != values[np.argmax(counts)])
        chosen[::2, k] = unusual[rng.integers(0, len(unusual), len(chosen[::2]))]
    size = np.abs(x).max(axis=0)
    sets = x[chosen] / size
    good = np.abs(np.linalg.det(sets)) > EXACTLY
    solved = np.linalg.solve(sets[good], last[chosen][good][:, :, None])[:, :, 0] / size
    return np.asarray(solved[np.isfinite(solved).all(axis=1)])


def _best(x: Floats, last: Floats, tried: Floats, exact: Floats, blurred: Floats) -> Floats:
    """The equation that most records follow."""
    some = np.arange(len(x)) if len(x) <= SCORED else np.random.default_rng(0).integers(0, len(x), SCORED)
    left = np.abs(last[some][:, None] - x[some] @ tried.T)
    return np.asarray(tried[int(np.argmax((left <= exact[some][:, None] + blurred).sum(axis=0)))])
