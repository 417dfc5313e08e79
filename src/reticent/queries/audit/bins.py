# SPDX-License-Identifier: Apache-2.0
"""What everybody knows of a response that is a filter with cutpoints: the bin that each value is in."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np

from reticent.base.errors import PlanError
from reticent.queries.canonical import Universe
from reticent.queries.columns import Columns
from reticent.queries.fixed import exact
from reticent.queries.policy import Bounds, Policy

# the ends of the bin that each column's values are in, None where it is open
Bins = tuple[Sequence[Fraction | None], Sequence[Fraction | None]]


def bins_of(universe: Universe, columns: Columns, key: tuple[str, ...]) -> Bins | None:
    """Between which values those of each column lie because the response is a filter with cutpoints; None if it is not.

    Ends are the first and the last number of a bin that has as many decimals as the values; of squares, their squares.
    """
    name = key[0]
    points = universe.policy.cutpoints.get(name)
    if points is None or set(key) != {name}:
        return None
    step = Fraction(1, universe.columns(name).values.scale)
    firsts = [None, *(ceil(exact(point) / step) * step for point in points)]
    lasts = [*(None if first is None else first - step for first in firsts[1:]), None]
    ends = [(first, last) if len(key) == 1 else _squared(first, last) for first, last in zip(firsts, lasts)]
    found: list[tuple[Fraction | None, Fraction | None]] = [(None, None)] * columns.n_columns
    for version, atoms in zip(universe.versions, columns.atom_of):
        for column in np.flatnonzero(atoms >= 0).tolist():
            code = int(version.codes[name][atoms[column]])
            found[column] = ends[code] if code >= 0 else found[column]
    return [low for low, _ in found], [high for _, high in found]


def check_bins(policy: Policy) -> None:
    """Refuse cutpoints of a response that leave a bin with one whole number: the filter would tell the value of everybody in it.

    Then the others of a set are fewer than they look.
    """
    for name, points in policy.cutpoints.items():
        known = policy.bounds.get(name, Bounds())
        if name not in policy.responses or not known.integer:
            continue
        firsts = [known.low, *(ceil(point) for point in points), None if known.high is None else known.high + 1]
        for first, after in pairwise(firsts):
            if first is not None and after is not None and after - first == 1:
                raise PlanError(
                    f"policy: the cutpoints of {name!r} leave a bin with one whole number, so that a condition would tell the "
                    "value of everybody in it; take wider bins, or leave it out of the responses or out of the filters."
                )


def _squared(first: Fraction | None, last: Fraction | None) -> tuple[Fraction | None, Fraction | None]:
    """The least and the greatest square of numbers between two ends."""
    squares = [None if end is None else end * end for end in (first, last)]
    if first is not None and first >= 0:
        return squares[0], squares[1]
    if last is not None and last <= 0:
        return squares[1], squares[0]
    return Fraction(0), None if squares[0] is None or squares[1] is None else max(squares[0], squares[1])
