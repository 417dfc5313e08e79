# SPDX-License-Identifier: Apache-2.0
"""Group disclosure: all respondents of a row are in one column, so that the row alone tells the column."""

from dataclasses import dataclass

import numpy as np

from reticent.base.checks import check_integer
from reticent.base.errors import DataError
from reticent.data.table import Table
from reticent.tabulation.equations import relations_of


@dataclass(frozen=True)
class GroupDisclosure:
    """Whoever belongs to cell `group` belongs to cell `inside`, up to `others` respondents."""

    group: int
    inside: int
    others: int


def group_disclosures(table: Table, *, coalition: int = 0, minimum: int = 1) -> tuple[GroupDisclosure, ...]:
    """Cells whose respondents, except for at most `coalition`, all lie in one of several possible parts.

    With a coalition of k, the k respondents elsewhere learn it about all the others. Groups of fewer than `minimum`
    respondents are left to the threshold rule.
    """
    check_integer(coalition, minimum=0, name="coalition", owner="group disclosure")
    if not table.counted:
        raise DataError("group disclosure: needs the number of respondents of each cell; give a count column.")
    counts = table.respondents.counts
    possible = _families(table)
    relations = relations_of(table)
    found = []
    for row in range(relations.n_rows):
        cells, coefs = relations.row(row)
        group = int(cells[coefs < 0][0])
        parts = cells[coefs > 0]
        if counts[group] < minimum or counts[group] == 0 or not _could_differ(table, group, parts, possible):
            continue
        largest = int(parts[np.argmax(counts[parts])])
        others = int(counts[group] - counts[largest])
        if others <= coalition and counts[largest] > 0:
            found.append(GroupDisclosure(group, largest, others))
    return tuple(dict.fromkeys(found))


def _families(table: Table) -> list[list[np.ndarray]]:
    """For each dimension and tree the number of children of each node."""
    return [
        [np.bincount(tree[tree >= 0], minlength=len(dimension)) for tree in dimension.trees]
        for dimension in table.dimensions
    ]


def _could_differ(table: Table, group: int, parts: np.ndarray, possible: list[list[np.ndarray]]) -> bool:
    """Whether the part is news: a node with a single child reveals nothing."""
    first = int(parts[0])
    at = int(np.flatnonzero(table.codes[group] != table.codes[first])[0])
    return any(children[table.codes[group, at]] > 1 for children in possible[at])
