"""What earlier releases ask of the cells of a new table: which must be hidden, which stay shown, what may still be hidden."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from reticent.base.arrays import Mask
from reticent.base.errors import DataError
from reticent.data.cells import CellStatus
from reticent.data.table import Table
from reticent.tables.apriori import Knowledge
from reticent.tables.result import ProtectedTable
from reticent.tabulation.linked import System

Codes = tuple[str, ...]


@dataclass(frozen=True)
class Memory:
    """Cells of a table, by their codes, that earlier releases want hidden or shown.

    They concern cells that may be hidden or shown: an unsafe cell stays unsafe, whatever was published of it before, and
    codes that the table does not have are passed over.
    """

    hide: frozenset[Codes] = frozenset()
    show: frozenset[Codes] = frozenset()


def with_memory(system: System, knowledge: Knowledge, memories: Mapping[int, Memory]) -> Knowledge:
    """Work in what earlier releases ask of the tables of a system, by their numbers; hidden goes before shown."""
    status = knowledge.verdict.status.copy()
    for what, marked in (("show", CellStatus.FROZEN), ("hide", CellStatus.SECONDARY)):
        chosen: Mask = np.zeros(len(status), dtype=bool)
        for number, memory in memories.items():
            table, members = system.parts[number], system.members[number]
            chosen[members[_cells(table, getattr(memory, what))]] = True
        free = (knowledge.verdict.status == CellStatus.SAFE) & chosen
        status[free] = marked
    return replace(knowledge, verdict=replace(knowledge.verdict, status=status))


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
