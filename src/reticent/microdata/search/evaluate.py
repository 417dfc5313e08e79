# SPDX-License-Identifier: Apache-2.0
"""Groups of any node of the lattice, rolled up from the coarsest node below it that is still remembered."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.kernels.grouping import group_rows
from reticent.kernels.lattice import Rows, roll_up
from reticent.microdata.search.ladders import Ladder
from reticent.microdata.search.models import Groups, SafetyModel

Node = tuple[int, ...]
REMEMBERED = 6_000_000
"""Codes kept in remembered tables (24 MB and as much again for counts); the oldest go first."""


@dataclass
class Evaluator:
    """Distinct rows of keys (first columns) and sensitive variables (last), and tables already rolled up."""

    ladders: tuple[Ladder, ...]
    base: Rows
    model: SafetyModel
    row_of_record: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    evaluations: int = 0
    _tables: "OrderedDict[Node, Rows]" = field(default_factory=OrderedDict, repr=False)
    _kept: int = 0

    @classmethod
    def of(
        cls,
        ladders: Sequence[Ladder],
        codes: NDArray[np.int32],
        model: SafetyModel,
        *,
        sensitive: NDArray[np.int32] | None = None,
        weights: NDArray[np.float64] | None = None,
        copies: NDArray[np.int64] | None = None,
    ) -> "Evaluator":
        """From the codes of records: keys in the order of the ladders, sensitive variables beside them.

        With `copies` each row stands for this many records, and its weight is the sum of theirs.
        """
        many = np.ones(codes.shape[0], dtype=np.int64) if copies is None else copies
        both = codes if sensitive is None else np.hstack([codes, sensitive])
        both = np.ascontiguousarray(both, dtype=np.int32)
        each = many if weights is None else weights
        nothing = np.zeros(0, dtype=np.int32), np.full(both.shape[1], -1, dtype=np.int64)
        start = Rows(both, many, np.ascontiguousarray(each, dtype=np.float64))
        base, row_of_record = roll_up(start, *nothing)
        return cls(tuple(ladders), base, model, row_of_record)

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.base.counts.sum())

    @property
    def top(self) -> Node:
        """The coarsest node."""
        return tuple(ladder.height for ladder in self.ladders)

    def rows(self, node: Node) -> Rows:
        """Distinct rows at the node."""
        if node in self._tables:
            self._tables.move_to_end(node)
            return self._tables[node]
        source, rows = (0,) * len(node), self.base
        for other, table in self._tables.items():
            if table.counts.size < rows.counts.size and all(a <= b for a, b in zip(other, node)):
                source, rows = other, table
        result = self._raise(rows, source, node)
        self._remember(node, result)
        return result

    def _remember(self, node: Node, rows: Rows) -> None:
        if rows.codes.size > REMEMBERED // 4:
            return
        self._tables[node] = rows
        self._kept += rows.codes.size
        while self._kept > REMEMBERED:
            self._kept -= self._tables.popitem(last=False)[1].codes.size

    def _raise(self, rows: Rows, low: Node, high: Node) -> Rows:
        maps, offsets, length = [], np.full(rows.codes.shape[1], -1, dtype=np.int64), 0
        for column, (ladder, a, b) in enumerate(zip(self.ladders, low, high)):
            if a != b:
                table = ladder.between(a, b)
                maps.append(table)
                offsets[column] = length
                length += table.size
        if not maps:
            return rows
        return roll_up(rows, np.concatenate(maps), offsets)[0]

    def groups(self, rows: Rows) -> Groups:
        """The groups of a table of rows: rows that agree on all keys."""
        return groups_of(rows, len(self.ladders))

    def unsafe_records(self, node: Node) -> int:
        """How many records are in unsafe groups at the node."""
        self.evaluations += 1
        return self.unsafe_in(self.rows(node))

    def unsafe_in(self, rows: Rows) -> int:
        """How many records are in unsafe groups of a table."""
        groups = self.groups(rows)
        return int(groups.counts[self.model.unsafe(groups)].sum())

    def count_all(self, limits: Sequence[float]) -> tuple[int, ...]:
        """For each limit, the nodes whose unsafe records are at most that share; every node is evaluated, none inferred."""
        allowed = np.array([int(limit * self.n_records + 1e-9) for limit in limits])
        found = np.zeros(allowed.size, dtype=np.int64)

        def visit(rows: Rows, node: Node, first: int) -> None:
            nonlocal found
            found = found + (self.unsafe_in(rows) <= allowed)
            for column in range(first, len(node)):
                if node[column] < self.ladders[column].height:
                    up = (*node[:column], node[column] + 1, *node[column + 1 :])
                    visit(self._raise(rows, node, up), up, column)

        visit(self.base, (0,) * len(self.ladders), 0)
        return tuple(int(count) for count in found)


def groups_of(rows: Rows, n_keys: int) -> Groups:
    """Sizes, weights and sensitive cells of the groups of equal keys."""
    q = rows.codes.shape[1]
    if q == n_keys:
        none = np.zeros((rows.counts.size, 0), dtype=np.int32)
        return Groups(rows.counts, rows.weights, np.arange(rows.counts.size), none, rows.counts)
    keys = np.ascontiguousarray(rows.codes[:, :n_keys])
    group, n = group_rows(keys, np.maximum(keys.max(axis=0, initial=-1) + 1, 1))
    counts = np.bincount(group, weights=rows.counts, minlength=n).astype(np.int64)
    weights = np.bincount(group, weights=rows.weights, minlength=n).astype(np.float64)
    return Groups(counts, weights, group, rows.codes[:, n_keys:], rows.counts)
