# SPDX-License-Identifier: Apache-2.0
"""Sums of cells in which somebody is: no less than what one record has at least, where everybody knows that from its code."""

from collections.abc import Sequence

import numpy as np

from reticent.base.arrays import Floats, Mask
from reticent.data.microdata import Microdata
from reticent.data.table import Table, TableSpec
from reticent.tables.request import WantedTable
from reticent.tabulation.class_limits import OfOne
from reticent.tabulation.responses import limits_in_records

LISTED = 20
"""A note names this many limits."""


def limits_of_tables(wanted: Sequence[WantedTable]) -> list[OfOne]:
    """What one record adds at least to the tables of a response; engines and finished tables do not say it.

    With weights a record adds its value times its weight, and the least weight counts.
    """
    found: dict[OfOne, None] = {}
    for one in wanted:
        data, spec = one.records, one.source
        if not isinstance(data, Microdata) or not isinstance(spec, TableSpec) or one.redesign is not None:
            continue
        if spec.response is None:
            return []
        weights = data.weights() if spec.weighted else None
        least = 1.0 if weights is None else float(weights.min(initial=1.0))
        for limit in limits_in_records(data, spec.response, spec.dimensions):
            found[OfOne(limit.within, limit.sign, limit.limit * least)] = None
    return list(found)


def ends_of_one(table: Table, limits: Sequence[OfOne]) -> tuple[Floats, Floats] | None:
    """The least and the largest sum of each cell with somebody in it; what a cell does not keep nobody knows of it."""
    if not limits:
        return None
    low, high = np.full(table.n_cells, -np.inf), np.full(table.n_cells, np.inf)
    somebody = ~table.listed_empty
    for one in limits:
        here = somebody & _within(table, one)
        if one.sign > 0:
            low[here] = np.maximum(low[here], one.limit)
        else:
            high[here] = np.minimum(high[here], one.limit)
    return np.where(low <= table.values, low, -np.inf), np.where(high >= table.values, high, np.inf)


def _within(table: Table, one: OfOne) -> Mask:
    """The cells that a limit is about."""
    if one.within is None:
        return np.ones(table.n_cells, dtype=bool)
    name, code = one.within
    if name not in table.names:
        return np.zeros(table.n_cells, dtype=bool)
    at = table.names.index(name)
    return np.asarray(table.codes[:, at] == table.dimensions[at].index.get(code, -1))


def limits_note(response: str, limits: Sequence[OfOne]) -> tuple[str, ...]:
    """What was found, in a sentence; nothing if nothing was."""
    if not limits:
        return ()
    listed = "; ".join(map(str, limits[:LISTED])) + (
        f"; and {len(limits) - LISTED} more" if len(limits) > LISTED else ""
    )
    return (
        f"Limits of {response} were found in the data, and the attacker knows that who is in a hidden cell has {listed}. "
        "Say find_relations = false if they are accidents.",
    )
