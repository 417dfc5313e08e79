# SPDX-License-Identifier: Apache-2.0
"""What is known about cells beforehand: declared safe, unsafe, never to be hidden, hidden already; costs, levels, bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.doors import doors
from reticent.base.errors import DataError
from reticent.data.cells import CellStatus
from reticent.data.relations import Relations
from reticent.data.table import Table
from reticent.tables.protection import Judgement, manual_percent
from reticent.tables.twins import twins_of

STATUS = {"S": "safe", "U": "unsafe", "P": "protected", "M": "hidden", "ML": "hidden"}
NUMBERS = {"C": 1, "W": 1, "PL": 2, "AB": 2}
_OTHER = {"C": "another cost", "PL": "other protection levels", "AB": "other bounds"}
_EARLIER = {"safe": ("protected", "hidden")}
"""A cell that is declared safe may then be frozen or hidden, as tau-ARGUS allows; no other change of mind is."""


@doors
@dataclass(frozen=True)
class Entry:
    """One line of knowledge: the codes of a cell, the action (as in `.hst` files) and its numbers."""

    codes: tuple[str, ...]
    action: str
    numbers: tuple[float, ...] = ()
    where: str = "a-priori"


@dataclass(frozen=True)
class EntryGroup:
    """Entries of one source. Within all sources but `declared` ones (columns of a table) contradictions are errors.

    `ignore_errors` passes wrong lines over, with a note; `expand_trivial` gives a line to all cells that are the same.
    """

    entries: tuple[Entry, ...]
    ignore_errors: bool = False
    expand_trivial: bool = True
    declared: bool = False


@dataclass(frozen=True, eq=False)
class Knowledge:
    """A verdict with what was known beforehand worked in; NaN where nothing was said about cost or bounds.

    `stated` has the cells whose protection levels somebody gave, rather than a rule. `of_one` are the least and the largest sum
    that each cell can have because somebody is in it.
    """

    verdict: Judgement
    cost: Floats
    lower_bound: Floats
    upper_bound: Floats
    notes: tuple[str, ...] = ()
    stated: frozenset[int] = frozenset()
    of_one: tuple[Floats, Floats] | None = None


def apply_groups(table: Table, relations: Relations, verdict: Judgement, groups: Sequence[EntryGroup]) -> Knowledge:
    """Work entries of several sources in, in their order; what a file says stands above what the table declared.

    Two of one source that contradict each other are an error that names both.
    """
    twins = _groups(twins_of(relations)) if any(group.expand_trivial for group in groups) else {}
    state = _State(table, verdict)
    for group in groups:
        for entry in group.entries:
            try:
                state.add(entry, twins if group.expand_trivial else {}, declared=group.declared)
            except DataError as err:
                if not group.ignore_errors:
                    raise
                state.notes.append(f"passed over: {err}")
    return state.finish()


def _groups(twins: NDArray[np.int64]) -> dict[int, list[int]]:
    """For each cell that has twins: all of them."""
    order = np.argsort(twins, kind="stable")
    edges = np.flatnonzero(np.diff(twins[order])) + 1
    groups: dict[int, list[int]] = {}
    for group in np.split(order, edges):
        if len(group) > 1:
            members = group.tolist()
            groups.update(dict.fromkeys(members, members))
    return groups


class _State:
    """The verdict while entries are worked in."""

    def __init__(self, table: Table, verdict: Judgement) -> None:
        self.table, self.verdict = table, verdict
        self.status = verdict.status.copy()
        self.reason = verdict.reason.copy()
        self.lower = verdict.lower_protection.copy()
        self.upper = verdict.upper_protection.copy()
        nothing = np.full(table.n_cells, np.nan)
        self.cost, self.low, self.high = nothing.copy(), nothing.copy(), nothing.copy()
        self.said: dict[tuple[int, str], Entry] = {}
        self.bounded: dict[int, Entry] = {}
        self.levels: dict[int, Entry] = {}
        self.stated: set[int] = set()
        self.notes: list[str] = []

    def add(self, entry: Entry, twins: dict[int, list[int]], *, declared: bool) -> None:
        """Work one entry in, for its cell and the cells that are the same; nothing is changed if it is wrong."""
        _check_form(entry)
        try:
            cell = self.table.find(entry.codes)
        except DataError as err:
            raise DataError(f"{entry.where}: {err}") from None
        if cell is None:
            self.notes.append(f"{entry.where}: the cell is empty; the line has no effect.")
            return
        cells = twins.get(cell, [cell])
        if declared and entry.action == "M":  # a cell that is hidden and unsafe is unsafe: our own files say so
            cells = [each for each in cells if self.status[each] != CellStatus.PRIMARY]
        for each in cells:
            self._check(each, entry, declared)
        for each in cells:
            if not declared:
                self.said[each, _kind(entry)] = entry
            if entry.action in STATUS:
                self._set_status(each, entry)
            else:
                self._set_numbers(each, entry, declared)

    def _check(self, cell: int, entry: Entry, declared: bool) -> None:
        before = None if declared else self.said.get((cell, _kind(entry)))
        name = self.table.name_of(cell)
        if entry.action in STATUS:
            now = STATUS[entry.action]
            if before is not None:
                was = STATUS[before.action]
                if was != now and now not in _EARLIER.get(was, ()):
                    raise DataError(
                        f"{entry.where}: the cell {name} is declared {now} here and {was} in {before.where}; keep one."
                    )
            if now in ("protected", "hidden") and self.status[cell] == CellStatus.PRIMARY:
                rule = " by a rule" if self.reason[cell] >= 0 else ""
                raise DataError(
                    f"{entry.where}: the cell {name} is unsafe{rule} and cannot be declared {now}; declare it safe (S) in "
                    "a line before, or leave it out."
                )
            return
        if before is not None and before.numbers != entry.numbers:
            raise DataError(f"{entry.where}: the cell {name} has {_OTHER[_kind(entry)]} in {before.where}; keep one.")
        if entry.action == "AB" and not entry.numbers[0] <= self.table.values[cell] <= entry.numbers[1]:
            raise DataError(f"{entry.where}: the bounds of the cell {name} must contain its value.")

    def _set_status(self, cell: int, entry: Entry) -> None:
        if entry.action == "S":
            self._make(cell, CellStatus.SAFE)
        elif entry.action == "U":
            if self.status[cell] != CellStatus.PRIMARY:
                self._make(cell, CellStatus.PRIMARY)
                level = abs(float(self.table.values[cell])) * manual_percent(self.verdict.rules) / 100.0
                self.lower[cell] = self.upper[cell] = max(level, 10.0**-self.table.decimals)
                if self.table.values[cell] == 0:
                    self.lower[cell] = 0.0
        else:
            self._make(cell, CellStatus.FROZEN if entry.action == "P" else CellStatus.SECONDARY)

    def _make(self, cell: int, status: CellStatus) -> None:
        self.status[cell], self.reason[cell] = status, -1
        if status is not CellStatus.PRIMARY:
            self.lower[cell] = self.upper[cell] = 0.0

    def _set_numbers(self, cell: int, entry: Entry, declared: bool) -> None:
        if _kind(entry) == "C":
            self.cost[cell] = entry.numbers[0] or 1.0
        elif entry.action == "PL":
            if not declared:
                self.levels[cell] = entry
            self.stated.add(cell)
            self.lower[cell], self.upper[cell] = entry.numbers
        else:
            self.bounded[cell] = entry
            self.low[cell], self.high[cell] = entry.numbers

    def finish(self) -> Knowledge:
        """The verdict as it is now."""
        primary = self.status == CellStatus.PRIMARY
        self._check_levels(primary)
        for cell, entry in self.levels.items():
            if not primary[cell]:
                self.notes.append(
                    f"{entry.where}: the cell {self.table.name_of(cell)} is not unsafe; levels have no effect."
                )
        verdict = replace(
            self.verdict,
            status=self.status,
            reason=self.reason,
            lower_protection=np.where(primary, self.lower, 0.0),
            upper_protection=np.where(primary, self.upper, 0.0),
        )
        notes = tuple(dict.fromkeys(self.notes))
        return Knowledge(verdict, self.cost, self.low, self.high, notes, frozenset(self.stated))

    def _check_levels(self, primary: NDArray[np.bool_]) -> None:
        """Whoever knows a cell within its bounds cannot be kept further away than that."""
        for cell, entry in self.bounded.items():
            value = self.table.values[cell]
            slack = 1e-9 * max(1.0, abs(float(value)))
            short = (
                value - self.lower[cell] < self.low[cell] - slack or value + self.upper[cell] > self.high[cell] + slack
            )
            if primary[cell] and short:
                other = f" ({self.levels[cell].where})" if cell in self.levels else ""
                raise DataError(
                    f"{entry.where}: the cell {self.table.name_of(cell)} is unsafe, and its protection levels{other} reach "
                    "beyond these bounds, so nothing can protect it. Widen the bounds or lower the levels."
                )


def _kind(entry: Entry) -> str:
    """What an entry speaks about: the status, or one of the numbers."""
    return "status" if entry.action in STATUS else "C" if entry.action == "W" else entry.action


def _check_form(entry: Entry) -> None:
    if entry.action not in STATUS and entry.action not in NUMBERS:
        raise DataError(f"{entry.where}: unknown action {entry.action!r}; it must be S, U, P, M, ML, C, PL or AB.")
    needed = NUMBERS.get(entry.action, 0)
    if len(entry.numbers) != needed:
        raise DataError(f"{entry.where}: action {entry.action} needs {needed} numbers, got {len(entry.numbers)}.")
    if np.isnan(entry.numbers).any() or (entry.action != "AB" and not np.isfinite(entry.numbers).all()):
        raise DataError(f"{entry.where}: the numbers of action {entry.action} must be finite.")
    if _kind(entry) == "C" and entry.numbers[0] < 0:
        raise DataError(f"{entry.where}: a cost must not be negative.")
    if entry.action == "PL" and min(entry.numbers) < 0:
        raise DataError(f"{entry.where}: protection levels are distances and must not be negative.")
    if entry.action == "AB" and entry.numbers[0] > entry.numbers[1]:
        raise DataError(f"{entry.where}: the lower bound must not be above the upper one.")
