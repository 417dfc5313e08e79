# SPDX-License-Identifier: Apache-2.0
"""Counts beside sums that were changed: a sum that is known not to be 0 has somebody behind it, whatever its count shows."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reticent.base.arrays import Floats, Mask
from reticent.data.published_table import MAGNITUDE
from reticent.data.table import Table
from reticent.tables.attack.public import floor_of
from reticent.tables.joint import Judged
from reticent.tables.outcome import Outcome
from reticent.tabulation.joint import same_codes
from reticent.tabulation.linked import System

Told = tuple[System, Mask]
"""The cells of one response, and in which of them everybody knows somebody to be."""


def told_by_sums(parts: Sequence[Judged], outcome: Outcome) -> list[Told]:
    """What published sums tell of presence: those of these responses, one behind the other in the outcome.

    Noise leaves a 0 as it is, so that what is published as another number is not 0. Of other methods the intervals say it.
    """
    if outcome.values is None or outcome.low is None or outcome.high is None:
        return []
    shown = (outcome.low > 0) | (outcome.high < 0)
    if not outcome.additive:
        shown |= outcome.values != 0
    return [
        (one.system, shown[span] if one.aside is None else shown[span] & ~one.aside)
        for one, span in zip(parts, _spans([one.system for one in parts]), strict=True)
        if one.system.table.kind == MAGNITUDE
    ]


def with_presence(outcome: Outcome, systems: Sequence[System], told: Sequence[Told]) -> Outcome:
    """The outcome in which a count is at least what one respondent counts wherever a sum tells that somebody is there."""
    if outcome.values is None or outcome.low is None or not told:
        return outcome
    floors = [_floors(system, told) for system in systems]
    low = outcome.low.copy()
    for span, floor in zip(_spans(systems), floors, strict=True):
        low[span] = np.maximum(low[span], floor)
    single = tuple(
        one if one.low is None else replace(one, low=np.maximum(one.low, floor))
        for one, floor in zip(outcome.single, floors if outcome.single else (), strict=True)
    )
    return replace(outcome, low=low, single=single)


def _spans(systems: Sequence[System]) -> list[slice]:
    ends = np.cumsum([0, *(system.table.n_cells for system in systems)]).tolist()
    return [slice(start, stop) for start, stop in itertools.pairwise(ends)]


def _floors(system: System, told: Sequence[Told]) -> Floats:
    """What each cell of a response is at least by the presence that sums tell; nothing is known of other sums."""
    table = system.table
    if table.kind == MAGNITUDE:
        return np.full(table.n_cells, -np.inf)
    _, _, number = same_codes([system, *(other for other, _ in told)])
    there = np.zeros(int(number.max(initial=-1)) + 1, dtype=bool)
    there[number[table.n_cells :][np.concatenate([shown for _, shown in told])]] = True
    return np.where(there[number[: table.n_cells]], np.minimum(_of_one(table), table.values), -np.inf)


def _of_one(table: Table) -> float:
    """What a cell with somebody in it counts at least."""
    return max(floor_of(table.kind, unit=10.0**-table.decimals, told_apart=True), table.least)
