"""Cells of linked tables that have the same records under different codes: the same cell, and the relations say so."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reticent.base.arrays import Words
from reticent.data.microdata import Microdata
from reticent.data.relations import Relations
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.tabulation.key_sums import key_sums
from reticent.tabulation.linked import System


def record_marks(data: Microdata, dimensions: Sequence[DimensionSpec], table: Table) -> Words:
    """128 bits for each cell that belong to its set of records: sums of random words, one pair a record.

    Two sets with the same marks are the same set, but for one chance in 2^128; marks never leave the program.
    """
    parts = np.random.default_rng(0).integers(0, 2**64, (data.n_records, 2), dtype=np.uint64)
    return key_sums(data, TableSpec(tuple(dimensions)), table, parts)


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
