# SPDX-License-Identifier: Apache-2.0
"""The one way out of a protected table: codes, values and `published | hidden | empty`, nothing else."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.data.table import Dimension, Table
from reticent.tables.attack.public import as_the_public_sees, floor_of, public_bounds
from reticent.tables.listing import are_listed, listed_nodes
from reticent.tables.methods import Outcome
from reticent.tables.problem import SuppressionProblem
from reticent.tabulation.linked import System

MOST_CELLS = 2_000_000


def release_table(
    system: System, number: int, outcome: Outcome, method: str, problem: SuppressionProblem
) -> PublishedTable:
    """The publishable form of one table of a system; combinations without records are listed as empty.

    The problem says what may be hidden: what is published about hidden cells must hold for all of them.
    """
    table, members = system.parts[number], system.members[number]
    values = (system.table.values if outcome.values is None else outcome.values)[members]
    hidden = outcome.hidden[members]
    empty = table.listed_empty & ~hidden
    codes = table.codes
    if table.n_possible <= MOST_CELLS and table.n_possible > table.n_cells:
        sizes = [len(d) for d in table.dimensions]
        place = np.ravel_multi_index(tuple(codes.T.astype(np.int64)), sizes)
        wide_values, wide_hidden = np.full(table.n_possible, np.nan), np.zeros(table.n_possible, dtype=bool)
        wide_empty = np.ones(table.n_possible, dtype=bool)
        wide_values[place], wide_hidden[place], wide_empty[place] = values, hidden, empty
        values, hidden, empty = wide_values, wide_hidden, wide_empty
        codes = np.column_stack(np.unravel_index(np.arange(table.n_possible), sizes)).astype(np.int32)
    if outcome.values is not None:  # a true 0 must look like one that noise or rounding made
        values, empty = np.where(empty, 0.0, values), np.zeros(len(empty), dtype=bool)
        if len(values) < table.n_possible:  # too many to list: then no 0 is listed at all
            shown = values != 0
            codes, values, hidden, empty = codes[shown], values[shown], hidden[shown], empty[shown]
    listed = _listed(table, None if outcome.values is None else outcome.values[members])
    kept = are_listed(codes, listed)
    codes, values, hidden, empty = codes[kept], values[kept], hidden[kept], empty[kept]
    status = np.where(hidden, HIDDEN, np.where(empty, EMPTY, PUBLISHED))
    return PublishedTable(
        dimensions=table.names,
        codes=tuple(zip(*([d.codes[node] for node in codes[:, at].tolist()] for at, d in enumerate(table.dimensions)))),
        values=np.where(hidden | empty, np.nan, values),
        status=tuple(status.tolist()),
        labels={d.name: _labels(d, nodes) for d, nodes in zip(table.dimensions, listed, strict=True) if d.labels},
        depths={d.name: _depths(d, nodes) for d, nodes in zip(table.dimensions, listed, strict=True)},
        undeclared=_undeclared(table, listed),
        marks=table.marks,
        measure=None if outcome.measure is None else _measures(table, outcome.measure[members], codes),
        **_told(table, members, outcome, method, problem),
    )


def _measures(table: Table, told: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """What is published of the change of each listed cell; NaN for cells without records."""
    sizes = [len(d) for d in table.dimensions]
    own, wanted = (np.ravel_multi_index(tuple(c.T.astype(np.int64)), sizes) for c in (table.codes, codes))
    order = np.argsort(own)
    at = np.minimum(np.searchsorted(own[order], wanted), len(own) - 1)
    return np.where(own[order][at] == wanted, told[order][at], np.nan)


def as_published(system: System, outcome: Outcome, method: str, problem: SuppressionProblem) -> SuppressionProblem:
    """The problem as the attacker sees it once the tables are published: bounds as narrow as the published objects make them."""
    return as_the_public_sees(problem, outcome.hidden, _views(system, outcome, method, problem))


def public_floor(system: System, outcome: Outcome, method: str, problem: SuppressionProblem) -> float:
    """What every hidden cell of the published tables is at least, as far as the tables themselves say so."""
    views = [view for view, _ in _views(system, outcome, method, problem) if HIDDEN in view.status]
    return min(
        (float(public_bounds(view).low[np.array(view.status) == HIDDEN].min()) for view in views), default=-np.inf
    )


def _views(
    system: System, outcome: Outcome, method: str, problem: SuppressionProblem
) -> list[tuple[PublishedTable, NDArray[np.int64]]]:
    """The cells of each table as they are published, without their codes, and their numbers in the system."""
    seen = []
    for table, members in zip(system.parts, system.members, strict=True):
        hidden = outcome.hidden[members]
        empty = table.listed_empty & ~hidden & (outcome.values is None)
        status = np.where(hidden, HIDDEN, np.where(empty, EMPTY, PUBLISHED))
        values = (system.table.values if outcome.values is None else outcome.values)[members]
        values = np.where(status == PUBLISHED, values, np.nan)
        view = PublishedTable(
            table.names, (), values, tuple(status.tolist()), **_told(table, members, outcome, method, problem)
        )
        seen.append((view, members))
    return seen


def _told(
    table: Table, members: NDArray[np.int64], outcome: Outcome, method: str, problem: SuppressionProblem
) -> dict[str, Any]:
    """What is published about a table as a whole."""
    may_be_hidden = (problem.candidates | problem.forced)[members]
    low = problem.lower_bound[members]
    return {
        "response": table.response or "count",
        "decimals": table.decimals,
        "method": "suppression" if outcome.values is None else method,
        "kind": table.kind,
        "hides_empty": problem.hides_empty or outcome.values is not None or _hides_empty(table, low[may_be_hidden]),
        "signed": bool((low < 0).any()),
    }


def _hides_empty(table: Table, floors: NDArray[np.float64]) -> bool:
    """Whether a cell without anybody in it may be among the hidden ones, as far as everybody knows."""
    floor = floor_of(table.kind, unit=10.0**-table.decimals, told_apart=True)
    return bool((floors < min(floor, table.least or floor)).any())


def _listed(table: Table, changed: NDArray[np.float64] | None) -> tuple[NDArray[np.bool_], ...]:
    """The nodes of each dimension that are listed: all, unless a row of zeros would say that its code exists."""
    if changed is None:
        return tuple(np.ones(len(d), dtype=bool) for d in table.dimensions)
    return listed_nodes(table, changed)


def _undeclared(table: Table, listed: tuple[NDArray[np.bool_], ...]) -> dict[str, frozenset[str]]:
    """The codes of each dimension that only records have, as far as they are listed."""
    found = {
        d.name: d.from_records & {d.codes[node] for node in np.flatnonzero(nodes).tolist()}
        for d, nodes in zip(table.dimensions, listed, strict=True)
    }
    return {name: codes for name, codes in found.items() if codes}


def _depths(dimension: Dimension, listed: NDArray[np.bool_]) -> dict[str, int]:
    return {dimension.codes[node]: int(dimension.levels[node]) for node in np.flatnonzero(listed).tolist()}


def _labels(dimension: Dimension, listed: NDArray[np.bool_]) -> dict[str, str]:
    return {dimension.codes[node]: dimension.labels[node] for node in np.flatnonzero(listed).tolist()}


def mean_table(total: PublishedTable, count: PublishedTable) -> PublishedTable:
    """Means of a response, from what is published and nothing else: a cell has one where its sum and its count are shown.

    So a mean says nothing that the two tables do not say. A mean beside a published count and a hidden sum would be the sum.
    """
    counted = dict(zip(count.codes, zip(count.status, count.values.tolist(), strict=True), strict=True))
    values, status = [], []
    for codes, state, value in zip(total.codes, total.status, total.values.tolist(), strict=True):
        other, number = counted.get(codes, (HIDDEN, 0.0))
        both = state == other == PUBLISHED and number > 0
        status.append(PUBLISHED if both else HIDDEN if HIDDEN in (state, other) else EMPTY)
        values.append(value / number if both else np.nan)
    return replace(
        total, values=np.array(values), status=tuple(status), response=f"mean of {total.response}",
        decimals=total.decimals + 2,
    )  # fmt: skip
