# SPDX-License-Identifier: Apache-2.0
"""Cells of linked tables that have the same records under different codes: the same cell, and the relations say so."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reticent.base.arrays import Words
from reticent.base.randomness import Secret
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.record_marks import record_words
from reticent.data.relations import Relations
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.tabulation.large import sums_from
from reticent.tabulation.linked import System


def record_marks(
    data: Microdata | LargeFile, dimensions: Sequence[DimensionSpec], table: Table, *, secret: Secret
) -> Words:
    """The mark of each cell's set of records (see `data.record_marks`): equal marks, equal sets."""
    return sums_from(data, TableSpec(tuple(dimensions)), table, lambda records: record_words(records, secret))


def same_cells(system: System, marks: Sequence[Words]) -> list[tuple[int, ...]]:
    """Groups of cells with the same records that are not the same by their codes."""
    joint = np.zeros((system.table.n_cells, 2), dtype=np.uint64)
    for members, own in zip(system.members, marks, strict=True):
        joint[members] = own
    _, group, sizes = np.unique(joint, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    several = np.flatnonzero((sizes[group] > 1) & joint.any(axis=1))
    order = several[np.argsort(group[several], kind="stable")]
    edges = np.flatnonzero(np.diff(group[order])) + 1
    return [tuple(int(cell) for cell in cells) for cells in np.split(order, edges) if len(cells) > 1]


def with_same_cells(system: System, groups: Sequence[tuple[int, ...]]) -> System:
    """The system with one relation for each cell that equals the first of its group."""
    rows = [([first, other], [-1, 1]) for first, *others in groups for other in others]
    if not rows:
        return system
    extra = Relations.from_rows(system.table.n_cells, rows, [0.0] * len(rows))
    return replace(system, relations=system.relations.with_rows(extra))
