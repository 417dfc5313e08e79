# SPDX-License-Identifier: Apache-2.0
"""Respondents with several records: their records combine first, in every cell again."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.data.table import Dimension
from reticent.kernels.grouping import group_columns, members_of_groups
from reticent.kernels.respondent_cells import Places, add_respondents, number_cells, sum_up
from reticent.kernels.rollup import add_rows, spread
from reticent.tabulation.cells import Cells, Lists, base_cells, roll_up

# Up to here respondents are followed from cell to cell: as many possible cells, pairs of units of one respondent for each
# unit (a respondent with very many units would be compared with itself for long), cells above a unit (bits of a word).
MOST_NUMBERED = 20_000_000
MOST_PAIRS = 64.0
MOST_ABOVE = 64


@dataclass(frozen=True, eq=False)
class Units:
    """Units of analysis: a node column per dimension, contributions by variable, weights, and the respondent of each.

    Records that are their own respondents are known by their place; `places` has it where these are some of them only.
    """

    columns: tuple[NDArray[np.int32], ...]
    values: Mapping[str, Floats]
    weights: Floats | None
    respondent: Ints | None
    places: Ints | None = None

    def rows(self, keep: NDArray[np.bool_]) -> "Units":
        """Some of the units."""
        return Units(
            tuple(column[keep] for column in self.columns),
            {name: values[keep] for name, values in self.values.items()},
            None if self.weights is None else self.weights[keep],
            None if self.respondent is None else self.respondent[keep],
            np.flatnonzero(keep) if self.places is None else self.places[keep],
        )


def tabulate_units(units: Units, dimensions: Sequence[Dimension], tops: Mapping[str, int]) -> Cells:
    """All non-empty cells. Respondents that stay within one finest cell take the fast way, the others the exact one."""
    sizes = [len(d) for d in dimensions]
    if units.respondent is None:
        base = base_cells(units.columns, sizes, units.values, weights=units.weights, units=units.places, tops=tops)
        return roll_up(base, dimensions)
    combined = combine(units, sizes)
    assert combined.respondent is not None
    times = np.bincount(combined.respondent)[combined.respondent]
    compact = combined.rows(times == 1)
    base = base_cells(
        compact.columns, sizes, compact.values, weights=compact.weights, units=compact.respondent, tops=tops
    )
    cells = roll_up(base, dimensions) if len(base) else base
    if (times > 1).any():
        apart = _several(combined.rows(times > 1), dimensions, tops)
        cells = cells.joined(apart) if len(base) else apart
    return cells


def _several(units: Units, dimensions: Sequence[Dimension], tops: Mapping[str, int]) -> Cells:
    """The cells of respondents that are in several finest cells, by the way that suits their number and the table."""
    assert units.respondent is not None
    possible = math.prod(len(d) for d in dimensions)
    pairs = float(np.square(np.bincount(units.respondent).astype(np.float64)).sum())
    few = pairs <= MOST_PAIRS * len(units.respondent)
    if few and possible <= MOST_NUMBERED and _cells_above(dimensions) <= MOST_ABOVE:
        return _cells_of_respondents(units, dimensions, tops)
    spread_out = _spread_units(units, dimensions)
    return base_cells(
        spread_out.columns, [len(d) for d in dimensions], spread_out.values, weights=spread_out.weights,
        units=spread_out.respondent, tops=tops,
    )  # fmt: skip


def _cells_of_respondents(units: Units, dimensions: Sequence[Dimension], tops: Mapping[str, int]) -> Cells:
    """All cells without a list of all respondents in all cells."""
    assert units.respondent is not None
    starts, order = members_of_groups(units.respondent, int(units.respondent.max()) + 1)
    places = _places(units, dimensions, starts)
    together = places._replace(nodes=places.nodes[order])
    found = np.empty(len(places.cells), dtype=np.int64)
    found = found[: number_cells(places, found)]
    weights = np.zeros(0) if units.weights is None else units.weights
    totals = np.empty((len(order), _cells_above(dimensions)))
    counts = np.zeros((len(found), 2))
    lists: dict[str, Lists] = {}
    for name, contributions in units.values.items():
        sum_up(together, contributions[order], order, totals)
        made = Lists.blank(len(found), tops[name], weighted=units.weights is not None)
        size = np.zeros((0, 2)) if lists else counts  # the first variable counts
        add_respondents(
            places, totals, units.respondent, weights, size, made.sums, made.top, made.units, made.weights
        )  # fmt: skip
        lists[name] = made
    codes = np.unravel_index(found, [len(d) for d in dimensions])
    return Cells(tuple(column.astype(np.int32) for column in codes), counts, lists)


def _cells_above(dimensions: Sequence[Dimension]) -> int:
    """In how many cells a unit is at most."""
    return math.prod(int(np.diff(d.ancestors[0]).max(initial=0)) for d in dimensions)


def _places(units: Units, dimensions: Sequence[Dimension], starts: Ints) -> Places:
    """Where the units stand, for the kernel."""
    sizes = [len(d) for d in dimensions]
    offsets = np.cumsum([0, *(size + 1 for size in sizes)])[:-1]
    lengths = np.cumsum([0, *(len(d.ancestors[1]) for d in dimensions)])[:-1]
    indptr = np.concatenate([d.ancestors[0] + length for d, length in zip(dimensions, lengths, strict=True)])
    above = np.concatenate([d.ancestors[1] for d in dimensions]).astype(np.int32)
    strides = np.array([math.prod(sizes[at + 1 :]) for at in range(len(sizes))], dtype=np.int64)
    numbers = np.full(math.prod(sizes), -1, dtype=np.int32)
    nodes = np.column_stack(units.columns).astype(np.int32)
    return Places(nodes, starts, offsets, indptr.astype(np.int64), above, strides, numbers)


def combine(units: Units, sizes: Sequence[int]) -> Units:
    """One unit for each respondent and finest cell."""
    assert units.respondent is not None
    n = len(units.respondent)
    columns: list[NDArray[Any]] = [*units.columns, units.respondent]
    return _regroup(units, np.arange(n), columns, [*sizes, int(units.respondent.max(initial=0)) + 1])


def _spread_units(units: Units, dimensions: Sequence[Dimension]) -> Units:
    """One unit for each respondent and cell of any level: contributions add up before they are compared."""
    assert units.respondent is not None
    sizes = [*(len(d) for d in dimensions), int(units.respondent.max(initial=0)) + 1]
    for position, dimension in enumerate(dimensions):
        assert units.respondent is not None
        source, target = spread(units.columns[position], *dimension.ancestors)
        columns = [target if at == position else column[source] for at, column in enumerate(units.columns)]
        units = _regroup(units, source, [*columns, units.respondent[source]], sizes)
    return units


def _regroup(units: Units, source: Ints, columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> Units:
    """Entry i adds unit `source[i]` to the unit with these codes; the last column is the respondent."""
    group, n_groups = group_columns(list(columns), list(sizes))
    first = np.empty(n_groups, dtype=np.int64)
    first[group[::-1]] = np.arange(len(group) - 1, -1, -1)
    values = {}
    for name, contributions in units.values.items():
        values[name] = add_rows(source, group, np.nan_to_num(contributions)[:, None], n_groups)[:, 0]
    return Units(
        tuple(np.asarray(column[first], dtype=np.int32) for column in columns[:-1]),
        values,
        None if units.weights is None else units.weights[source[first]],  # equal for all records of a respondent
        np.asarray(columns[-1][first], dtype=np.int64),
    )
