# SPDX-License-Identifier: Apache-2.0
"""What earlier releases ask of the cells of a new table: which must be hidden, which stay shown, what may still be hidden."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import DataError
from reticent.data.cells import CellStatus
from reticent.data.table import Table
from reticent.tables.apriori import Knowledge
from reticent.tables.result import ProtectedTable
from reticent.tabulation.linked import System

Codes = tuple[str, ...]


Ends = tuple[float, float]


@dataclass(frozen=True)
class Memory:
    """What earlier releases ask of the cells of a table, by their codes.

    Cells to `hide` or `show` are those that may be either: an unsafe cell stays unsafe, whatever was published of it. `unsafe`
    are cells of which earlier releases keep an interval unknown, `window` has the least and the largest value that a method
    that changes values may publish. Codes that the table does not have are passed over.
    """

    hide: frozenset[Codes] = frozenset()
    show: frozenset[Codes] = frozenset()
    unsafe: Mapping[Codes, Ends] = field(default_factory=dict)
    window: Mapping[Codes, Ends] = field(default_factory=dict)


def with_memory(system: System, knowledge: Knowledge, memories: Mapping[int, Memory]) -> Knowledge:
    """Work in what earlier releases ask of the tables of a system, by their numbers; unsafe goes before hidden before shown."""
    verdict = knowledge.verdict
    status, free = verdict.status.copy(), verdict.status == CellStatus.SAFE
    lower, upper = verdict.lower_protection.copy(), verdict.upper_protection.copy()
    for number, memory in memories.items():
        table, members = system.parts[number], system.members[number]
        for chosen, marked in ((memory.show, CellStatus.FROZEN), (memory.hide, CellStatus.SECONDARY)):
            cells = members[_cells(table, chosen)]
            status[cells[free[cells]]] = marked
    for number, memory in memories.items():
        table, members = system.parts[number], system.members[number]
        for codes, (low, high) in memory.unsafe.items():
            for cell in members[_cells(table, frozenset((codes,)))].tolist():
                if free[cell] or verdict.status[cell] == CellStatus.PRIMARY:
                    status[cell], value = CellStatus.PRIMARY, float(table.values[table.find(codes)])
                    lower[cell], upper[cell] = max(lower[cell], value - low), max(upper[cell], high - value)
    judged = replace(verdict, status=status, lower_protection=lower, upper_protection=upper)
    return replace(knowledge, verdict=judged)


def window_of(system: System, memories: Mapping[int, Memory]) -> tuple[Floats, Floats] | None:
    """The least and the largest value that may be published of each cell of a system; None where nothing is asked."""
    if not any(memory.window for memory in memories.values()):
        return None
    least, most = np.full(system.table.n_cells, -np.inf), np.full(system.table.n_cells, np.inf)
    for number, memory in memories.items():
        table, members = system.parts[number], system.members[number]
        for codes, (low, high) in memory.window.items():
            cells = members[_cells(table, frozenset((codes,)))]
            least[cells], most[cells] = np.maximum(least[cells], low), np.minimum(most[cells], high)
    return least, most


def _cells(table: Table, chosen: frozenset[Codes]) -> list[int]:
    found = []
    for codes in chosen:
        if len(codes) != len(table.names):
            raise DataError(f"memory: a cell of this table has {len(table.names)} codes, got {len(codes)}.")
        known = all(code in d.index for code, d in zip(codes, table.dimensions, strict=True))
        cell = table.find(codes) if known else None
        if cell is not None:
            found.append(cell)
    return found


@dataclass(frozen=True, eq=False)
class Shown:
    """One published table of a result: the cells that it shows and might hide instead, each with what that costs."""

    costs: Mapping[Codes, float] = field(repr=False)
    hidden: frozenset[Codes] = field(repr=False)


def hideable(result: ProtectedTable) -> list[Shown]:
    """Of each published table of a result what it shows and might hide, and what it hides without being unsafe."""
    if result.joint is not None:
        return [shown for own in result.by_response() for shown in hideable(own)]
    found = []
    problem, hidden = result.problem, result.outcome.hidden
    for number in result.published_numbers:
        table, members = result.system.parts[number], result.system.members[number]
        free = problem.candidates[members] & ~hidden[members]
        costs = {table.cell_codes(cell): float(problem.cost[members[cell]]) for cell in np.flatnonzero(free).tolist()}
        given = np.flatnonzero(hidden[members] & ~problem.primary[members])
        found.append(Shown(costs, frozenset(table.cell_codes(cell) for cell in given.tolist())))
    return found
