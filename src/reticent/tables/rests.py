# SPDX-License-Identifier: Apache-2.0
"""Who is left of cells when others that lie within them are taken away: a difference of published cells is judged as a cell.

Ages 15 to 65 in one table and 15 to 64 in another publish those who are 65, though no table has them. The only
respondent in what is left knows it, like a sole respondent of a cell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Ints, Mask
from reticent.data.cells import CellStatus
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.kernels.grouping import group_columns
from reticent.tables.inputs import MAX_COALITION
from reticent.tables.make import fit_to_rules
from reticent.tables.protection import judge_cells
from reticent.tables.request import WantedTable
from reticent.tables.rules import Rule
from reticent.tabulation.codings import Row
from reticent.tabulation.dimensions import build_dimension
from reticent.tabulation.joint import Left
from reticent.tabulation.linked import System
from reticent.tabulation.tabulate import respondents_of, tabulate

MOST_RECORDS = 1_000_000
"""Rests are judged, the smallest first, until they have so many records together."""
MOST_KEPT = 200_000_000
"""So many marks of who is in a cell are kept at once."""
NOBODY = Left()


def with_rests(
    wanted: Sequence[WantedTable], system: System, limits: Sequence[Row]
) -> tuple[tuple[Row, ...], tuple[Left, ...]]:
    """What cells leave of others, and who is left: whether they are unsafe by the rules, and who they are if they are few.

    Where several cells are taken away, so may be one of them, or all but one: of these the unsafe ones are added. Only records
    in memory say who is left.
    """
    if not limits:
        return (), ()
    more = [row for limit in limits for row in _fewer(limit)]
    rows = list({(tuple(cells), tuple(factors)): (cells, factors) for cells, factors in (*limits, *more)}.values())
    left = _left(wanted, system, rows)
    chosen = [at for at in range(len(rows)) if at < len(limits) or left.get(at, NOBODY).unsafe]
    return tuple(rows[at] for at in chosen), tuple(left.get(at, NOBODY) for at in chosen)


def _fewer(row: Row) -> list[Row]:
    """The row with one of the cells that are taken away, and with all but one."""
    cells, factors = row
    whole = [cell for cell, factor in zip(cells, factors, strict=True) if factor == 1]
    parts = [cell for cell, factor in zip(cells, factors, strict=True) if factor == -1]
    if len(parts) < 2 or len(whole) + len(parts) < len(cells):
        return []
    sets = [*([part] for part in parts), *([part for part in parts if part != out] for out in parts)]
    return [([*whole, *taken], [*([1] * len(whole)), *([-1] * len(taken))]) for taken in sets]


def _left(wanted: Sequence[WantedTable], system: System, rows: Sequence[Row]) -> dict[int, Left]:
    """Who is left of rows, by their numbers: they are unsafe by the rules where a cell of them would be."""
    data, spec = wanted[0].records, wanted[0].source
    rules = tuple(dict.fromkeys(rule for one in wanted for rule in one.rules))
    members = _Members.of(wanted, system)
    if members is None or not rules or not isinstance(data, Microdata) or not isinstance(spec, TableSpec):
        return {}
    left = members.left(rows)
    sizes = {at: int(members.counts[own].sum()) for at, own in left.items()}
    groups = {at: members.records(left[at]) for at in smallest(sizes)}
    unsafe = unsafe_groups(data, spec, rules, groups)
    few = _few(data, spec, groups)
    by_name = data.entity() is not None or spec.response is not None  # else only cells tell who is who
    cells = {} if by_name else members.alone(sorted({one for own in few.values() for one in own}))
    return {at: Left(at in unsafe, tuple((one, cells.get(one, -1)) for one in few.get(at, ()))) for at in groups}


def _few(data: Microdata, spec: TableSpec, groups: Mapping[int, Ints]) -> dict[int, tuple[int, ...]]:
    """The respondents of groups of records that have so few that they may join, if they have a value at all."""
    respondents = respondents_of(data)
    there = None if spec.response is None else ~np.isnan(data.numbers((spec.response,))[:, 0])
    found = {}
    for at, own in groups.items():
        records = own if there is None else own[there[own]]
        who = np.unique(records if respondents is None else respondents[records])
        if 0 < len(who) <= MAX_COALITION:
            found[at] = tuple(who.tolist())
    return found


def smallest(sizes: Mapping[int, int]) -> list[int]:
    """The smallest groups, until they have as many records together as are judged."""
    by_size = sorted(sizes, key=lambda at: sizes[at])
    return by_size[: int(np.searchsorted(np.cumsum([sizes[at] for at in by_size]), MOST_RECORDS, side="right"))]


def unsafe_groups(data: Microdata, spec: TableSpec, rules: Sequence[Rule], groups: Mapping[int, Ints]) -> set[int]:
    """The numbers of those groups of records that are unsafe by the rules as if they were a cell; of very many the smallest.

    `spec` says what is added up; a group is judged as a code of its first dimension.
    """
    kept = smallest({at: len(own) for at, own in groups.items()})
    if not kept:
        return set()
    names = [str(at) for at in kept]
    carrier = spec.dimensions[0].variable
    codes = np.repeat(np.arange(len(kept), dtype=np.int32), [len(groups[at]) for at in kept])
    chosen = data.rows(np.concatenate([groups[at] for at in kept])).with_codes(carrier, codes, names)
    tree = Hierarchy((TOTAL, *names), (-1, *([0] * len(names))))
    table = tabulate(chosen, replace(fit_to_rules(spec, rules), dimensions=(DimensionSpec(carrier, (tree,)),)))
    judged = judge_cells(table, rules).status == CellStatus.PRIMARY
    own_codes = table.dimensions[0].codes
    return {int(own_codes[node]) for node in table.codes[judged, 0].tolist() if node}


@dataclass(frozen=True, eq=False)
class _Members:
    """Which records each cell of a system has: the records stand `in_order` of their combinations of codes, of which each has
    so many (`counts`). `nodes` has the codes of each combination by table and dimension.
    """

    system: System
    nodes: list[list[Ints]]
    counts: Ints
    in_order: Ints

    @classmethod
    def of(cls, wanted: Sequence[WantedTable], system: System) -> "_Members | None":
        """The records of linked tables; None where they are not in memory, or not the same for all."""
        data = wanted[0].records
        columns: list[NDArray[np.int32]] = []
        sizes: list[int] = []
        for one, table in zip(wanted, system.parts, strict=True):
            spec = one.source
            if not isinstance(data, Microdata) or one.records is not data or not isinstance(spec, TableSpec):
                return None
            for dimension in spec.dimensions:
                columns.append(build_dimension(data, dimension)[1][data.encoded(dimension.variable).codes])
            sizes += [len(dimension) for dimension in table.dimensions]
        number, n = group_columns(columns, sizes)
        in_order, counts = np.argsort(number, kind="stable"), np.bincount(number, minlength=n)
        first = in_order[np.cumsum(counts) - counts]
        each = iter([np.asarray(column[first], dtype=np.int64) for column in columns])
        return cls(system, [[next(each) for _ in table.dimensions] for table in system.parts], counts, in_order)

    def left(self, rows: Sequence[Row]) -> dict[int, Ints]:
        """The combinations of codes that each row of cells leaves, by its number; of many rows nobody is left."""
        home = {
            cell: (part, at)
            for part in reversed(range(len(self.system.parts)))
            for at, cell in enumerate(self.system.members[part].tolist())
        }
        # neighbouring rows share cells; of many records not all cells are kept at once
        inside = lru_cache(max(8, MOST_KEPT // max(1, len(self.counts))))(self._inside)
        found: dict[int, Ints] = {}
        for at, (cells, factors) in enumerate(rows):
            clock.check()
            left = np.zeros(len(self.counts), dtype=np.int8)
            for cell, factor in zip(cells, factors, strict=True):
                left += np.int8(factor) * inside(*home[cell])
            chosen = np.flatnonzero(left)
            if len(chosen) and bool((left[chosen] == 1).all()):
                found[at] = chosen
        return found

    def records(self, chosen: Ints) -> Ints:
        """The records that have one of some combinations of codes."""
        starts = np.cumsum(self.counts) - self.counts
        return np.concatenate([self.in_order[starts[own] : starts[own] + self.counts[own]] for own in chosen.tolist()])

    def alone(self, records: Sequence[int]) -> dict[int, int]:
        """Which of these records have a cell for themselves, with one such cell each."""
        combination = np.empty(len(self.in_order), dtype=np.int64)
        combination[self.in_order] = np.repeat(np.arange(len(self.counts)), self.counts)
        single = [np.flatnonzero(table.respondents.counts == 1) for table in self.system.parts]
        found: dict[int, int] = {}
        for record in records:
            clock.check()
            for part, own in enumerate(single):
                cells = own[self._has(part, own, int(combination[record]))]
                if len(cells):
                    found[record] = int(self.system.members[part][cells[0]])
                    break
        return found

    def _has(self, part: int, cells: Ints, combination: int) -> Mask:
        """Which of some cells of a table have a combination of codes."""
        table = self.system.parts[part]
        found = np.ones(len(cells), dtype=bool)
        for place, dimension in enumerate(table.dimensions):
            start, above = dimension.ancestors
            node = int(self.nodes[part][place][combination])
            found &= np.isin(table.codes[cells, place], [0, *above[start[node] : start[node + 1]].tolist()])
        return found

    def _inside(self, part: int, at: int) -> NDArray[np.int8]:
        """1 for each combination of codes that a cell of a table has."""
        table = self.system.parts[part]
        found = np.ones(len(self.counts), dtype=np.int8)
        for place, node in enumerate(table.codes[at].tolist()):
            if node:
                found &= _below(table, place, node)[self.nodes[part][place]]
        return found


def _below(table: Table, place: int, node: int) -> NDArray[np.int8]:
    """1 for each code of a dimension that is a code, or below it."""
    dimension = table.dimensions[place]
    start, above = dimension.ancestors
    found = np.zeros(len(dimension), dtype=np.int8)
    found[np.repeat(np.arange(len(dimension)), np.diff(start))[above == node]] = 1
    return found
