# SPDX-License-Identifier: Apache-2.0
"""Sums of cells judged by the rules: the respondents of all their cells combined, as if the sum were a cell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.base.errors import DataError
from reticent.data.published_table import COUNT
from reticent.data.table import Contributions, Measure, Respondents, Table
from reticent.tables.problem import SumJudge
from reticent.tables.rules import Manual, Rule, RuleCells, Threshold, Zero
from reticent.tabulation.linked import System

Group = tuple[int, ...]
LONGEST = 200
"""This many of the largest contributions to a sum are listed; no rule looks at more."""


@dataclass(frozen=True, eq=False)
class RespondentSums:
    """The judge of sums over the cells of a system of tables (see `SumJudge`).

    Where respondents have several records, their contributions to all cells of a sum are added up first. Of a finished
    table nobody knows who is in several cells: its sums are judged as if everybody stood in one, which finds the
    fewest.
    """

    system: System
    rules: tuple[Rule, ...]
    _below: dict[tuple[int, int, int], Mask] = field(default_factory=dict, repr=False)
    _within: dict[int, NDArray[np.int64]] = field(default_factory=dict, repr=False)
    _judged: dict[Group, bool] = field(default_factory=dict, repr=False)

    @cached_property
    def _home(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each cell a table that has it, and its number there."""
        n = self.system.table.n_cells
        part, number = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for at in reversed(range(len(self.system.parts))):
            members = self.system.members[at]
            part[members], number[members] = at, np.arange(len(members))
        return part, number

    def unsafe(self, groups: Sequence[Group]) -> Mask:
        """Which groups of cells have an unsafe sum. Groups whose cells overlap are not sums of a table, and pass."""
        # a search asks for much the same sums again and again
        new = [group for group in dict.fromkeys(groups) if group not in self._judged]
        self._judged.update(zip(new, self._unsafe(new).tolist(), strict=True))
        return np.array([self._judged[group] for group in groups], dtype=bool)

    def respondents(self, groups: Sequence[Group]) -> NDArray[np.int64]:
        """How many respondents each group of cells has, each counted once; −1 where that is not known."""
        found = np.full(len(groups), -1, dtype=np.int64)
        own = [at for at, group in enumerate(groups) if max(group) < self.system.table.n_cells]
        counts = self._cells([groups[at] for at in own], by_record=False).counts if own else None
        if counts is not None:
            found[own] = counts
        return found

    def _unsafe(self, groups: Sequence[Group]) -> Mask:
        found = np.zeros(len(groups), dtype=bool)
        own = [at for at, group in enumerate(groups) if max(group) < self.system.table.n_cells]
        if not own or not self.rules:
            return found
        chosen = [groups[at] for at in own]
        hit = np.zeros(len(chosen), dtype=bool)
        for unit in {rule.unit for rule in self.rules}:
            cells = self._cells(chosen, by_record=unit == "record")
            for rule in self.rules:
                if rule.unit == unit:
                    hit |= _verdict(rule, cells)
        found[own] = hit
        for at in np.flatnonzero(found).tolist():
            found[at] = self._apart(groups[at])
        return found

    def _apart(self, group: Group) -> bool:
        """Whether no two cells have a record in common: in some dimension neither code is above the other."""
        table = self.system.table
        return all(
            any(
                not self._comparable(at, int(table.codes[one, at]), int(table.codes[other, at]))
                for at in range(len(table.dimensions))
            )
            for place, one in enumerate(group)
            for other in group[place + 1 :]
        )

    def _comparable(self, at: int, one: int, other: int) -> bool:
        dimension = self.system.table.dimensions[at]
        indptr, above = dimension.ancestors
        if (
            one == other
            or other in above[indptr[one] : indptr[one + 1]]
            or one in above[indptr[other] : indptr[other + 1]]
        ):
            return True
        # codes of different trees may have records in common
        return not any(tree[one] >= 0 and tree[other] >= 0 for tree in dimension.trees)

    def _cells(self, groups: Sequence[Group], *, by_record: bool) -> RuleCells:
        table = self.system.table
        view = table.records if by_record and table.records is not None else table.respondents
        values = np.array([table.values[list(group)].sum() for group in groups])
        if view is table.respondents and any(part.contributions is not None for part in self.system.parts):
            cells = _from_contributions(values, [self._contributions(group) for group in groups], table)
            return self._with_rest(cells, groups)
        return _from_lists(values, [list(group) for group in groups], table, view)

    def _contributions(self, group: Group) -> Contributions:
        """What each respondent gave to the cells of a group, one line each."""
        part, _ = self._home
        picked = [(self.system.parts[int(part[cell])].contributions, self._entries(cell)) for cell in group]
        units = np.concatenate([source.units[at] for source, at in picked if source is not None])
        values = np.concatenate([source.values[at] for source, at in picked if source is not None])
        judged = np.concatenate([source.judged[at] for source, at in picked if source is not None])
        names, first, place = np.unique(units, return_index=True, return_inverse=True)
        weights = None
        if picked[0][0] is not None and picked[0][0].weights is not None:
            weights = np.concatenate([s.weights[at] for s, at in picked if s is not None and s.weights is not None])[
                first
            ]
        total = np.bincount(place, values, minlength=len(names)).astype(np.float64)
        return Contributions((), names, total, weights, judged[first])

    def _with_rest(self, cells: RuleCells, groups: Sequence[Group]) -> RuleCells:
        """The cells with those respondents of each group that are known by cell only, because they are in one."""
        part, number = self._home
        for row, group in enumerate(groups):
            for cell in group:
                own = self.system.parts[int(part[cell])]
                rest = None if own.contributions is None else own.contributions.rest
                at = None if rest is None else rest.place.get(tuple(own.codes[number[cell]].tolist()))
                if rest is not None and at is not None:
                    _add_rest(cells, row, rest.view, at, own.judged_variable)
        return cells

    def _entries(self, cell: int) -> NDArray[np.int64]:
        """Which contributions of its table belong to a cell."""
        if cell not in self._within:
            part, number = self._home
            at = int(part[cell])
            table = self.system.parts[at]
            assert table.contributions is not None
            inside = np.ones(len(table.contributions.units), dtype=bool)
            for place, node in enumerate(table.codes[number[cell]].tolist()):
                inside &= self._nodes_below(at, place, node)[table.contributions.columns[place]]
            self._within[cell] = np.flatnonzero(inside)
        return self._within[cell]

    def _nodes_below(self, part: int, place: int, node: int) -> Mask:
        key = (part, place, node)
        if key not in self._below:
            dimension = self.system.parts[part].dimensions[place]
            indptr, above = dimension.ancestors
            row_of = np.repeat(np.arange(len(dimension)), np.diff(indptr))
            found = np.zeros(len(dimension), dtype=bool)
            found[row_of[above == node]] = True
            self._below[key] = found
        return self._below[key]


def _verdict(rule: Rule, cells: RuleCells) -> Mask:
    """What a rule says; one that the table has not the numbers for says nothing (it has judged no cell either)."""
    try:
        return rule.unsafe(cells)
    except DataError:
        return np.zeros(len(cells), dtype=bool)


def _from_contributions(values: Floats, lists: Sequence[Contributions], table: Table) -> RuleCells:
    listed = [measure.top.shape[1] for measure in table.respondents.measures.values()]
    width = min(LONGEST, max([10, *listed, *(len(one.units) for one in lists)]))
    n = len(lists)
    counts = np.array([len(one.units) for one in lists], dtype=np.int64)
    kept = np.array([int(one.judged.sum()) for one in lists], dtype=np.int64)
    weighted = np.array([float(len(one.units) if one.weights is None else one.weights.sum()) for one in lists])
    has_weights = lists[0].weights is not None
    tops = [np.zeros((n, width)) for _ in range(4)]
    magnitudes = np.zeros(n)
    for row, one in enumerate(lists):
        size = np.abs(one.values)
        weights = np.ones(len(size)) if one.weights is None else one.weights
        magnitudes[row] = float((size * weights).sum())
        for top, share, mask in ((tops[0], tops[1], np.ones(len(size), dtype=bool)), (tops[2], tops[3], one.judged)):
            order = np.argsort(-size[mask], kind="stable")[:width]
            top[row, : len(order)], share[row, : len(order)] = size[mask][order], weights[mask][order]
    if table.judged_variable is None:
        return RuleCells(values, counts, weighted, kept)
    return RuleCells(
        values, counts, weighted, kept, magnitudes, tops[0], tops[1] if has_weights else None, tops[2],
        tops[3] if has_weights else None,
    )  # fmt: skip


def _add_rest(cells: RuleCells, row: int, view: Respondents, at: int, name: str | None) -> None:
    """Add the respondents of one cell to a sum: nobody among them is in another cell of the table."""
    assert cells.counts is not None
    cells.counts[row] += view.counts[at]
    cells.weighted_counts[row] += view.weighted_counts[at]
    cells.judged_counts[row] += view.judged_counts[at]
    if name is None or cells.magnitudes is None:
        return
    cells.magnitudes[row] += view.measures[name].magnitudes[at]
    for top, weights, more in (
        (cells.top, cells.top_weights, view.measures[name]),
        (cells.judged_top, cells.judged_weights, view.judged[name]),
    ):
        assert top is not None
        sizes = np.concatenate((top[row], more.top[at]))
        order = np.argsort(-sizes, kind="stable")[: top.shape[1]]
        top[row] = sizes[order]
        if weights is not None and more.top_weights is not None:
            weights[row] = np.concatenate((weights[row], more.top_weights[at]))[order]


def _from_lists(values: Floats, groups: Sequence[list[int]], table: Table, view: Respondents) -> RuleCells:
    """Sums over cells of different respondents: counts add up, and lists are put together."""

    def total(array: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
        return np.array([array[group].sum() for group in groups], dtype=np.float64)

    counts = total(view.counts).astype(np.int64)
    judged_counts = total(view.judged_counts).astype(np.int64)
    name = table.judged_variable
    measure = view.measures.get(name) if name is not None else None
    judged = view.judged.get(name) if name is not None else None
    requests = tuple(
        (np.array([largest[g].max() for g in groups]), total(number).astype(np.int64))
        for largest, number in view.requests
    )
    known = counts if table.counted else None
    if measure is None or judged is None or measure.top.shape[1] == 0:
        return RuleCells(values, known, total(view.weighted_counts), judged_counts, requests=requests)
    top, weights = _joined_lists(measure, groups)
    judged_top, judged_weights = _joined_lists(judged, groups)
    return RuleCells(
        values, known, total(view.weighted_counts), judged_counts, total(measure.magnitudes), top, weights, judged_top,
        judged_weights, requests,
    )  # fmt: skip


def _joined_lists(measure: Measure, groups: Sequence[list[int]]) -> tuple[Floats, Floats | None]:
    width = measure.top.shape[1]
    top = np.zeros((len(groups), width))
    weights = None if measure.top_weights is None else np.zeros((len(groups), width))
    for row, group in enumerate(groups):
        sizes = measure.top[group].ravel()
        order = np.argsort(-sizes, kind="stable")[:width]
        top[row] = sizes[order]
        if weights is not None and measure.top_weights is not None:
            weights[row] = measure.top_weights[group].ravel()[order]
    return top, weights


def judged_sums(system: System, rules: Sequence[Rule]) -> RespondentSums | None:
    """The judge of the sums of a system; none where no rule could ever call a sum unsafe, and everybody is in one cell.

    In a table that counts respondents a sum below the minimum is no less than each of its cells, and those must be able to
    reach the minimum.
    """
    useful = tuple(rule for rule in rules if not isinstance(rule, Zero | Manual))
    several = any(part.contributions is not None for part in system.parts)
    if system.table.kind == COUNT and not several and all(isinstance(rule, Threshold) for rule in useful):
        return None
    return RespondentSums(system, useful) if useful or several else None


@dataclass(frozen=True, eq=False)
class JointSums:
    """The judge of sums of several responses in one problem: sums of one response are judged by its own judge."""

    judges: tuple[SumJudge | None, ...]
    starts: tuple[int, ...]

    def unsafe(self, groups: Sequence[Group]) -> Mask:
        """Which groups are of one response and have an unsafe sum there."""
        found = np.zeros(len(groups), dtype=bool)
        for judge, mine, own in self._by_response(groups):
            found[mine] = judge.unsafe(own)
        return found

    def respondents(self, groups: Sequence[Group]) -> NDArray[np.int64]:
        """How many respondents each group has, each counted once; −1 where that is not known or responses are mixed."""
        found = np.full(len(groups), -1, dtype=np.int64)
        for judge, mine, own in self._by_response(groups):
            found[mine] = judge.respondents(own)
        return found

    def _by_response(self, groups: Sequence[Group]) -> Iterator[tuple[SumJudge, list[int], list[Group]]]:
        """The groups of one response each that has a judge: their places, and their cells as the response numbers them."""
        for judge, start, end in zip(self.judges, self.starts[:-1], self.starts[1:], strict=True):
            mine = [at for at, group in enumerate(groups) if start <= min(group) and max(group) < end]
            if judge is not None and mine:
                yield judge, mine, [tuple(cell - start for cell in groups[at]) for at in mine]
