# SPDX-License-Identifier: Apache-2.0
"""Weights that stand in the order of a number, as where firms were drawn by size: they tell a number that the file hides."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.kernels.grouping import group_columns

FEWEST_IN_ORDER = 50
"""Records that an order is looked at among: fewer may stand in order by chance."""
FEWEST_IN_PART = 10
"""Records with one code of another variable, from which they are put in an order of their own."""
NEAR = 1 / 8
"""The share of the ranks within which the rank of the weight must place half of the records; chance does so within 0.29."""
NEARER = 0.9
"""How much nearer than any other published variable the weight must be. A size class tells what weights by size class do."""


@dataclass(frozen=True)
class Beside:
    """What the file publishes beside the weight: codes (below 0: blank) and numbers."""

    codes: Sequence[Ints] = ()
    numbers: Sequence[Floats] = ()


def told_in_order(
    true: Floats, weights: Floats, group: Ints, *, shown: Floats | None = None, beside: Beside | None = None
) -> Mask:
    """Records whose number follows from the rank of their weight, among those with one group (−1: not looked at).

    The order is that of the group, or of those in it who show one code of another variable. Weights must be nearer than
    everything else that is published: the changed number (`shown`), and what is beside it.
    """
    beside = beside or Beside()
    told = np.zeros(true.size, dtype=bool)
    asked = np.where(np.isnan(true), -1, group)
    order = np.argsort(asked, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(asked[order])) + 1):
        if rows.size < FEWEST_IN_ORDER or asked[rows[0]] < 0 or np.unique(true[rows]).size < FEWEST_IN_ORDER // 2:
            continue
        for codes in (np.zeros(true.size, dtype=np.int64), *beside.codes):
            part = codes[rows]
            counted = rows[(part >= 0) & (np.bincount(part + 1)[part + 1] >= FEWEST_IN_PART)]
            if counted.size >= FEWEST_IN_ORDER:
                told[counted] |= _told(true[counted], weights[counted], codes[counted], _of(beside, counted, shown))
    return told


def _of(beside: Beside, rows: Ints, shown: Floats | None) -> tuple[Beside, Floats | None]:
    """The same of some records."""
    some = Beside([codes[rows] for codes in beside.codes], [numbers[rows] for numbers in beside.numbers])
    return some, None if shown is None else shown[rows]


def _told(true: Floats, weights: Floats, codes: Ints, known: tuple[Beside, Floats | None]) -> Mask:
    """Records that the order of the weights places, within their code."""
    beside, shown = known
    part, n_parts = group_columns([codes], [int(codes.max()) + 1])
    place = _places(true, part)
    off = _off(place, weights, part, n_parts)
    near = float(np.median(off))
    nothing = np.zeros(true.size, dtype=bool)
    if near >= NEAR or (shown is not None and near >= np.median(np.abs(place - _places(shown, part)))):
        return nothing
    by_numbers = (float(np.median(_off(place, numbers, part, n_parts))) for numbers in beside.numbers)
    by_codes = (_off_by_code(place, part, n_parts, column) for column in beside.codes)
    if any(near >= NEARER * other for other in chain(by_codes, by_numbers)):
        return nothing
    return np.asarray(off <= NEAR)


def _places(values: Floats, part: Ints) -> Floats:
    """The mean rank of each value in its part, as a share of the ranks; missing values stand in the middle."""
    place = np.full(values.size, 0.5)
    there = np.flatnonzero(~np.isnan(values))
    there = there[np.lexsort((values[there], part[there]))]
    new_part = np.append(True, np.diff(part[there]) != 0)
    new_value = new_part | np.append(True, np.diff(values[there]) != 0)
    for_part, for_value = np.flatnonzero(new_part), np.flatnonzero(new_value)
    size = np.diff(np.append(for_part, there.size))[np.cumsum(new_part) - 1]
    middle = (for_value + np.append(for_value[1:], there.size) - 1) / 2
    first = for_part[np.cumsum(new_part) - 1]
    place[there] = (middle[np.cumsum(new_value) - 1] - first + 0.5) / size
    return place


def _off(place: Floats, values: Floats, part: Ints, n_parts: int) -> Floats:
    """How far the ranks of other values are from these, from below or from above, whichever goes with each part."""
    by_values = _places(values, part)
    together = np.bincount(part, (place - 0.5) * (by_values - 0.5), minlength=n_parts)
    return np.abs(place - np.where((together >= 0)[part], by_values, 1 - by_values))


def _off_by_code(place: Floats, part: Ints, n_parts: int, codes: Ints) -> float:
    """How far a code that is published places half of the records in their parts, by what it says in its part or in all.

    By the mean of the others who show it, or by the order of the codes, which is how weights that were made by them do it.
    """
    in_part, n_groups = group_columns([part, codes + 1], [n_parts, int(codes.max()) + 2])
    off = []
    for group, n in ((in_part, n_groups), (codes + 1, int(codes.max()) + 2)):
        number, total = np.bincount(group, minlength=n), np.bincount(group, place, minlength=n)
        others = np.where(number[group] > 1, (total[group] - place) / np.maximum(number[group] - 1, 1), 0.5)
        mean = np.where(number >= FEWEST_IN_PART, total / np.maximum(number, 1), 0.5)[group]
        off += [np.median(np.abs(place - others)), np.median(_off(place, mean, part, n_parts))]
    return float(min(off))
