"""An attacker who has nothing but the files that were written, and shares no code with what wrote them.

Files in, ends of true values out: its own reader of the CSV, its own sums from the codes and the published
classification, its own linear and integer programs. What a value says about the true one follows from what anybody may
know: the status, the decimals, the method's name and the numbers that bound a change (base, steps, largest change).
"""

import csv
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

TOTAL = "Total"
Cell = tuple[str, frozenset[tuple[str, str]]]
"""A response, and the codes that restrict it: a total restricts nothing, so that linked tables share their margins."""
Sum = Mapping[Cell, float]
"""A sum of cells that is 0, by the factor of each."""


@dataclass(frozen=True)
class Shown:
    """One cell as a file shows it."""

    status: str
    value: float


@dataclass(frozen=True)
class Release:
    """Cells of all files, the sums that their codes imply, and how many decimals values have."""

    cells: Mapping[Cell, Shown]
    sums: tuple[Sum, ...]
    unit: float


@dataclass(frozen=True)
class Knowledge:
    """What is public besides the files: what is counted, and the parameters of the method that bound a change."""

    method: str = "suppression"
    counts: frozenset[str] = frozenset()
    least: Mapping[str, float] = field(default_factory=dict)
    base: float = 0.0
    steps: int = 0
    largest: float = 0.0
    change: float = 0.0
    unsafe: frozenset[Cell] = frozenset()
    hides_empty: bool = False
    relations: tuple[Mapping[str, float], ...] = ()


def read_csv(path: Path) -> tuple[tuple[str, ...], list[tuple[tuple[str, ...], str, str]]]:
    """Names of the dimensions, and codes, value and status of each row."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][-2:] == ["value", "status"], rows[0]
    return tuple(rows[0][:-2]), [(tuple(row[:-2]), row[-2], row[-1]) for row in rows[1:]]


def response_of(report: Path) -> str:
    """What a public report says that it shows."""
    found = re.search(r"<p class=\"subtitle\">([^<]*)</p>", report.read_text(encoding="utf-8"))
    return found.group(1).strip() if found else ""


def read_release(
    files: Iterable[tuple[str, Path]],
    parents: Mapping[str, Mapping[str, str]],
    relations: Iterable[Mapping[str, float]] = (),
) -> Release:
    """All files of a release: (response, CSV) pairs; `parents` is the published classification of each dimension."""
    cells: dict[Cell, Shown] = {}
    sums: dict[frozenset[tuple[Cell, float]], Sum] = {}
    digits = 0
    for response, path in files:
        names, rows = read_csv(path)
        for codes, text, status in rows:
            cell = cell_of(response, names, codes)
            digits = max(digits, len(text.partition(".")[2]))
            shown = Shown(status, float(text) if status == "published" else math.nan)
            if cell not in cells or cells[cell].status == "hidden":
                cells[cell] = shown  # shown in one file is known in all
        for found in table_sums(response, names, [codes for codes, _, _ in rows], parents):
            sums[frozenset(found.items())] = found
    tied = [found for relation in relations for found in tied_responses(cells, relation)]
    return Release(cells, (*sums.values(), *tied), 10.0**-digits)


def cell_of(response: str, names: tuple[str, ...], codes: tuple[str, ...]) -> Cell:
    """The cell of a row."""
    return response, frozenset((name, code) for name, code in zip(names, codes, strict=True) if code != TOTAL)


def table_sums(
    response: str, names: tuple[str, ...], rows: list[tuple[str, ...]], parents: Mapping[str, Mapping[str, str]]
) -> list[Sum]:
    """Every parent is the sum of its children, in every dimension, at all codes of the others."""
    listed = set(rows)
    found = []
    for at, name in enumerate(names):
        above = {row[at]: parents.get(name, {}).get(row[at], TOTAL) for row in rows if row[at] != TOTAL}
        children: dict[str, list[str]] = {}
        for code, parent in above.items():
            children.setdefault(parent, []).append(code)
        for row in rows:
            parts = [(*row[:at], code, *row[at + 1 :]) for code in children.get(row[at], [])]
            parts = [part for part in parts if part in listed]
            if parts:
                line = {cell_of(response, names, part): 1.0 for part in parts}
                found.append({**line, cell_of(response, names, row): -1.0})
    return found


def tied_responses(cells: Mapping[Cell, Shown], relation: Mapping[str, float]) -> list[Sum]:
    """What is known to hold between responses (tot = dom + exp) holds in every cell that all of them show."""
    places = set.intersection(*({where for name, where in cells if name == response} for response in relation))
    return [{(response, where): factor for response, factor in relation.items()} for where in places]


def own_bounds(release: Release, known: Knowledge) -> dict[Cell, tuple[float, float]]:
    """What each row says about the true value by itself."""
    return {cell: _bounds(cell, shown, release, known) for cell, shown in release.cells.items()}


def _bounds(cell: Cell, shown: Shown, release: Release, known: Knowledge) -> tuple[float, float]:
    least = known.least.get(cell[0], 0.0)
    if shown.status == "empty":
        return 0.0, 0.0
    if shown.status == "hidden":
        # where empty cells are marked, a hidden one has somebody in it
        return (0.0 if known.hides_empty else least), math.inf
    if known.method == "suppression":
        return shown.value, shown.value
    if known.method in ("round", "random-rounding"):
        reach = (known.steps + 1) * known.base - release.unit
        return max(0.0, shown.value - reach), shown.value + reach
    if known.method in ("cell-key", "invariant"):
        if known.largest == 0:
            return 0.0, math.inf
        # nobody is ever counted as somebody, and no more than `largest` are added or left out
        low = max(1.0, shown.value - known.largest) if shown.value > 0 else 0.0
        return low, shown.value + known.largest
    if known.method == "resample" and cell[0] in known.counts:
        # as many respondents as there are were drawn, from cells with somebody in them
        return (shown.value, shown.value) if not cell[1] else (min(1.0, shown.value), math.inf)
    if known.method == "adjust" and not cell[1] and cell not in known.unsafe:
        return shown.value, shown.value  # the largest total keeps its value, unless it is unsafe itself
    if known.method == "adjust" and known.change and cell not in known.unsafe:
        return shown.value / (1 + known.change) - release.unit, shown.value / (1 - known.change) + release.unit
    return 0.0, math.inf


def small_count_bounds(release: Release, bounds: dict[Cell, tuple[float, float]], base: float) -> None:
    """After small-count rounding an inner cell is itself, unless it is 0 or the base; totals are added up."""
    totals = {cell for line in release.sums for cell, factor in line.items() if factor < 0}
    for cell, shown in release.cells.items():
        if cell in totals:
            bounds[cell] = (0.0, math.inf)
        elif shown.value == 0:
            bounds[cell] = (0.0, base - 1)
        elif shown.value == base:
            bounds[cell] = (1.0, base)
        else:
            bounds[cell] = (shown.value, shown.value)


class Attack:
    """All true values that fit the files; `ends` of one cell by two programs."""

    def __init__(self, release: Release, known: Knowledge, bounds: Mapping[Cell, tuple[float, float]]) -> None:
        self.cells = list(release.cells)
        self.place = {cell: number for number, cell in enumerate(self.cells)}
        low, high = np.array([bounds[cell] for cell in self.cells], dtype=float).T
        # no end of a real cell lies there: what reaches it has no end
        self.far = 1e4 + 10 * float(np.nansum([abs(shown.value) for shown in release.cells.values()]))
        self.bounds = Bounds(low, np.minimum(high, self.far))
        rows, columns, factors = [], [], []
        for number, line in enumerate(release.sums):
            for cell, factor in line.items():
                rows.append(number)
                columns.append(self.place[cell])
                factors.append(factor)
        shape = (len(release.sums), len(self.cells))
        matrix = sparse.csr_array((factors, (rows, columns)), shape=shape)
        self.rows = LinearConstraint(matrix, -1e-7, 1e-7)
        self.whole = np.array([1 if cell[0] in known.counts else 0 for cell in self.cells])

    def ends(self, cell: Cell) -> tuple[float, float]:
        """The least and the largest value of a cell."""
        return self.ends_of({cell: 1.0})

    def ends_of(self, combination: Sum) -> tuple[float, float]:
        """The least and the largest value of a sum of cells."""
        goal = np.zeros(len(self.cells))
        for cell, factor in combination.items():
            goal[self.place[cell]] = factor
        return self._least(goal), -self._least(-goal)

    def width_beside(self, cell: Cell, gap: tuple[float, float]) -> float:
        """How wide the values are that a cell may have, if none of them lies within the gap; whole ones are counted."""
        at, low, high = self.place[cell], self.bounds.lb.copy(), self.bounds.ub.copy()
        width, numbers = 0.0, 0
        for least, most in ((low[at], gap[0]), (gap[1], high[at])):
            if least > most:
                continue
            low[at], high[at] = least, most
            some = self._ends_within(Bounds(low.copy(), high.copy()), at)
            width += some[1] - some[0] if some else 0.0
            numbers += round(some[1] - some[0]) + 1 if some and math.isfinite(some[1]) else 0
            low[at], high[at] = self.bounds.lb[at], self.bounds.ub[at]
        return numbers - 1 if self.whole[at] and math.isfinite(width) else width

    def _ends_within(self, bounds: Bounds, at: int) -> tuple[float, float] | None:
        """The least and the largest value of one cell within other bounds; None if nothing fits them."""
        goal = np.zeros(len(self.cells))
        goal[at] = 1.0
        found = [milp(sign * goal, constraints=self.rows, bounds=bounds, integrality=self.whole) for sign in (1, -1)]
        if any(one.status == 2 for one in found):
            return None
        assert all(one.status == 0 for one in found)
        low, high = float(found[0].fun), -float(found[1].fun)
        return low, math.inf if high >= self.far - 1 else high

    def _least(self, goal: np.ndarray) -> float:
        found = milp(goal, constraints=self.rows, bounds=self.bounds, integrality=self.whole)
        assert found.status == 0, found.message
        return -math.inf if found.fun <= -self.far + 1 else float(found.fun)


def attack_files(
    files: Iterable[tuple[str, Path]], parents: Mapping[str, Mapping[str, str]], known: Knowledge
) -> tuple[Release, Attack]:
    """Read the files and set the attack up."""
    release = read_release(files, parents, known.relations)
    bounds = own_bounds(release, known)
    if known.method == "small-counts":
        small_count_bounds(release, bounds, known.base)
    return release, Attack(release, known, bounds)
