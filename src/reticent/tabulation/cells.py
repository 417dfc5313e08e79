# SPDX-License-Identifier: Apache-2.0
"""From units (records, or records combined to respondents) to all cells of a table: sparse, dimension by dimension."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.data.table import Dimension, Measure
from reticent.kernels.grouping import group_columns
from reticent.kernels.rollup import add_rows, spread
from reticent.kernels.topn import accumulate, merge

NO_FLOATS: Floats = np.zeros(0)
NO_INTEGERS: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Lists:
    """Sums and top lists of one variable over the cells (see `kernels.topn`)."""

    sums: Floats
    top: Floats
    units: Ints
    weights: Floats

    @classmethod
    def blank(cls, n_cells: int, k: int, *, weighted: bool) -> "Lists":
        """Lists without any contribution."""
        sums = np.zeros((n_cells, 4))
        sums[:, 2], sums[:, 3] = np.inf, -np.inf
        weights = np.zeros((n_cells, k)) if weighted else np.zeros((0, k))
        return cls(sums, np.zeros((n_cells, k)), np.full((n_cells, k), -1, dtype=np.int64), weights)

    def merged(self, source: Ints, group: Ints, n_cells: int) -> "Lists":
        """The lists of coarser cells."""
        new = Lists.blank(n_cells, self.top.shape[1], weighted=self.weights.size > 0)
        merge(
            source, group, self.sums, self.top, self.units, self.weights, new.sums, new.top, new.units, new.weights
        )  # fmt: skip
        return new

    def joined(self, other: "Lists") -> "Lists":
        """The cells of both, one behind the other."""
        return Lists(
            np.concatenate((self.sums, other.sums)),
            np.concatenate((self.top, other.top)),
            np.concatenate((self.units, other.units)),
            np.concatenate((self.weights, other.weights)),
        )

    def measure(self, name: str, *, scale: float, weight_scale: float, decimals: int) -> Measure:
        """The lists as a measure, in the unit of the data again."""
        empty = ~np.isfinite(self.sums[:, 2])
        weights = self.weights / weight_scale if self.weights.size else None
        return Measure(
            name,
            self.sums[:, 0] / (scale * weight_scale),
            self.sums[:, 1] / (scale * weight_scale),
            np.where(empty, 0.0, self.sums[:, 2]) / scale,
            np.where(empty, 0.0, self.sums[:, 3]) / scale,
            self.top / scale,
            self.units,
            weights,
            decimals,
        )


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of one stage: a node column per dimension, (units, weight) sums, and lists by variable."""

    columns: tuple[NDArray[np.int32], ...]
    counts: Floats
    lists: Mapping[str, Lists]

    def __len__(self) -> int:
        return len(self.counts)

    def joined(self, other: "Cells") -> "Cells":
        """Cells of both, equal ones added."""
        both = Cells(
            tuple(np.concatenate(pair) for pair in zip(self.columns, other.columns, strict=True)),
            np.concatenate((self.counts, other.counts)),
            {name: lists.joined(other.lists[name]) for name, lists in self.lists.items()},
        )
        return regroup(both, np.arange(len(both)), both.columns, [int(c.max(initial=0)) + 1 for c in both.columns])


def base_cells(
    columns: Sequence[NDArray[Any]],
    sizes: Sequence[int],
    values: Mapping[str, Floats],
    *,
    weights: Floats | None,
    units: Ints | None,
    tops: Mapping[str, int],
) -> Cells:
    """The cells of the units' own codes: one pass over the units for each variable."""
    group, n_cells = group_columns(columns, sizes)
    first = np.empty(n_cells, dtype=np.int64)
    first[group[::-1]] = np.arange(len(group) - 1, -1, -1)
    w = NO_FLOATS if weights is None else weights
    u = NO_INTEGERS if units is None else units
    counts = np.zeros((n_cells, 2))
    counts[:, 0] = np.bincount(group, minlength=n_cells)
    counts[:, 1] = counts[:, 0] if weights is None else np.bincount(group, weights, n_cells)
    lists = {}
    for name, contributions in values.items():
        made = Lists.blank(n_cells, tops[name], weighted=weights is not None)
        accumulate(group, contributions, w, u, made.sums, made.top, made.units, made.weights)
        lists[name] = made
    return Cells(tuple(np.asarray(c[first], dtype=np.int32) for c in columns), counts, lists)


def regroup(
    cells: Cells, source: Ints, columns: Sequence[NDArray[np.int32]], sizes: Sequence[int]
) -> Cells:  # fmt: skip
    """Entry i adds cell `source[i]` to the cell with the codes `columns[…][i]`."""
    group, n_cells = group_columns(list(columns), list(sizes))
    first = np.empty(n_cells, dtype=np.int64)
    first[group[::-1]] = np.arange(len(group) - 1, -1, -1)
    return Cells(
        tuple(column[first] for column in columns),
        add_rows(source, group, cells.counts, n_cells),
        {name: lists.merged(source, group, n_cells) for name, lists in cells.lists.items()},
    )


def roll_up(cells: Cells, dimensions: Sequence[Dimension]) -> Cells:
    """All totals and subtotals that have a unit: each dimension in turn is spread over the nodes above."""
    sizes = [len(d) for d in dimensions]
    for position, dimension in enumerate(dimensions):
        source, target = spread(cells.columns[position], *dimension.ancestors)
        columns = [target if at == position else column[source] for at, column in enumerate(cells.columns)]
        cells = regroup(cells, source, columns, sizes)
    return cells
