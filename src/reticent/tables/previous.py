# SPDX-License-Identifier: Apache-2.0
"""The pattern of a previous period: what was hidden then is hidden rather than something else now.

Another period has other values, so nothing is known and nothing forced; cells hidden before only cost less. A release of
the same data is not a previous period: who has it and another pattern of them sees what each hides.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.base.errors import DataError, ParameterError
from reticent.data.published_table import HIDDEN, PUBLISHED, PublishedTable
from reticent.data.table import Table
from reticent.tabulation.linked import System

LEAST_SHOWN = 3
"""This many published values must agree before that says anything."""


def hidden_before(system: System, previous: Mapping[int, PublishedTable]) -> NDArray[np.bool_] | None:
    """Cells of the system that were hidden in a table of the previous period; None if there is none.

    `previous` has what was published then of some of the tables, by their number. Cells that are no longer there, and
    codes that are no longer used, are passed over.
    """
    if not previous:
        return None
    found = np.zeros(system.table.n_cells, dtype=bool)
    for number, release in previous.items():
        if not 0 <= number < len(system.parts):
            raise ParameterError(f"previous: there are {len(system.parts)} tables, and no table {number}.")
        table, members = system.parts[number], system.members[number]
        if release.dimensions != table.names:
            raise DataError(
                f"previous: the release has the dimensions {', '.join(release.dimensions)}, its table "
                f"{', '.join(table.names)}."
            )
        for codes, state in zip(release.codes, release.status, strict=True):
            known = all(code in d.index for code, d in zip(codes, table.dimensions, strict=True))
            cell = table.find(codes) if state == HIDDEN and known else None
            if cell is not None:
                found[members[cell]] = True
        _refuse_same_data(table, release)
    return found


def previous_notes(system: System, previous: Mapping[int, PublishedTable]) -> tuple[str, ...]:
    """A note for each table of which most values are what they were: it may be a revision of the same data."""
    notes = []
    for number, release in previous.items():
        same, shown = _unchanged(system.parts[number], release)
        if 2 * same > shown >= LEAST_SHOWN:
            notes.append(
                f"previous: {same} of {shown} values that it publishes are the same now. If it is an earlier version of the "
                "same data, who has both tables sees what either of them hides; that is not judged here."
            )
    return tuple(notes)


def _refuse_same_data(table: Table, release: PublishedTable) -> None:
    """Refuse a release whose published values are all those of the data at hand."""
    same, shown = _unchanged(table, release)
    if same == shown >= LEAST_SHOWN:
        raise DataError(
            "previous: every value that it publishes is the one of these data, so it is a release of them and no previous "
            "period; with another pattern beside it what it hides could be worked out. Publish it as it is, or name it as "
            "released (earlier in Python) of a table that is linked with others."
        )


def _unchanged(table: Table, release: PublishedTable) -> tuple[int, int]:
    """Of the values above or below 0 that a release publishes: how many are the same now, and how many there are."""
    step = 0.5000001 * 10.0**-release.decimals
    same = shown = 0
    for codes, state, value in zip(release.codes, release.status, release.values.tolist(), strict=True):
        if state != PUBLISHED or value == 0:
            continue
        known = all(code in d.index for code, d in zip(codes, table.dimensions, strict=True))
        cell = table.find(codes) if known else None
        shown += 1
        same += cell is not None and abs(float(table.values[cell]) - value) <= step
    return same, shown


def preferred(hidden: Sequence[Mask | None], n_cells: int, sizes: Sequence[int]) -> Mask | None:
    """Cells of all responses that were hidden in a previous period; None if there was none."""
    if all(mask is None for mask in hidden):
        return None
    filled = [np.zeros(size, dtype=bool) if mask is None else mask for mask, size in zip(hidden, sizes, strict=True)]
    return np.concatenate((*filled, np.zeros(n_cells - sum(sizes), dtype=bool)))
