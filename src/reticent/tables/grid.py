# SPDX-License-Identifier: Apache-2.0
"""Tables in plain data: dimensions as trees, cells with status and levels, one cell in full. Confidential."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.base.arrays import Mask
from reticent.base.errors import DataError, ParameterError
from reticent.base.plain import finite
from reticent.data.cells import CellStatus
from reticent.data.table import Dimension, Table
from reticent.tables.result import STATUS_NAMES, ProtectedTable
from reticent.tables.rules import Rule, RuleCells

N_LARGEST = 3


@dataclass(frozen=True)
class Grid:
    """One table: the trees of its dimensions and its cells, side by side. `system` has the number of each cell among all."""

    response: str
    dimensions: tuple[dict[str, Any], ...]
    codes: list[list[int]]
    values: list[float]
    counts: list[int]
    status: list[str]
    system: list[int]
    rules: tuple[int, ...]
    """How many cells each rule of the plan calls unsafe, in its order."""
    n_possible: int
    decimals: int
    shown: list[float | None]
    """What may be seen of each cell by somebody who has not asked for values; nothing where that would tell others."""


def grid_of(
    table: Table, status: Any, members: list[int], rules: Sequence[Rule], shown: Sequence[float | None]
) -> Grid:
    """A table with the status of its cells, their numbers among all, and how many cells each rule calls unsafe."""
    return Grid(
        table.response or "count",
        tuple(_dimension(one) for one in table.dimensions),
        table.codes.tolist(),
        table.values.tolist(),
        table.respondents.counts.tolist(),
        [STATUS_NAMES[CellStatus(int(one))] for one in status],
        members,
        unsafe_by_rule(rules, table),
        table.n_possible,
        table.decimals,
        list(shown),
    )


def shown_before(table: Table, status: Any) -> list[float | None]:
    """Every value of a table that is not protected, unless a cell is unsafe or one respondent's: totals would tell it."""
    alone = _of_one(table).any()
    telling = bool(alone) or bool((np.asarray(status) == CellStatus.PRIMARY).any())
    return [None] * table.n_cells if telling else table.values.tolist()


def shown_after(table: Table, members: Any, result: ProtectedTable) -> list[float | None]:
    """What a protected table publishes; nothing of one that exposes a cell, or publishes what one respondent gave."""
    hidden, values = result.outcome.hidden[members], result.outcome.values
    published = table.values if values is None else values[members]
    if result.exposed or (values is None and bool((_of_one(table) & ~hidden).any())):
        return [None] * table.n_cells
    return [None if gone else float(value) for gone, value in zip(hidden, published, strict=True)]


def _of_one(table: Table) -> Mask:
    """Cells whose value is that of a single respondent; a count of 1 is no value of anybody."""
    alone = np.asarray(table.respondents.counts == 1)
    return alone if table.response is not None else np.zeros_like(alone)


def _dimension(one: Dimension) -> dict[str, Any]:
    parents = np.full(len(one), -1)
    for tree in reversed(one.trees):
        parents[tree >= 0] = tree[tree >= 0]
    return {
        "name": one.name, "codes": list(one.codes), "labels": [one.label(node) for node in range(len(one))],
        "parents": parents.tolist(), "levels": one.levels.tolist(),
    }  # fmt: skip


def unsafe_by_rule(rules: Sequence[Rule], table: Table) -> tuple[int, ...]:
    """Each rule by itself: a cell may break several. −1: the rule cannot judge this table (counts have no contributions)."""
    hits = [broken(rule, table) for rule in rules]
    return tuple(-1 if hit is None else int(hit.sum()) for hit in hits)


def broken(rule: Rule, table: Table) -> Mask | None:
    """Which cells break a rule; None where it cannot judge the table."""
    try:
        hit = rule.unsafe(RuleCells.of(table, rule.unit)) & ~table.listed_empty
    except DataError:
        return None
    return hit & ~table.has_missing if table.missing_safe else hit


def largest_shares(table: Table, cell: int) -> list[float]:
    """The largest contributions to a cell, as shares of it."""
    name = table.judged_variable
    measure = table.respondents.measures.get(name) if name is not None else None
    if measure is None or not measure.top.shape[1] or not measure.magnitudes[cell] > 0:
        return []
    weights = np.ones(measure.top.shape[1]) if measure.top_weights is None else measure.top_weights[cell]
    shares: list[float] = (measure.top[cell] * weights / measure.magnitudes[cell])[:N_LARGEST].tolist()
    return [share for share in shares if share > 0]


def cell_facts(result: ProtectedTable, cell: int, *, values: bool) -> dict[str, Any]:
    """One cell of a result in full: status, rules, respondents, shares of the largest contributions, intervals, why hidden.

    Its sentences have values of cells only with `values`.
    """
    table = result.table
    if not 0 <= cell < table.n_cells:
        raise ParameterError("table: there is no such cell; choose one in the table.")
    hidden = bool(result.outcome.hidden[cell])
    return {
        "name": table.name_of(cell), "codes": list(table.cell_codes(cell)), "value": float(table.values[cell]),
        "respondents": int(table.respondents.counts[cell]), "shares": largest_shares(table, cell),
        "status": STATUS_NAMES[CellStatus(int(result.status[cell]))], "rule": ", ".join(result.verdict.rules_of(cell)),
        "exposed": cell in result.exposed, "hidden": hidden, **_interval(result, cell),
        "why": result.why(*table.cell_codes(cell), values=values).split("\n") if hidden else [],
    }  # fmt: skip


def _interval(result: ProtectedTable, cell: int) -> dict[str, Any]:
    at = np.flatnonzero(result.audit.cells == cell)
    if not len(at):
        return {"interval": None}
    found, place = result.audit, int(at[0])
    ends = (found.low, found.high, found.required_low, found.required_high)
    return {"interval": [finite(end[place]) for end in ends]}
