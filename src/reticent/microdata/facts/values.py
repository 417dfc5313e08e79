# SPDX-License-Identifier: Apache-2.0
"""What a file tells about the numbers of its records: sums over atoms, by how its records can be matched with the units.

Who is in which atom is known; which of the records of a pattern belongs to which of its atoms is not. Releases select
whole atoms, so facts are stated about their sums, which loses nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.facts import Interval, Term
from reticent.microdata.facts.builder import Builder, own_term, total
from reticent.microdata.facts.matching import Matching
from reticent.tabulation.ground import GroundedData

NONE: Ints = np.zeros(0, dtype=np.int64)
OPEN = "what a response without bounds adds where it is open which records are in an atom"


@dataclass(frozen=True)
class Sum:
    """What is known of the sum over this many records, and of each of them; None is an open end."""

    total: tuple[int, int]
    each: Interval
    size: int


@dataclass(frozen=True, eq=False)
class ShownNumber:
    """A response as the file shows it: for each record a kind of interval and, where it is one of a sum, its number (or −1)."""

    response: str
    kind: Ints = field(repr=False)
    kinds: tuple[Interval, ...] = field(repr=False)
    sum_of: Ints = field(repr=False)
    sums: Mapping[int, Sum] = field(repr=False)


@dataclass(frozen=True)
class _Group:
    """Records that look alike: how many, their pattern, and per response the kind of interval and the sum they are in."""

    size: int
    pattern: int
    kinds: tuple[int, ...]
    sums: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Cell:
    """Units that no release tells apart and that can be shown alike; `known` has the responses they have values of.

    `empty` are the empty atoms that are no different: whoever is there is shown as one of the units.
    """

    signature: int
    units: Ints
    known: frozenset[str]
    empty: Ints


def tell_values(
    builder: Builder,
    grounded: GroundedData,
    matching: Matching,
    numbers: list[ShownNumber],
    *,
    classes: Ints,
    sampled: bool,
) -> None:
    """The facts about sums of the responses over the classes of atoms."""
    if not numbers:
        return
    groups: dict[int, list[_Group]] = {}
    for group in _groups(matching, numbers):
        groups.setdefault(group.pattern, []).append(group)
    cells: dict[int, list[_Cell]] = {}
    for cell in _cells(grounded, matching, [number.response for number in numbers], classes):
        cells.setdefault(cell.signature, []).append(cell)
    with_units = [cell.empty for own in cells.values() for cell in own]
    tell_nothing(builder, grounded, numbers, np.setdiff1d(grounded.ground.empty, np.concatenate([*with_units, NONE])))
    shares: dict[tuple[int, int], list[int]] = {}
    for patterns, signatures in matching.parts:
        mine = [group for pattern in patterns.tolist() for group in groups.get(pattern, ())]
        own = [cell for signature in signatures.tolist() for cell in cells.get(signature, ())]
        if own:
            _Part(builder, grounded, numbers, mine, own, _columns(matching, patterns, own), sampled, shares).tell()
    for (at, name), own_parts in shares.items():
        builder.tell([own_term(dict.fromkeys(own_parts, 1))], *numbers[at].sums[name].total)


def tell_nothing(builder: Builder, grounded: GroundedData, numbers: list[ShownNumber], atoms: Ints) -> None:
    """Values of a file are those of its units: nothing is in atoms that no unit is in or like."""
    for number in numbers:
        builder.tell([total(number.response, grounded.ground.spare_places(number.response, atoms))], 0, 0)


def _columns(matching: Matching, patterns: Ints, cells: list[_Cell]) -> dict[int, list[int]]:
    """The cells that each pattern may be shown for, as positions in a list of cells."""
    of_signature: dict[int, list[int]] = {}
    for column, cell in enumerate(cells):
        of_signature.setdefault(cell.signature, []).append(column)
    return {
        pattern: [column for s in matching.signatures(pattern).tolist() for column in of_signature.get(s, ())]
        for pattern in patterns.tolist()
    }


def _groups(matching: Matching, numbers: list[ShownNumber]) -> list[_Group]:
    columns = [matching.pattern_of_record]
    for number in numbers:
        columns += [number.kind, number.sum_of]
    rows, sizes = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    return [
        _Group(int(size), row[0], tuple(row[1::2]), tuple(row[2::2]))
        for row, size in zip(rows.tolist(), sizes.tolist(), strict=True)
    ]


def _cells(grounded: GroundedData, matching: Matching, responses: list[str], classes: Ints) -> list[_Cell]:
    """The units of each class of atoms that can be shown alike, apart where values are missing."""
    atom = grounded.ground.atom_of_unit
    there = [grounded.there(name) for name in responses]
    rows = np.column_stack([matching.signature_of_atom[atom], classes[atom], *there]).astype(np.int64)
    found, cell_of_unit = np.unique(rows, axis=0, return_inverse=True)
    order = np.argsort(cell_of_unit.reshape(-1), kind="stable")
    bounds = np.searchsorted(cell_of_unit.reshape(-1)[order], np.arange(len(found) + 1))
    empty = _empty_like(grounded, matching, found, classes)
    return [
        _Cell(
            int(row[0]),
            np.sort(order[bounds[at] : bounds[at + 1]]),
            frozenset(name for name, known in zip(responses, row[2:], strict=True) if known),
            empty.get((int(row[0]), int(row[1]), *row[2:].tolist()), NONE),
        )
        for at, row in enumerate(found)
    ]


def _empty_like(grounded: GroundedData, matching: Matching, found: Ints, classes: Ints) -> dict[tuple[int, ...], Ints]:
    """The empty atoms of the class and signature of units that have all values, by these; of no use without `spare`."""
    ground = grounded.ground
    if not ground.spare:
        return {}
    keys = {(int(row[0]), int(row[1])): tuple(row.tolist()) for row in found if bool((row[2:] == 1).all())}
    members: dict[tuple[int, ...], list[int]] = {}
    for atom in ground.empty.tolist():
        key = keys.get((int(matching.signature_of_atom[atom]), int(classes[atom])))
        if key is not None:
            members.setdefault(key, []).append(atom)
    return {key: np.array(own, dtype=np.int64) for key, own in members.items()}


@dataclass(eq=False)
class _Part:
    """One part of a file that is matched by itself: groups of records, cells of units, and the cells of each pattern."""

    builder: Builder
    grounded: GroundedData
    numbers: list[ShownNumber]
    groups: list[_Group]
    cells: list[_Cell]
    columns: Mapping[int, list[int]]
    sampled: bool
    shares: dict[tuple[int, int], list[int]]

    def tell(self) -> None:
        """State the facts; where all records of a part show the same intervals, it does not matter who is who."""
        if self._alike:
            for cell in self.cells:
                for at, number in enumerate(self.numbers):
                    low, high = number.kinds[self.groups[0].kinds[at]]
                    if (low, high) == self.grounded.ground.bounds_of(number.response):
                        continue
                    self._say(number.response, cell, _times(low, len(cell.units)), _times(high, len(cell.units)))
            return
        self._balance()
        for at in range(len(self.numbers)):
            parts = self._sums(at)
            if parts is None:
                self.builder.note(OPEN)
                continue
            for column, cell in enumerate(self.cells):
                if self.numbers[at].response in cell.known:
                    self._tell_cell(at, column, parts.get(column, []))

    @property
    def _alike(self) -> bool:
        first = {group.kinds for group in self.groups}
        summed = any(number >= 0 for group in self.groups for number in group.sums)
        return len(first) == 1 and not summed and not self.sampled

    def _say(self, response: str, cell: _Cell, low: int | None, high: int | None) -> None:
        if response in cell.known:
            self.builder.tell([self._total(response, cell)], low, high)

    def _total(self, response: str, cell: _Cell) -> Term:
        return total(response, np.append(cell.units, self.grounded.ground.spare_places(response, cell.empty)))

    @cached_property
    def _flow(self) -> list[dict[int, tuple[int | None, int]]]:
        """How many records of each group are of a cell: the number of an auxiliary unknown, or a known number; by cell."""
        found: list[dict[int, tuple[int | None, int]]] = [{} for _ in self.cells]
        for row, group in enumerate(self.groups):
            columns = self.columns[group.pattern]
            for column in columns:
                if len(columns) == 1:
                    found[column][row] = (None, group.size)
                else:
                    most = min(group.size, len(self.cells[column].units))
                    found[column][row] = (self.builder.unknown(0, most), 0)
        return found

    def _balance(self) -> None:
        """Every record is one unit's, and every unit has one record (of a sample: at most one)."""
        flow = self._flow
        for row, group in enumerate(self.groups):
            own = (flow[column][row][0] for column in self.columns[group.pattern])
            self.builder.tell([own_term({number: 1 for number in own if number is not None})], group.size, group.size)
        for column, cell in enumerate(self.cells):
            weights, known = self._weighted(dict.fromkeys(flow[column], 1), column)
            size = len(cell.units)
            self.builder.tell([own_term(weights)], None if self.sampled else size, size, constant=known)

    def _weighted(self, weights: Mapping[int, int], column: int) -> tuple[dict[int, int], int]:
        """Σ weight · records of a cell over some groups, as weights of auxiliary unknowns and a constant."""
        own: dict[int, int] = {}
        known = 0
        for row, (number, size) in self._flow[column].items():
            weight = weights.get(row, 0)
            if number is None:
                known += weight * size
            elif weight:
                own[number] = own.get(number, 0) + weight
        return own, known

    def _sums(self, at: int) -> dict[int, list[int]] | None:
        """For each cell the auxiliary unknowns of its parts of sums; None where nothing bounds the parts."""
        number = self.numbers[at]
        found: dict[int, list[int]] = {}
        members: dict[int, list[int]] = {}
        for row, group in enumerate(self.groups):
            if group.sums[at] >= 0:
                members.setdefault(group.sums[at], []).append(row)
        for name, rows in members.items():
            known = number.sums[name]
            low, high = known.each
            if low is None:
                return None
            room = known.total[1] - low * known.size
            most = room + low if high is None else min(high, room + low)
            for column in sorted({c for row in rows for c in self.columns[self.groups[row].pattern]}):
                cap = min(known.size, len(self.cells[column].units))
                own = self.builder.unknown(min(0, low * cap), max(0, most * cap))
                found.setdefault(column, []).append(own)
                self.shares.setdefault((at, name), []).append(own)
                for each, ends in ((low, (0, None)), (most, (None, 0))):
                    weights, constant = self._weighted(dict.fromkeys(rows, -each), column)
                    self.builder.tell([own_term({own: 1, **weights})], *ends, constant=constant)
        return found

    def _tell_cell(self, at: int, column: int, parts: list[int]) -> None:
        number, cell = self.numbers[at], self.cells[column]
        sums = dict.fromkeys(parts, -1)
        ends = [self._end(at, column, side) for side in (0, 1)]
        term = self._total(number.response, cell)
        if ends[0] is not None and ends[0] == ends[1]:
            weights, constant = ends[0]
            self.builder.tell([term, own_term({**weights, **sums})], constant, constant)
            return
        for found, open_end in zip(ends, ((0, None), (None, 0)), strict=True):
            if found is not None:
                weights, constant = found
                self.builder.tell([term, own_term({**weights, **sums})], *open_end, constant=-constant)

    def _end(self, at: int, column: int, side: int) -> tuple[dict[int, int], int] | None:
        """Minus the least (side 0) or greatest sum of what the records of a cell show, and its constant; None: no end."""
        number, size, flow = self.numbers[at], len(self.cells[column].units), self._flow[column]
        outside = self.grounded.ground.bounds_of(number.response)[side]
        ends = {row: number.kinds[self.groups[row].kinds[at]][side] for row in flow if self.groups[row].sums[at] < 0}
        left_out = self.sampled and not self._all_sampled(column)
        open_rows = [row for row, end in ends.items() if end is None]
        if open_rows or (left_out and outside is None):
            certain = any(flow[row][0] is None for row in open_rows)
            certain |= left_out and outside is None and all(own is None for own, _ in flow.values())
            every = len(open_rows) == len(flow) and (not left_out or outside is None)
            if not certain and not every:
                self.builder.note(OPEN)
            return None
        base = outside if left_out and outside is not None else 0
        inside = {row: base - (ends[row] or 0) if row in ends else base for row in flow}
        own, known = self._weighted(inside, column)
        return own, base * size - known

    def _all_sampled(self, column: int) -> bool:
        flow = self._flow[column].values()
        return all(own is None for own, _ in flow) and sum(n for _, n in flow) == len(self.cells[column].units)


def _times(end: int | None, size: int) -> int | None:
    return None if end is None else end * size
