# SPDX-License-Identifier: Apache-2.0
"""What everybody knows of a response that is a filter with cutpoints: the bin that each value is in.

And of values that follow lines over those of an earlier version: what bounds and bins of all versions say of the old ones.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

import numpy as np

from reticent.base.errors import PlanError
from reticent.queries.canonical import Universe
from reticent.queries.columns import Columns
from reticent.queries.fixed import exact
from reticent.queries.indexed import AS_BEFORE, Before
from reticent.queries.policy import Bounds, Policy

Pair = tuple[Fraction | None, Fraction | None]
# the ends of the bin that each column's values are in, None where it is open
Bins = tuple[Sequence[Fraction | None], Sequence[Fraction | None]]


def bins_of(universe: Universe, columns: Columns, key: tuple[str, ...]) -> Bins | None:
    """Between which values those of each column lie because the response is a filter with cutpoints; None if it is not.

    Ends are the first and the last number of a bin that has as many decimals as the values; of squares, their squares. Values
    that count as before lie between what the bounds and bins of each version allow.
    """
    name = key[0]
    if set(key) != {name}:
        return None
    before = universe.before(name.removesuffix(AS_BEFORE)) if name.endswith(AS_BEFORE) else None
    step = Fraction(1, universe.columns(name).values.scale)
    if before is not None:
        found = _old_ends(universe, before, columns, step)
    elif name in universe.policy.cutpoints:
        found = [(None, None)] * columns.n_columns
        ends = _ends_of_bins(universe.policy.cutpoints[name], step)
        for version, atoms in zip(universe.versions, columns.atom_of):
            for column in np.flatnonzero(atoms >= 0).tolist():
                code = int(version.codes[name][atoms[column]])
                found[column] = ends[code] if code >= 0 else found[column]
    else:
        return None
    if len(key) > 1:
        found = [_squared(*own) for own in found]
    return [low for low, _ in found], [high for _, high in found]


def _ends_of_bins(points: Sequence[float], step: Fraction) -> list[Pair]:
    """The first and the last number of each bin."""
    firsts = [None, *(ceil(exact(point) / step) * step for point in points)]
    lasts = [*(None if first is None else first - step for first in firsts[1:]), None]
    return list(zip(firsts, lasts))


def _old_ends(universe: Universe, before: Before, columns: Columns, step: Fraction) -> list[Pair]:
    """Between which old values those of each column lie, by the bounds and bins of each version in which they are."""
    found: list[Pair] = [(None, None)] * columns.n_columns
    policy = universe.policy
    for layer, atoms, lines in zip(before.layers, columns.atom_of, columns.lines):
        points = policy.cutpoints.get(layer.response)
        codes = None if points is None else universe.versions[layer.version].codes[layer.response]
        bins = [(None, None)] if points is None else [*_ends_of_bins(points, step), (None, None)]
        declared = policy.bounds.get(layer.response, Bounds())
        known = (
            None if declared.low is None else exact(declared.low),
            None if declared.high is None else exact(declared.high),
        )
        ends: dict[tuple[int, int], Pair] = {}
        for column in np.flatnonzero(atoms >= 0).tolist():
            at = (-1 if codes is None else int(codes[atoms[column]]), int(lines[column]))
            if at not in ends:
                ends[at] = _on_grid(before.lines[at[1]].old_ends(*_within(known, bins[at[0]])), step)
            found[column] = _within(found[column], ends[at])
    return found


def _within(one: Pair, other: Pair) -> Pair:
    """The ends of what lies between both of two pairs of ends."""
    lows, highs = ([end for end in pair if end is not None] for pair in zip(one, other))
    return max(lows, default=None), min(highs, default=None)


def _on_grid(ends: Pair, step: Fraction) -> Pair:
    """The first and the last multiple of a step between two ends."""
    low, high = ends
    return None if low is None else ceil(low / step) * step, None if high is None else floor(high / step) * step


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


def _squared(first: Fraction | None, last: Fraction | None) -> Pair:
    """The least and the greatest square of numbers between two ends."""
    squares = [None if end is None else end * end for end in (first, last)]
    if first is not None and first >= 0:
        return squares[0], squares[1]
    if last is not None and last <= 0:
        return squares[1], squares[0]
    return Fraction(0), None if squares[0] is None or squares[1] is None else max(squares[0], squares[1])
