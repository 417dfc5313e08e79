# SPDX-License-Identifier: Apache-2.0
"""Where a condition is true: over the atoms of a version, or over any other places whose levels are known."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.queries.columns import ABSENT
from reticent.queries.language import And, Compare, Condition, Constant, In, IsMissing, Not, Or
from reticent.queries.levels import Levels, chosen_levels, comparable_levels


def truth_of(
    condition: Condition, codes: Mapping[str, NDArray[np.int32]], levels_of: Mapping[str, Levels], size: int
) -> tuple[Mask, Mask]:
    """Where a condition is true and where it is false, given the level of each filter at each place; elsewhere it is unknown."""
    if isinstance(condition, Constant):
        every = np.full(size, condition.value)
        return every, ~every
    if isinstance(condition, Not):
        true, false = truth_of(condition.part, codes, levels_of, size)
        return false, true
    if isinstance(condition, And | Or):
        parts = [truth_of(part, codes, levels_of, size) for part in condition.parts]
        trues, falses = [p[0] for p in parts], [p[1] for p in parts]
        if isinstance(condition, And):
            return np.logical_and.reduce(trues), np.logical_or.reduce(falses)
        return np.logical_or.reduce(trues), np.logical_and.reduce(falses)
    own = codes[condition.variable]
    if isinstance(condition, IsMissing):
        return own == ABSENT, own != ABSENT
    levels = levels_of[condition.variable]
    if isinstance(condition, In):
        chosen = np.zeros(len(levels) + 1, dtype=bool)
        for value in condition.values:
            chosen |= chosen_levels(Compare(condition.variable, "=", value), levels)
        return chosen[own], ~chosen[own] & (own != ABSENT)
    chosen, there = chosen_levels(condition, levels), comparable_levels(condition, levels)
    return chosen[own], ~chosen[own] & there[own]
