# SPDX-License-Identifier: Apache-2.0
"""Earlier releases: what was published of a table stays known, and what was hidden in it stays hidden.

The earlier table is linked to the new ones, so that the attacker calculates with all of them together.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from reticent.base.errors import DataError, ParameterError
from reticent.data.cells import CellStatus
from reticent.data.published_table import EMPTY, HIDDEN, MAGNITUDE, PUBLISHED, PublishedTable
from reticent.data.table import Table
from reticent.tables.apriori import Knowledge
from reticent.tables.problem import Before
from reticent.tabulation.linked import System


def with_earlier(system: System, knowledge: Knowledge, earlier: Mapping[int, PublishedTable]) -> Knowledge:
    """Work in what was published before: `earlier` has it for some of the tables of the system, by their number.

    Published cells can no longer be hidden; hidden ones must stay so. An unsafe cell that was published cannot be
    protected any more, and the run says so.
    """
    if not earlier:
        return knowledge
    shown = np.zeros(system.table.n_cells, dtype=bool)
    hidden = np.zeros(system.table.n_cells, dtype=bool)
    present = np.zeros(system.table.n_cells, dtype=bool)
    for number, release in earlier.items():
        _mark(system, number, release, shown, hidden, present)
    both = shown & hidden
    if both.any():
        name = system.table.name_of(int(np.flatnonzero(both)[0]))
        raise DataError(f"earlier: {name} is published in one earlier release and hidden in another; leave one out.")
    verdict = knowledge.verdict
    primary = verdict.status == CellStatus.PRIMARY
    status = np.where(shown, CellStatus.FROZEN, verdict.status)
    status = np.where(hidden & ~primary, CellStatus.SECONDARY, status).astype(verdict.status.dtype)
    notes = list(knowledge.notes)
    lost = int((shown & primary).sum())
    if lost:
        notes.append(f"{lost} unsafe cells were published in an earlier release; nothing can protect them any more.")
    judged = replace(
        verdict,
        status=status,
        lower_protection=np.where(shown, 0.0, verdict.lower_protection),
        upper_protection=np.where(shown, 0.0, verdict.upper_protection),
    )
    floor = np.where(present, min(system.table.least, 1.0), np.nan)
    lower = np.fmax(knowledge.lower_bound, floor) if system.table.kind != MAGNITUDE else knowledge.lower_bound
    return replace(knowledge, verdict=judged, lower_bound=lower, notes=tuple(notes))


def split_earlier(
    system: System, earlier: Mapping[int, PublishedTable]
) -> tuple[dict[int, PublishedTable], dict[int, PublishedTable]]:
    """Releases that show the truth, and those of noisy counts: complete ones in which some count is another one."""
    noisy = {number: release for number, release in earlier.items() if _is_noisy(system, number, release)}
    return {number: release for number, release in earlier.items() if number not in noisy}, noisy


def _is_noisy(system: System, number: int, release: PublishedTable) -> bool:
    table = system.parts[number]
    _check_dimensions(release, table)
    if HIDDEN in release.status:
        return False
    places = [table.find(codes) for codes in release.codes]
    return any(
        state == PUBLISHED and cell is not None and float(value) != float(table.values[cell])
        for state, cell, value in zip(release.status, places, release.values, strict=True)
    )


def noise_before(system: System, noisy: Mapping[int, PublishedTable]) -> Before | None:
    """What earlier releases of noisy counts show of each cell; None if there are none.

    The same cell in two releases must have one value there.
    """
    if not noisy:
        return None
    n = system.table.n_cells
    values, measure, by = np.full(n, np.nan), np.full(n, np.nan), np.full(n, -1, dtype=np.int64)
    for order, (number, release) in enumerate(noisy.items()):
        table, members = system.parts[number], system.members[number]
        for row, codes in enumerate(release.codes):
            cell, value = table.find(codes), float(release.values[row])
            if cell is None or release.status[row] == EMPTY:
                if value > 0:
                    raise DataError(
                        f"earlier: {' × '.join(codes)} has no records now; the release must be of the same data."
                    )
                continue
            at = members[cell]
            if not np.isnan(values[at]) and values[at] != value:
                raise DataError(
                    f"earlier: {' × '.join(codes)} has other values in two earlier releases; leave one out."
                )
            values[at], by[at] = value, order
            if release.measure is not None:
                measure[at] = release.measure[row]
    return Before(values, by, measure)


def _check_dimensions(release: PublishedTable, table: Table) -> None:
    if release.dimensions != table.names:
        raise DataError(
            f"earlier: the release has the dimensions {', '.join(release.dimensions)}, its table {', '.join(table.names)}."
        )


def check_earlier(earlier: Mapping[int, PublishedTable], n_tables: int) -> None:
    """Refuse numbers of tables that are not there, and releases of which nothing is left to protect."""
    if any(not 0 <= number < n_tables for number in earlier) or (earlier and len(earlier) == n_tables):
        raise ParameterError("earlier: name tables by their number, and leave at least one to be protected.")


def _mark(
    system: System, number: int, release: PublishedTable, shown: np.ndarray, hidden: np.ndarray, present: np.ndarray
) -> None:
    """Mark what a release shows, what it hides, and in which of the hidden cells everybody knows somebody to be.

    That is so in all of them, unless the release says that empty cells may be among them, or hides one: a file does not say it.
    """
    table, members = system.parts[number], system.members[number]
    _check_dimensions(release, table)
    step = 0.5000001 * 10.0**-release.decimals
    unseen: list[int] = []
    for row, codes in enumerate(release.codes):
        state = release.status[row]
        cell = table.find(codes)
        if state == EMPTY and cell is not None:
            if table.values[cell] != 0 or (table.counted and table.respondents.counts[cell] > 0):
                raise DataError(
                    f"earlier: {' × '.join(codes)} is empty in the release and has records now; a release of other data "
                    "cannot be combined."
                )
            shown[members[cell]] = True
        if state == EMPTY or (cell is None and state == PUBLISHED and release.values[row] == 0):
            continue
        if cell is None:
            raise DataError(
                f"earlier: {' × '.join(codes)} has no records now; the release must be of the same data, and if empty cells "
                "are hidden in it, say hide_empty = true here too."
            )
        if state == PUBLISHED:
            if not abs(float(release.values[row]) - float(table.values[cell])) <= step:
                raise DataError(
                    f"earlier: the published value of {' × '.join(codes)} is not the one of these data; a release of other "
                    "data, or of changed values, cannot be combined."
                )
            shown[members[cell]] = True
        else:
            unseen.append(cell)
    hidden[members[unseen]] = True
    if not release.hides_empty and (table.values[unseen] > 0).all():
        present[members[unseen]] = True
