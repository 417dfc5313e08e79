# SPDX-License-Identifier: Apache-2.0
"""The unknowns of one response: exact values, grouped into columns that every condition treats alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.queries.fixed import Fixed, Whole

ABSENT = -1
SPARSE = 20


@dataclass(frozen=True)
class RecordSet:
    """A set of records of one version, as a mask over its atoms; equal keys mean equal sets."""

    version: int
    atoms: Mask = field(repr=False, compare=False)
    key: str


@dataclass(frozen=True)
class Columns:
    """The unknowns of one response over all versions, grouped by the atoms they lie in.

    `atom_of[v]` is the atom of version v of each column (−1: not in that version). The units (one unknown each) of
    column c are `units[start[c]:start[c + 1]]`, with their respondents and exact values. `factors` are the values of the
    two responses where the unknowns are products of different ones. Where values of one version follow lines over those of
    another, `weights[v]` is what an unknown counts for in version v, `lines[v]` the line that it follows there, and
    `amounts[name][v]` by how much the response `name` of its record rose besides. `unit_at[v]` is the unit of each record of
    version v (−1: none).
    """

    name: str
    atom_of: tuple[NDArray[np.int64], ...]
    start: NDArray[np.int64]
    entity: NDArray[np.int64]
    values: Fixed
    factors: tuple[Fixed, ...] = ()
    weights: tuple[Whole, ...] = ()
    lines: tuple[NDArray[np.int64], ...] = ()
    amounts: Mapping[str, tuple[Whole, ...]] = field(default_factory=dict)
    unit_at: tuple[NDArray[np.int64], ...] = ()
    _largest: dict[int, Whole] = field(default_factory=dict, repr=False, compare=False)

    @property
    def has_units(self) -> bool:
        """Whether the value of each unit is there."""
        return True

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.start) - 1

    @property
    def n_units(self) -> int:
        """Number of unknowns."""
        return len(self.entity)

    @cached_property
    def totals(self) -> Whole:
        """The exact total of each column."""
        return self._by_column(self.values.integers)

    def _by_column(self, amounts: Whole) -> Whole:
        sums = np.concatenate(([0], np.cumsum(amounts)))
        return np.asarray(sums[self.start[1:]] - sums[self.start[:-1]])

    def mask(self, records: RecordSet) -> Mask:
        """The columns of a record set."""
        atoms = self.atom_of[records.version]
        return np.asarray(np.append(records.atoms, False)[atoms], dtype=bool)

    def units(self, mask: Mask) -> NDArray[np.int64]:
        """Positions of the units of some columns."""
        first, counts = self.start[:-1][mask], self.counts[mask]
        before = np.cumsum(counts) - counts
        return np.repeat(first - before, counts) + np.arange(int(counts.sum()), dtype=np.int64)

    @cached_property
    def by_entity(self) -> NDArray[np.int64]:
        """All units in the order of their respondents."""
        return np.argsort(self.entity, kind="stable")

    @cached_property
    def column_of(self) -> NDArray[np.int64]:
        """The column of each unit."""
        return np.repeat(np.arange(self.n_columns), self.counts)

    @cached_property
    def column_by_entity(self) -> NDArray[np.int64]:
        """The column of each unit, in the order of the respondents."""
        return self.column_of[self.by_entity]

    def units_by_entity(self, mask: Mask) -> NDArray[np.int64]:
        """Positions of the units of some columns, in the order of their respondents."""
        if int(self.counts[mask].sum()) * SPARSE < self.n_units:
            units = self.units(mask)
            return np.asarray(units[np.argsort(self.entity[units], kind="stable")], dtype=np.int64)
        return np.asarray(self.by_entity[mask[self.column_by_entity]], dtype=np.int64)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of units of each column."""
        return np.diff(self.start)

    @cached_property
    def one_each(self) -> bool:
        """Whether every respondent has one unit only."""
        return bool((np.bincount(self.entity) <= 1).all())

    @cached_property
    def n_respondents(self) -> NDArray[np.int64]:
        """Number of respondents of each column."""
        column = self.column_of
        order = np.lexsort((self.entity, column))
        first = np.ones(self.n_units, dtype=bool)
        first[1:] = (np.diff(column[order]) != 0) | (np.diff(self.entity[order]) != 0)
        return np.bincount(column[order][first], minlength=self.n_columns).astype(np.int64)

    @cached_property
    def extremes(self) -> tuple[Whole, Whole]:
        """The least and the greatest value of each column."""
        integers, starts = self.values.integers, self.start[:-1]
        return np.minimum.reduceat(integers, starts), np.maximum.reduceat(integers, starts)

    @cached_property
    def sizes(self) -> Whole:
        """The total of absolute values of each column."""
        return self._by_column(np.abs(self.values.integers))

    def largest(self, n: int) -> Whole:
        """The n largest absolute values of each column, shape (n_columns, n), filled up with 0."""
        if n not in self._largest:
            column = self.column_of
            amounts = np.abs(self.values.integers)
            falling = np.argsort(-amounts, kind="stable")
            order = falling[np.argsort(column[falling], kind="stable")]
            place = np.arange(self.n_units) - np.repeat(self.start[:-1], self.counts)
            table = np.zeros((self.n_columns, n), dtype=amounts.dtype)
            top = place < n
            table[column[top], place[top]] = amounts[order][top]
            self._largest[n] = table
        return self._largest[n]

    def commonest(self, n: int) -> tuple[Whole, NDArray[np.int64]]:
        """At most n different values of all units, those that most have first, and how many have each."""
        values, counts = np.unique(self.values.integers, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:n]
        return values[order], counts[order]

    def of_entities(self, known: frozenset[int]) -> list[int]:
        """The columns that hold units of these respondents only (each known one has columns of its own)."""
        if not known:
            return []
        inside = np.isin(self.entity, np.fromiter(known, dtype=np.int64))
        return [int(c) for c in np.flatnonzero(np.logical_and.reduceat(inside, self.start[:-1]))]

    def total(self, mask: Mask) -> int:
        """The exact sum over some columns, in units of 1/scale."""
        return int(self.totals[mask].sum())
