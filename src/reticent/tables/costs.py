# SPDX-License-Identifier: Apache-2.0
"""What hiding a cell costs: by a name, by a variable, or by its distance. The choice decides what kind of pattern comes out.

Three distances are meant by three doors: in plans how high a cell stands above the inner ones, for numbers how many relations
it is away from the unsafe ones, and in batch files (`tables/nearness.py`) how many codes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Floats, Mask
from reticent.base.checks import did_you_mean
from reticent.base.errors import ParameterError, PlanError
from reticent.data.table import Table
from reticent.tables.nearness import distance_cost
from reticent.tables.problem import SuppressionProblem
from reticent.tabulation.linked import System

COSTS = ("value", "unity", "frequency", "log", "sqrt", "distance")
"""What a plan may call a cost; `distance` is that from the inner cells."""
NUMBER_COSTS = ("own", "unity", "frequency", "value", "log", "power", "distance")
"""What numbers without codes may cost; `distance` is that from the unsafe cells, in relations."""
BY_SIZE = ("value", "unity", "log", "sqrt")


@dataclass(frozen=True)
class TableCost:
    """What hiding the cells of one table costs: `name` as in `cost_of`, or where there are any, `distances` by dimension."""

    name: str = "value"
    distances: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def costs_by_table(costs: Sequence[TableCost | None], system: System, primary: Mask) -> Floats:
    """What hiding each cell costs as its first table says; NaN where none says anything."""
    cost = np.full(system.table.n_cells, np.nan)
    for given, table, members in zip(costs, system.parts, system.members, strict=True):
        if given is None:
            continue
        if given.distances:
            own = distance_cost(system.table, primary, given.distances)[members]
        else:
            own = cost_of(table, given.name)
        cost[members] = np.where(np.isnan(cost[members]), own, cost[members])
    return cost


def cost_of(table: Table, name: str) -> Floats:
    """What hiding each cell costs: by value, unity, frequency, log, sqrt, distance from the inner cells, or a variable.

    `value^0.5` (any name and any power) takes the power of it; the power 0 is the logarithm, as in tau-ARGUS.
    """
    base, hat, power = name.partition("^")
    cost = _plain_cost(table, base.strip())
    if not hat:
        return cost
    try:
        exponent = float(power)
    except ValueError:
        raise PlanError(f"[protect]: cost {name!r} must be a name, ^ and a number, e.g. value^0.5.") from None
    return np.asarray(np.log1p(cost) if exponent == 0 else cost**exponent)


def _plain_cost(table: Table, name: str) -> Floats:
    if name == "frequency":
        return np.maximum(table.respondents.counts, 1).astype(np.float64)
    if name == "distance":
        return _by_height(table)
    if name in BY_SIZE or name == "x":
        return cost_by_size(np.abs(table.values), "value" if name == "x" else name)
    if name in table.respondents.measures:
        return np.abs(table.respondents.measures[name].totals)
    known = (*COSTS, "value^0.5")
    raise PlanError(
        f"[protect]: cost must be one of {', '.join(known)} or a numeric variable, got {name!r}.{did_you_mean(name, COSTS)}"
    )


def _by_height(table: Table) -> Floats:
    """The deeper a cell, the cheaper: what is lost with a subtotal is all that stands below it."""
    deepest = sum(int(d.levels.max(initial=0)) for d in table.dimensions)
    return (1 + deepest - table.levels).astype(np.float64)


def cost_by_size(size: Floats, name: str, *, power: float = 0.5) -> Floats:
    """What a cell of this size costs: its size, a function of it, or the same for all."""
    if name == "unity":
        return np.ones(len(size))
    if name == "log":
        return np.log1p(size)
    if name == "sqrt":
        return np.sqrt(size)
    return size if name == "value" else size**power


def costs_of(problem: SuppressionProblem, cost: str, *, power: float = 0.5) -> Floats:
    """Costs of numbers by name: `own` are the problem's, `power` is |value|**power, `distance` grows away from the primaries."""
    if cost == "own":
        return problem.cost
    if cost == "frequency":
        if problem.counts is None:
            raise ParameterError("Suppression: cost 'frequency' needs the counts of the cells, and there are none.")
        return problem.counts.astype(np.float64)
    if cost == "distance":
        return _relations_away(problem)
    return cost_by_size(np.abs(problem.values), cost, power=power)


def _relations_away(problem: SuppressionProblem) -> Floats:
    """1 for cells that share a relation with a primary, 2 for the next ones, and so on (far cells: one more)."""
    distance = np.where(problem.primary, 0.0, np.inf)
    relations = problem.relations
    if relations.n_rows == 0:
        return np.ones(problem.n_cells)
    filled = np.diff(relations.indptr) > 0
    starts = relations.indptr[:-1][filled]
    while True:
        near = np.minimum.reduceat(distance[relations.cells], starts) + 1
        before = distance.copy()
        np.minimum.at(distance, relations.cells, np.repeat(near, np.diff(relations.indptr)[filled]))
        if np.array_equal(before, distance):
            break
    known = distance[np.isfinite(distance)]
    last = float(known.max(initial=0.0))
    return np.asarray(np.where(np.isfinite(distance), np.maximum(distance, 1.0), last + 1))
