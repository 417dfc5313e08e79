# SPDX-License-Identifier: Apache-2.0
"""Linkage by one who knows how far values were moved at most: few records fit the intervals of all variables.

Rank swapping, random rounding and uniform noise bound every change. The attacker measures each disturbed number in units of
its largest change, as it stands and by ranks, and takes the record whose largest difference is least; what was left alone must
agree. So whoever is alone within all bounds is found for certain.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.data.schema import Kind
from reticent.kernels.boxes import alone_in_box
from reticent.microdata.risk.linkage_attackers import Column, as_codes, moved_numbers, ranked
from reticent.microdata.risk.linkage_likelihood import evenly_chosen
from reticent.microdata.risk.respondents import respondents_shown


def bounded_linked(
    columns: Sequence[Column], here: Ints, who: Ints | None
) -> list[tuple[str, Ints, NDArray[np.bool_]]]:
    """For each scale: its name, the published records that were tried, and whether each leads to its own and nobody else."""
    if len(moved_numbers(columns)) < 2:  # by one number alone the nearest is the same as for other attackers
        return []
    found = []
    for name, chosen in (("", columns), (", by ranks", [_ranked(column) for column in columns])):
        both = [_linked(chosen, here, who, turned=turned) for turned in (False, True)]
        found.append((f"knows the largest changes{name}", *max(both, key=lambda pair: int(pair[1].sum()))))
    return found


def _ranked(column: Column) -> Column:
    return ranked(column) if column.kind is Kind.NUMERIC else column


def _linked(columns: Sequence[Column], here: Ints, who: Ints | None, *, turned: bool) -> tuple[Ints, NDArray[np.bool_]]:
    own = columns[0].own
    asking = evenly_chosen(here, max(columns[0].true.size, own.size))
    codes, numbers = _codes(columns), _numbers(columns)
    units = np.arange(columns[0].true.size) if who is None else who
    if turned:
        seen = np.arange(own.size) if who is None else respondents_shown(who, own)
        mine = own[asking]
        found = alone_in_box(codes[0][mine], numbers[0][mine], asking, seen[asking], codes[1], numbers[1], seen)
    else:
        mine = units[own[asking]]
        found = alone_in_box(codes[1][asking], numbers[1][asking], own[asking], mine, codes[0], numbers[0], units)
    return asking, found


def _numbers(columns: Sequence[Column]) -> tuple[Floats, Floats]:
    """Disturbed numbers of both files in units of the largest change."""
    moved = moved_numbers(columns)
    if not moved:  # ranks may stay where numbers do not
        return np.empty((columns[0].true.size, 0)), np.empty((columns[0].own.size, 0))
    largest = [float(np.nanmax(np.abs(column.gap))) for column in moved]
    true = np.column_stack([column.true / most for column, most in zip(moved, largest, strict=True)])
    shown = np.column_stack([column.shown / most for column, most in zip(moved, largest, strict=True)])
    return np.ascontiguousarray(true), np.ascontiguousarray(shown)


def _codes(columns: Sequence[Column]) -> tuple[Ints, Ints]:
    """What was left alone, as codes of both files (−1: missing)."""
    fixed = [column for column in columns if column.error == 0 and not bool((np.nan_to_num(column.gap) != 0).any())]
    true, shown = (
        np.full((size, len(fixed)), -1, dtype=np.int64) for size in (columns[0].true.size, columns[0].own.size)
    )
    for at, column in enumerate(fixed):
        for target, codes in zip((true, shown), as_codes(column), strict=True):
            target[:, at] = np.where(np.isnan(codes), -1, np.nan_to_num(codes))
    return true, shown
