# SPDX-License-Identifier: Apache-2.0
"""Respondents with several records: their records combine first, in every cell again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.data.table import Dimension
from reticent.kernels.grouping import group_columns
from reticent.kernels.rollup import add_rows, spread
from reticent.tabulation.cells import Cells, base_cells, roll_up


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
        spread_out = _spread_units(combined.rows(times > 1), dimensions)
        assert spread_out.respondent is not None
        apart = base_cells(
            spread_out.columns, sizes, spread_out.values, weights=spread_out.weights, units=spread_out.respondent,
            tops=tops,
        )  # fmt: skip
        cells = cells.joined(apart) if len(base) else apart
    return cells


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
