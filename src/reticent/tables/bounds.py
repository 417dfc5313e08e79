# SPDX-License-Identifier: Apache-2.0
"""What the attacker knows of every cell before anything is published, as the options of each table say it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats, Mask
from reticent.base.errors import PlanError
from reticent.data.table import Table
from reticent.data.table_plan import BoundsOptions
from reticent.tabulation.linked import System

_BOUND = re.compile(r"^\s*([+-]?\d+(?:\.\d+)?)\s*(max|min|%)\s*$")


@dataclass(frozen=True, eq=False)
class CellBounds:
    """The ends between which everybody knows each cell.

    `stated_low` has the cells whose lower end a plan says, `open_above` those of whose upper end nobody knows anything but
    a multiple of the largest cell.
    """

    low: Floats
    high: Floats
    stated_low: Mask
    open_above: Mask


def cell_bounds(system: System, options: Sequence[BoundsOptions]) -> CellBounds:
    """The bounds of all cells of linked tables, of each table by its own options; a cell of several has the narrowest.

    An end that no table of a cell says is 0 (or 1.5 times the least value of all cells), or 1.5 times the largest.
    """
    n = system.table.n_cells
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    said_low, said_high, known_high = (np.zeros(n, dtype=bool) for _ in range(3))
    for table, members, own in zip(system.parts, system.members, options, strict=True):
        least, most = _bounds_of(table, own)
        if own.lower is not None:
            np.maximum.at(low, members, least)
            said_low[members] = True
        if own.upper is not None:
            np.minimum.at(high, members, most)
            said_high[members] = True
            known_high[members] |= not str(own.upper).strip().endswith("max")
    least, most = _bounds_of(system.table, BoundsOptions())
    return CellBounds(np.where(said_low, low, least), np.where(said_high, high, most), said_low, ~known_high)


def _bounds_of(table: Table, options: BoundsOptions) -> tuple[Floats, Floats]:
    """The bounds of every cell. Without options: 0 (or 1.5 times the least value) to 1.5 times the largest."""
    negative = bool((table.values < 0).any())
    lower = options.lower if options.lower is not None else ("1.5 min" if negative else 0.0)
    all_negative = negative and not bool((table.values > 0).any())
    upper = options.upper if options.upper is not None else (0.0 if all_negative else "1.5 max")
    return _bound(table, lower, "lower", -1), _bound(table, upper, "upper", +1)


def _bound(table: Table, given: float | str, name: str, side: int) -> Floats:
    n = table.n_cells
    if isinstance(given, int | float):
        return np.full(n, float(given))
    if given.strip() == "none":
        return np.full(n, side * np.inf)
    found = _BOUND.match(given)
    if not found:
        raise PlanError(
            f'[table]: bounds {name} must be a number, "none", "50 %", "1.5 max" or "1.5 min", got {given!r}.'
        )
    factor, unit = float(found.group(1)), found.group(2)
    if unit == "%":
        return np.asarray(table.values + side * np.abs(table.values) * factor / 100.0)
    extreme = table.values.max(initial=0.0) if unit == "max" else table.values.min(initial=0.0)
    return np.full(n, factor * float(extreme))
