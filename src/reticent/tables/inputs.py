# SPDX-License-Identifier: Apache-2.0
"""From a judged table to the problem that methods solve and the attacker attacks: costs, bounds, levels."""

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import DataError
from reticent.data.cells import CellStatus
from reticent.data.published_table import COUNT, MAGNITUDE, WEIGHTED
from reticent.data.relations import Relations
from reticent.data.table import Table
from reticent.tables.apriori import Knowledge
from reticent.tables.attack.insiders import singles_by_relations
from reticent.tables.attack.public import floor_of
from reticent.tables.bounds import CellBounds
from reticent.tables.costs import cost_of
from reticent.tables.floors import known_floors
from reticent.tables.problem import SuppressionProblem
from reticent.tabulation.assemble import RECORDS

WHOLE = 2_000
"""Up to this many cells whole numbers that are not plain counts are attacked as whole numbers."""
MAX_COALITION = 4
"""This many respondents may join at most."""


def build_problem(
    table: Table,
    relations: Relations,
    knowledge: Knowledge,
    *,
    bounds: CellBounds,
    cost: str,
    hide_empty: bool = False,
    exchanged: bool = False,
) -> SuppressionProblem:
    """The suppression problem. Bounds that a rule's levels pass are widened above; below, levels end at the bound.

    With `hide_empty` cells without respondents may be hidden like others; where values are `exchanged` instead of hidden,
    a 0 that is published says nothing about who is in the cell.
    """
    verdict = knowledge.verdict
    primary = verdict.primary
    status = _with_empty(verdict.status, relations) if hide_empty else verdict.status
    low = np.where(np.isnan(knowledge.lower_bound), bounds.low, knowledge.lower_bound)
    high = np.where(np.isnan(knowledge.upper_bound), bounds.high, knowledge.upper_bound)
    _check_bounds(table, low, high)
    # numbers of unknown kind may be counts, unless somebody says what they are at least
    stated = bounds.stated_low & (not table.counted)
    floors = _floors(table, status, told_apart=not (hide_empty or exchanged))
    low = np.maximum(low, np.where(stated, _floors(table, status, told_apart=False), floors))
    if hide_empty:
        low = np.maximum(low, _floors_of_codes(table))
    least, most = _ends_of_one(table, knowledge, hide_empty=hide_empty)
    low = np.maximum(low, least)
    nobody = (status == CellStatus.EMPTY) | ((status == CellStatus.FROZEN) & table.listed_empty)
    low = known_floors(low, np.where(nobody, 0.0, np.inf), relations, table.values)
    upper = np.minimum(verdict.upper_protection, most - table.values)
    high = np.where(primary, np.maximum(high, table.values + upper), high)
    # nobody's own knowledge: hiding everything must leave room for every level
    open_above = bounds.open_above & np.isnan(knowledge.upper_bound)
    high = np.where(open_above, np.maximum(high, table.values + upper.max(initial=0.0)), high)
    high = np.minimum(high, most)
    lower = np.where(primary, np.minimum(verdict.lower_protection, table.values - low), 0.0)
    costs = cost_of(table, cost)
    costs = np.where(np.isnan(knowledge.cost), costs, knowledge.cost)
    if hide_empty:  # an empty cell is as dear as the least that could be in it, lest all of them are hidden at no cost
        costs = np.where(table.listed_empty, np.maximum(costs, 10.0**-table.decimals), costs)
    return SuppressionProblem(
        table.values,
        np.where(status == CellStatus.EMPTY, 0.0, costs),
        lower,
        np.where(primary, upper, 0.0),
        np.zeros(table.n_cells),
        low,
        high,
        status,
        relations,
        table.respondents.counts if table.counted else None,
        _single_respondents(table, relations),
        _whole(table),
        partners=_partners(table),
        hides_empty=hide_empty,
    )


def _with_empty(status: NDArray[np.int8], relations: Relations) -> NDArray[np.int8]:
    """The status where empty cells may be hidden, and are wherever one shares a relation with an unsafe cell.

    Were such a cell shown as empty, it would say that somebody is in the hidden cells beside it; so it must not be worked
    out either. A cell that somebody declared to be shown (it is empty for everybody to know) is.
    """
    row_of = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    unsafe = np.zeros(relations.n_rows, dtype=bool)
    unsafe[row_of[status[relations.cells] == CellStatus.PRIMARY]] = True
    beside = np.zeros(len(status), dtype=bool)
    beside[relations.cells[unsafe[row_of]]] = True
    empty = status == CellStatus.EMPTY
    hidden = np.where(beside, CellStatus.PRIMARY, CellStatus.SAFE)
    return np.where(empty, hidden, status).astype(status.dtype)


def _floors(table: Table, status: NDArray[np.int8], *, told_apart: bool) -> Floats:
    """What everybody knows each cell to be at least, whatever a plan says: never more than its value.

    In a table of counts somebody is in a hidden cell, unless a 0 may be hidden too; so it is with what may count something else.
    """
    kind = COUNT if _may_count(table) else table.kind
    if kind == MAGNITUDE:
        return np.full(table.n_cells, -np.inf)
    shown = (status == CellStatus.EMPTY) | (status == CellStatus.FROZEN)
    told_apart = told_apart and not bool((~shown & (table.values == 0)).any())
    floor = floor_of(kind, unit=10.0**-table.decimals, told_apart=told_apart)
    return np.minimum(max(floor, table.least if told_apart else 0.0), table.values)


def _may_count(table: Table) -> bool:
    """Whether a finished table may count what each respondent has at least one of, such as the plants of firms.

    Of tables made of records these say what everybody has at least.
    """
    values, people = table.values, table.respondents.counts
    if table.from_records or table.weighted or not table.counted or (values != np.rint(values)).any():
        return False
    return bool((values >= people).all() and (values == people)[people > 0].any())


def _floors_of_codes(table: Table) -> Floats:
    """What the list of codes says where empty cells are hidden: somebody has a code that only records can have brought in."""
    if table.kind == MAGNITUDE:
        return np.full(table.n_cells, -np.inf)
    floor = max(floor_of(table.kind, unit=10.0**-table.decimals, told_apart=True), table.least)
    return np.asarray(np.minimum(np.where(_proved_by_code(table), floor, -np.inf), table.values))


def _proved_by_code(table: Table) -> Mask:
    """Totals of single codes that only records can have brought in."""
    found = np.zeros(table.n_cells, dtype=bool)
    below_total = table.codes > 0
    for at, dimension in enumerate(table.dimensions):
        alone = below_total[:, at] & (below_total.sum(axis=1) == 1)
        found |= alone & ~dimension.declared[table.codes[:, at]]
    return found


def _ends_of_one(table: Table, knowledge: Knowledge, *, hide_empty: bool) -> tuple[Floats, Floats]:
    """Between what a cell lies because somebody is in it; where empty cells are hidden too, only codes tell who is there."""
    if knowledge.of_one is None:
        return np.full(table.n_cells, -np.inf), np.full(table.n_cells, np.inf)
    known = _proved_by_code(table) if hide_empty else np.ones(table.n_cells, dtype=bool)
    least, most = knowledge.of_one
    return np.where(known, least, -np.inf), np.where(known, most, np.inf)


def _whole(table: Table) -> bool:
    """Whether everybody knows that all true values are whole numbers, and it can be calculated with."""
    if table.is_count and not table.weighted:
        return True
    whole = table.kind == COUNT or (table.kind == WEIGHTED and table.decimals == 0)
    return whole and table.n_cells <= WHOLE


def room_notes(table: Table, problem: SuppressionProblem, knowledge: Knowledge, bounds: CellBounds) -> tuple[str, ...]:
    """What a run says where levels reach beyond the attacker's bounds.

    That a rule's levels end at 0, or at what a count is at least, needs no words; who gave levels that reach below it must
    hear that they do not count.
    """
    verdict, slack = knowledge.verdict, problem.tolerance
    stretched = problem.primary & (table.values + verdict.upper_protection > bounds.high + slack)
    told = np.where(np.isnan(knowledge.lower_bound), bounds.low, knowledge.lower_bound) != 0
    told[list(knowledge.stated)] = True
    short = problem.primary & (problem.lower_protection < verdict.lower_protection - slack) & told
    n_above, n_below = int(stretched.sum()), int(short.sum())
    notes = []
    if n_above:
        notes.append(
            f"The levels of {n_above} unsafe cells reach above the attacker's bounds; there the bounds were widened to them."
        )
    if n_below:
        notes.append(
            f"The levels of {n_below} unsafe cells reach below the attacker's bounds; there they end at the bounds."
        )
    return tuple(notes)


def _check_bounds(table: Table, low: Floats, high: Floats) -> None:
    outside = np.flatnonzero((table.values < low) | (table.values > high))
    if len(outside):
        raise DataError(
            f"[table]: {len(outside)} cells lie outside the attacker's bounds, the first is "
            f"{table.name_of(int(outside[0]))}; bounds must contain every true value."
        )


def _partners(table: Table) -> dict[int, frozenset[int]]:
    """The respondents of each cell that has two or more, but not more than may join, as far as their names are there."""
    units, counts = _names(table), table.respondents.counts
    if units is None:
        return {}
    few = np.flatnonzero((counts >= 2) & (counts <= min(units.shape[1], MAX_COALITION)))
    named = {int(cell): frozenset(units[cell, : counts[cell]].tolist()) for cell in few}
    return {cell: who for cell, who in named.items() if len(who) == counts[cell] and min(who) >= 0}


def _names(table: Table) -> Ints | None:
    """Who the first respondents of each cell are; None where nobody is known by name.

    In a table of counts that is so where every record is a respondent of its own: cells with the same one are one cell.
    """
    measure = table.respondents.measures.get(table.judged_variable or RECORDS) if table.counted else None
    return None if measure is None else measure.top_units


def _single_respondents(table: Table, relations: Relations) -> NDArray[np.int64] | None:
    """The respondent of each cell that has only one, −1 elsewhere.

    A finished table does not say who it is; but a total of one respondent has the respondent of its part.
    """
    units = _names(table)
    if units is None or units.shape[1] == 0:
        return None
    single = table.respondents.counts == 1
    label = singles_by_relations(single, relations)
    first = np.full(int(label.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, label[single], units[single, 0])
    found = np.full(table.n_cells, -1, dtype=np.int64)
    found[single] = first[label[single]]
    return found
