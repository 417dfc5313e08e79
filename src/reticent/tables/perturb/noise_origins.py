# SPDX-License-Identifier: Apache-2.0
"""Which true counts an attacker finds possible when all that was released is put together: strata, additivity, releases."""

from dataclasses import dataclass, replace

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.tables.perturb.accuracy import BAND, Moved, possible_sizes
from reticent.tables.perturb.origins import Origins, Strata, Told, origins_of, stacked
from reticent.tables.problem import Before


@dataclass(frozen=True, eq=False)
class Counts:
    """The counts of a table: true, noisy, and as published; those that are not `free` carry no noise."""

    true: Floats
    noisy: Floats
    values: Floats
    free: Mask


def what_is_possible(
    strata: Strata, counts: Counts, before: Before, *, told: Told | None, mean_slack: float, alike: bool
) -> Origins:
    """The possible true counts of each cell, for somebody who knows each p-table and how far additivity moved each release."""
    slack = _slack(strata, counts, before)
    values = counts.values
    parts = [
        (
            cells,
            origins_of(
                table, values[cells], slack=slack[cells], mean_slack=mean_slack,
                told=None if told is None else told.of(cells), alike=alike,
            ),
        )
        for cells, table in strata
        if len(cells)
    ]  # fmt: skip
    found = stacked(parts, len(values))
    if found.alike is None or told is None or bool(before.known.any()):
        return found
    return replace(found, alike=_with_sizes(found.alike, told.sizes))


def _with_sizes(alike: Ints, sizes: Floats) -> Ints:
    """What cells are published as, with their measures: the same records have both in common."""
    said = np.nan_to_num(sizes, nan=-1.0).astype(np.int64) + 1
    return np.asarray(np.where(alike < 0, alike, alike * (int(said.max(initial=0)) + 1) + said))


def _slack(strata: Strata, counts: Counts, before: Before) -> Ints:
    """How far noisy counts were moved at most: in this run, and in each earlier release.

    Whether an earlier release was made to add up is not known here. It gets the least movement that explains it, so that
    nobody who has it knows more than the attack does.
    """
    true, noisy, values, free = counts.true, counts.noisy, counts.values, counts.free
    new = free & ~before.known
    slack = np.where(new, np.abs(values - noisy)[new].max(initial=0.0), 0.0).astype(np.int64)
    for release in np.unique(before.release[before.known]).tolist():
        mine = (before.release == release) & free
        slack[mine] = least_slack(strata, true, before.values, noisy, np.flatnonzero(mine))
    return np.asarray(slack)


def least_slack(strata: Strata, true: Floats, values: Floats, noisy: Floats, mine: Ints) -> int:
    """The least movement of these cells by which p-tables lead from the true counts to the values."""
    most = int(np.abs(values - noisy)[mine].max(initial=0.0))
    return next(size for size in range(most + 1) if size == most or _explained(strata, true, values, mine, size))


def _explained(strata: Strata, true: Floats, values: Floats, mine: Ints, slack: int) -> bool:
    """Whether noise and movements of this size lead from the true counts to what is published."""
    for cells, table in strata:
        own = np.intersect1d(cells, mine)
        if len(own) and not origins_of(table, values[own], slack=slack).allows(true[own]).all():
            return False
    return True


def told_of(moved: Moved | None, before: Before) -> Told | None:
    """What measures say: that of this run, and those of earlier releases, of which only the sizes are known."""
    sizes = before.measure.copy()
    by = np.maximum(before.release, -1) + 1
    chances = [np.zeros((1, 1)) if moved is None else moved.chances]
    for release in range(int(before.release.max(initial=-1)) + 1):
        seen = before.measure[before.release == release]
        largest = int(seen[~np.isnan(seen)].max(initial=0.0))
        chances.append(possible_sizes(largest + BAND + 1).astype(np.float64))
    if moved is not None:
        own = ~np.isnan(moved.changes)
        sizes[own], by[own] = moved.sizes[own], 0
    return None if bool(np.isnan(sizes).all()) else Told(sizes, by, tuple(chances))
