# SPDX-License-Identifier: Apache-2.0
"""What a published table tells everybody about each of its cells, derived from the published object and nothing else.

A cell whose status is published has its value, one that is empty is 0. A hidden cell of a table of counts has somebody in
it, unless empty cells may be among the hidden ones. Methods, audit and certificates start from the same floor.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.data.published_table import COUNT, EMPTY, HIDDEN, PUBLISHED, WEIGHTED, PublishedTable
from reticent.tables.problem import SuppressionProblem


@dataclass(frozen=True, eq=False)
class PublicBounds:
    """The ends between which everybody knows the cells of a published table, one entry per row of it.

    `whole` says that everybody knows the true values to be whole numbers; `exact` that published values are true ones.
    """

    low: Floats
    high: Floats
    whole: bool
    exact: bool


def public_bounds(table: PublishedTable) -> PublicBounds:
    """The bounds that the table itself gives: its values and states, the kind of response, decimals and method.

    Values that a method exchanged are bounded by the method's own statement; here only what the response allows is said.
    """
    exact = table.method == "suppression"
    status = np.array(table.status)
    floor = floor_of(table.kind, unit=10.0**-table.decimals, told_apart=exact and not table.hides_empty)
    least = -np.inf if table.signed else floor
    low, high = np.full(len(status), least), np.full(len(status), np.inf)
    if exact and not table.signed:
        somebody = floor_of(table.kind, unit=10.0**-table.decimals, told_apart=True)
        low[_proved_by_their_code(table)] = somebody
    if exact:
        shown = status == PUBLISHED
        low[shown] = high[shown] = table.values[shown]
        low[status == EMPTY] = high[status == EMPTY] = 0.0
    return PublicBounds(low, high, table.kind == COUNT, exact)


def _proved_by_their_code(table: PublishedTable) -> list[int]:
    """Rows in which somebody is because their code is listed: the totals of single codes that nothing but records declares."""
    found = []
    for row, codes in enumerate(table.codes if table.undeclared else ()):
        below = [at for at, name in enumerate(table.dimensions) if table.depths.get(name, {}).get(codes[at], 1) > 0]
        if len(below) == 1 and codes[below[0]] in table.undeclared.get(table.dimensions[below[0]], ()):
            found.append(row)
    return found


def floor_of(kind: str, *, unit: float, told_apart: bool) -> float:
    """What a hidden cell is at least: somebody is in it where empty cells can be told apart from hidden ones."""
    if not told_apart:
        return 0.0
    return {COUNT: 1.0, WEIGHTED: unit}.get(kind, 0.0)


def as_the_public_sees(
    problem: SuppressionProblem, hidden: Mask, tables: list[tuple[PublishedTable, NDArray[np.int64]]]
) -> SuppressionProblem:
    """The problem with bounds of hidden cells at least as narrow as the published tables make them.

    Each table comes with the number of the cell that each of its rows is (−1: no cell of the problem).
    """
    low, high = problem.lower_bound.copy(), problem.upper_bound.copy()
    for table, cells in tables:
        found = public_bounds(table)
        rows = np.flatnonzero((np.array(table.status) == HIDDEN) & (cells >= 0))
        np.maximum.at(low, cells[rows], found.low[rows])
        np.minimum.at(high, cells[rows], found.high[rows])
    low, high = np.where(hidden, low, problem.lower_bound), np.where(hidden, high, problem.upper_bound)
    values = problem.values
    return replace(problem, lower_bound=np.minimum(low, values), upper_bound=np.maximum(high, values))
