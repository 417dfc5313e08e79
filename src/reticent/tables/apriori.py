"""What is known about cells beforehand: declared safe, unsafe, never to be hidden, hidden already; costs, levels, bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError
from reticent.data.cells import CellStatus
from reticent.data.relations import Relations
from reticent.data.table import Table
from reticent.tables.protection import Verdict, manual_percent

Floats = NDArray[np.float64]
STATUS = {"S": "safe", "U": "unsafe", "P": "protected", "M": "hidden", "ML": "hidden"}
NUMBERS = {"C": 1, "W": 1, "PL": 2, "AB": 2}


@dataclass(frozen=True)
class Entry:
    """One line of knowledge: the codes of a cell, the action (as in `.hst` files) and its numbers."""

    codes: tuple[str, ...]
    action: str
    numbers: tuple[float, ...] = ()
    where: str = "a-priori"


@dataclass(frozen=True, eq=False)
class Knowledge:
    """A verdict with what was known beforehand worked in; NaN where nothing was said about cost or bounds."""

    verdict: Verdict
    cost: Floats
    lower_bound: Floats
    upper_bound: Floats
    notes: tuple[str, ...] = ()


def no_knowledge(verdict: Verdict) -> Knowledge:
    """Nothing known beforehand."""
    nothing = np.full(len(verdict.status), np.nan)
    return Knowledge(verdict, nothing, nothing.copy(), nothing.copy())


def apply_entries(
    table: Table,
    relations: Relations,
    verdict: Verdict,
    entries: Sequence[Entry],
    *,
    ignore_errors: bool = False,
    expand_trivial: bool = True,
) -> Knowledge:
    """Work the entries in, in their order. Two that contradict each other are an error that names both."""
    state = _State(table, verdict, twins_of(relations) if expand_trivial else None)
    for entry in entries:
        try:
            state.add(entry)
        except DataError as err:
            if not ignore_errors:
                raise
            state.notes.append(f"passed over: {err}")
    return state.finish()


def twins_of(relations: Relations) -> NDArray[np.int64]:
    """A number for each cell, equal for cells that are equal by a relation of two (a parent with a single part)."""
    twin = np.arange(relations.n_cells)
    pairs = np.flatnonzero(np.diff(relations.indptr) == 2)
    changed = True
    first, second = relations.cells[relations.indptr[pairs]], relations.cells[relations.indptr[pairs] + 1]
    while changed:
        least = np.minimum(twin[first], twin[second])
        changed = bool((twin[first] != least).any() or (twin[second] != least).any())
        np.minimum.at(twin, first, least)
        np.minimum.at(twin, second, least)
    return twin


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

    def __init__(self, table: Table, verdict: Verdict, twins: NDArray[np.int64] | None) -> None:
        self.table, self.verdict = table, verdict
        self.twins = {} if twins is None else _groups(twins)
        self.status = verdict.status.copy()
        self.reason = verdict.reason.copy()
        self.lower = verdict.lower_protection.copy()
        self.upper = verdict.upper_protection.copy()
        nothing = np.full(table.n_cells, np.nan)
        self.cost, self.low, self.high = nothing.copy(), nothing.copy(), nothing.copy()
        self.said: dict[int, Entry] = {}
        self.notes: list[str] = []

    def add(self, entry: Entry) -> None:
        """Work one entry in."""
        if entry.action not in STATUS and entry.action not in NUMBERS:
            raise DataError(f"{entry.where}: unknown action {entry.action!r}; it must be S, U, P, M, ML, C, PL or AB.")
        if len(entry.numbers) != NUMBERS.get(entry.action, 0):
            raise DataError(
                f"{entry.where}: action {entry.action} needs {NUMBERS.get(entry.action, 0)} numbers, got {len(entry.numbers)}."
            )
        try:
            cell = self.table.find(entry.codes)
        except DataError as err:
            raise DataError(f"{entry.where}: {err}") from None
        if cell is None:
            self.notes.append(f"{entry.where}: the cell is empty; the line has no effect.")
            return
        for each in self.twins.get(cell, [cell]):
            if entry.action in STATUS:
                self._set_status(each, entry)
            else:
                self._set_numbers(each, entry)

    def _set_status(self, cell: int, entry: Entry) -> None:
        before = self.said.get(cell)
        if before is not None and STATUS[before.action] != STATUS[entry.action]:
            raise DataError(
                f"{entry.where}: the cell {self.table.name_of(cell)} is declared {STATUS[entry.action]} here and "
                f"{STATUS[before.action]} in {before.where}; keep one."
            )
        self.said[cell] = entry
        if entry.action == "S":
            self._make(cell, CellStatus.SAFE, -1)
        elif entry.action == "U":
            if self.status[cell] != CellStatus.PRIMARY:
                self._make(cell, CellStatus.PRIMARY, -1)
                level = abs(float(self.table.values[cell])) * manual_percent(self.verdict.rules) / 100.0
                self.lower[cell] = self.upper[cell] = max(level, 10.0**-self.table.decimals)
                if self.table.values[cell] == 0:
                    self.lower[cell] = 0.0
        elif self.status[cell] == CellStatus.PRIMARY:
            raise DataError(
                f"{entry.where}: the cell {self.table.name_of(cell)} is unsafe by a rule and cannot be declared "
                f"{STATUS[entry.action]}; declare it safe (S) first, or leave it out."
            )
        else:
            self._make(cell, CellStatus.FROZEN if entry.action == "P" else CellStatus.SECONDARY, -1)

    def _make(self, cell: int, status: CellStatus, reason: int) -> None:
        self.status[cell], self.reason[cell] = status, reason
        if status is not CellStatus.PRIMARY:
            self.lower[cell] = self.upper[cell] = 0.0

    def _set_numbers(self, cell: int, entry: Entry) -> None:
        if entry.action in ("C", "W"):
            if entry.numbers[0] < 0:
                raise DataError(f"{entry.where}: a cost must not be negative.")
            self.cost[cell] = entry.numbers[0] or 1.0
        elif entry.action == "PL":
            if min(entry.numbers) < 0:
                raise DataError(f"{entry.where}: protection levels are distances and must not be negative.")
            self.lower[cell], self.upper[cell] = entry.numbers
        else:
            low, high = entry.numbers
            if not low <= self.table.values[cell] <= high:
                raise DataError(f"{entry.where}: the bounds of the cell must contain its value.")
            self.low[cell], self.high[cell] = low, high

    def finish(self) -> Knowledge:
        """The verdict as it is now."""
        primary = self.status == CellStatus.PRIMARY
        verdict = replace(
            self.verdict,
            status=self.status,
            reason=self.reason,
            lower_protection=np.where(primary, self.lower, 0.0),
            upper_protection=np.where(primary, self.upper, 0.0),
        )
        return Knowledge(verdict, self.cost, self.low, self.high, tuple(self.notes))
