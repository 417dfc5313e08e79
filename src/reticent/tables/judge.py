# SPDX-License-Identifier: Apache-2.0
"""Linked tables as one system, each judged by its own rules and by what is known of its cells beforehand.

Plans, batch files and the Python call use the same functions: a cell that is in several tables is one cell, and so are
cells of different tables that have the same records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reticent.base.arrays import Words
from reticent.base.errors import DataError
from reticent.data.cells import CellStatus
from reticent.data.table import Measure, Table
from reticent.tables.apriori import Entry, EntryGroup, Knowledge, apply_groups
from reticent.tables.costs import TableCost, costs_by_table
from reticent.tables.protection import Judgement, judge_cells
from reticent.tables.rules import Rule
from reticent.tabulation.codings import Coding, with_codings
from reticent.tabulation.linked import System, link
from reticent.tabulation.same_records import same_cells, with_same_cells


@dataclass(frozen=True, eq=False)
class LinkedTable:
    """A table, the rules that judge it, what is known of its cells, marks of the records of each (None: unknown), costs."""

    table: Table
    rules: tuple[Rule, ...] = ()
    groups: tuple[EntryGroup, ...] = ()
    marks: Words | None = None
    cost: TableCost | None = None


def judge_linked(
    tables: Sequence[LinkedTable],
    a_priori: Sequence[Entry] = (),
    codings: Sequence[Coding] = (),
    *,
    hide_empty: bool = False,
) -> tuple[System, Knowledge]:
    """One system of all the cells: each table judged by its own rules, then what is known beforehand.

    Cells with the same records are the same cell: a relation says that they are equal, and what is unsafe for one is
    unsafe for all of them. `a_priori` names cells by the codes of all dimensions of the system, `codings` say which
    codes of different tables add up to the same. With `hide_empty` nobody sees that a cell has all records of its total: then
    only codes that go together say that two cells are the same.
    """
    system = link(_alike([one.table for one in tables]))
    same = _same_cells(tables, system)
    seen = all(one.marks is not None for one in tables) and not hide_empty
    system = with_codings(with_same_cells(system, same) if seen else system, codings, equal=not seen)
    verdict = _spread(_merged(system, [judge_cells(one.table, one.rules) for one in tables]), same)
    groups = [_moved(group, one.table, system) for one in tables for group in one.groups]
    # what a table file declares comes before what any a-priori file says
    groups.sort(key=lambda group: not group.declared)
    if a_priori:
        groups.append(EntryGroup(tuple(a_priori)))
    knowledge = apply_groups(system.table, system.relations, verdict, groups)
    priced = costs_by_table([one.cost for one in tables], system, knowledge.verdict.primary)
    return system, replace(knowledge, cost=np.where(np.isnan(knowledge.cost), priced, knowledge.cost))


def _moved(group: EntryGroup, table: Table, system: System) -> EntryGroup:
    """The entries with the codes of the system; a dimension that their table does not have is at its total."""
    moved = []
    for entry in group.entries:
        if len(entry.codes) != len(table.names):
            raise DataError(
                f"{entry.where}: {len(entry.codes)} codes are given, the table has {len(table.names)} dimensions."
            )
        given = dict(zip(table.names, entry.codes, strict=True))
        moved.append(replace(entry, codes=tuple(given.get(name, "") for name in system.table.names)))
    return replace(group, entries=tuple(moved))


def _same_cells(tables: Sequence[LinkedTable], system: System) -> list[tuple[int, ...]]:
    """Groups of cells of different tables that have the same records; only records can tell."""
    marks = [one.marks for one in tables if one.marks is not None]
    return same_cells(system, marks) if len(tables) > 1 and len(marks) == len(tables) else []


def _alike(tables: Sequence[Table]) -> list[Table]:
    """Finished tables with the same measures and lists of the same length, so that their cells can be in one system.

    Each table is judged by what it has itself; what is filled in here is not looked at.
    """
    if len({table.counted for table in tables}) > 1:
        raise DataError("linked tables: either all tables have a frequency column, or none has.")
    names = tuple(dict.fromkeys(name for table in tables for name in table.respondents.measures))
    width = {
        name: max(t.respondents.measures[name].top.shape[1] for t in tables if name in t.respondents.measures)
        for name in names
    }

    def filled(view: Mapping[str, Measure]) -> dict[str, Measure]:
        own = next(iter(view.values()))
        bare = replace(own, top=own.top[:, :0], top_units=own.top_units[:, :0])
        return {name: _padded(view.get(name) or replace(bare, name=name), width[name]) for name in names}

    return [
        table
        if all(name in table.respondents.measures for name in names)
        and all(table.respondents.measures[name].top.shape[1] == width[name] for name in names)
        else replace(
            table,
            respondents=replace(
                table.respondents,
                measures=filled(table.respondents.measures),
                judged=filled(table.respondents.judged),
            ),
        )
        for table in tables
    ]


def _padded(measure: Measure, width: int) -> Measure:
    lacking = ((0, 0), (0, width - measure.top.shape[1]))
    return replace(
        measure,
        top=np.pad(measure.top, lacking),
        top_units=np.pad(measure.top_units, lacking, constant_values=-1),
    )


def _spread(verdict: Judgement, groups: Sequence[tuple[int, ...]]) -> Judgement:
    """The verdict where each group has the status of its unsafe cells, with the largest levels."""
    status, reason = verdict.status.copy(), verdict.reason.copy()
    lower, upper = verdict.lower_protection.copy(), verdict.upper_protection.copy()
    broken = verdict.broken.copy()
    for group in groups:
        cells = list(group)
        unsafe = [cell for cell in cells if status[cell] == CellStatus.PRIMARY]
        if unsafe:
            status[cells], reason[cells] = CellStatus.PRIMARY, min(reason[unsafe])
            lower[cells], upper[cells] = lower[cells].max(), upper[cells].max()
            broken[:, cells] = broken[:, cells].any(axis=1, keepdims=True)
    return replace(
        verdict, status=status, reason=reason, lower_protection=lower, upper_protection=upper, broken=broken
    )  # fmt: skip


def _merged(system: System, verdicts: Sequence[Judgement]) -> Judgement:
    """A cell is unsafe if it is in any of the tables, by the first rule and with the largest levels."""
    if len(verdicts) == 1:
        return verdicts[0]
    rules = tuple(sorted(dict.fromkeys(rule for v in verdicts for rule in v.rules), key=lambda rule: rule.rank))
    n = system.table.n_cells
    reason = np.full(n, len(rules), dtype=np.int64)
    empty = np.ones(n, dtype=bool)
    lower, upper = np.zeros(n), np.zeros(n)
    broken = np.zeros((len(rules), n), dtype=bool)
    for verdict, members in zip(verdicts, system.members, strict=True):
        place = np.array([*(rules.index(rule) for rule in verdict.rules), len(rules)])
        np.minimum.at(reason, members, place[verdict.reason])
        empty[members[verdict.status != CellStatus.EMPTY]] = False
        np.maximum.at(lower, members, verdict.lower_protection)
        np.maximum.at(upper, members, verdict.upper_protection)
        for number, rule in enumerate(verdict.rules):
            np.logical_or.at(broken[rules.index(rule)], members, verdict.broken[number])
    unsafe = reason < len(rules)
    status = np.where(unsafe, CellStatus.PRIMARY, np.where(empty, CellStatus.EMPTY, CellStatus.SAFE))
    return Judgement(
        status.astype(np.int8), np.where(unsafe, reason, -1).astype(np.int16), rules, lower, upper, broken
    )  # fmt: skip
