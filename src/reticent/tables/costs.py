"""What hiding a cell costs: by a name, by a variable, or by its distance from the unsafe cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import did_you_mean
from reticent.base.errors import PlanError
from reticent.data.table import Table
from reticent.tables.nearness import distance_cost
from reticent.tabulation.linked import System

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
COSTS = ("value", "unity", "frequency", "log", "sqrt", "distance")


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
    size = np.abs(table.values)
    if name in ("value", "x"):
        return size
    if name == "unity":
        return np.ones(table.n_cells)
    if name == "frequency":
        return np.maximum(table.respondents.counts, 1).astype(np.float64)
    if name == "log":
        return np.log1p(size)
    if name == "sqrt":
        return np.sqrt(size)
    if name == "distance":
        # the deeper a cell, the cheaper: what is lost with a subtotal is all that stands below it
        deepest = sum(int(d.levels.max(initial=0)) for d in table.dimensions)
        return (1 + deepest - table.levels).astype(np.float64)
    if name in table.respondents.measures:
        return np.abs(table.respondents.measures[name].totals)
    known = (*COSTS, "value^0.5")
    raise PlanError(
        f"[protect]: cost must be one of {', '.join(known)} or a numeric variable, got {name!r}.{did_you_mean(name, COSTS)}"
    )
