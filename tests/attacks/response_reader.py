"""An attacker with nothing but written CSV files: flat tables of several responses, and what relates the responses.

Shares no code with the protectors. A hidden cell is a number that is not below 0 (a hidden count: not below 1), an empty cell
is 0, totals are sums, and each relation holds in every cell. Two linear programs give the ends of a hidden cell.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

TOTAL = "Total"
Cell = tuple[str, tuple[tuple[str, str], ...]]
"""A response and the codes of a cell other than totals."""
Terms = Mapping[str, float]


class Published:
    """What all files together say: known cells, hidden cells, and rows Σ coefficient · cell = 0 or ≤ 0."""

    def __init__(self, files: Sequence[tuple[str, Path]]) -> None:
        self.known: dict[Cell, float] = {}
        self.hidden: set[Cell] = set()
        self.equal: list[dict[Cell, float]] = []
        self.below: list[dict[Cell, float]] = []
        for response, path in files:
            self._read(response, path)

    def _read(self, response: str, path: Path) -> None:
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        names = [name for name in rows[0] if name not in ("value", "status")]
        codes = {name: sorted({row[name] for row in rows} - {TOTAL}) for name in names}
        for row in rows:
            cell = _cell(response, {name: row[name] for name in names})
            if row["status"] == "hidden":
                self.hidden.add(cell)
            else:
                self.known[cell] = float(row["value"] or 0)
        for row in rows:
            for name in names:
                if row[name] == TOTAL:
                    parts = [_cell(response, {n: row[n] for n in names} | {name: code}) for code in codes[name]]
                    total = _cell(response, {n: row[n] for n in names})
                    self.equal.append({total: -1.0, **dict.fromkeys(parts, 1.0)})

    def relate(self, terms: Terms, *, inequality: bool = False) -> None:
        """Σ coefficient · response = 0 (or ≤ 0) in every cell that any of the files has."""
        places = {codes for _, codes in [*self.known, *self.hidden]}
        for codes in places:
            row = {(name, codes): coef for name, coef in terms.items()}
            if all(cell in self.known or cell in self.hidden for cell in row):
                (self.below if inequality else self.equal).append(row)

    def ends(self, cell: Cell, *, also_known: Mapping[Cell, float] | None = None) -> tuple[float, float]:
        """The least and the largest value that a hidden cell can have."""
        known = {**self.known, **(also_known or {})}
        if cell in known:
            return known[cell], known[cell]
        free = sorted(self.hidden - set(known))
        place = {c: at for at, c in enumerate(free)}
        equal, below = (_matrix(rows, place, known) for rows in (self.equal, self.below))
        bounds = [(1.0 if name == "count" else 0.0, None) for name, _ in free]
        ends = []
        for sign in (1.0, -1.0):
            cost = np.zeros(len(free))
            cost[place[cell]] = sign
            found = linprog(
                cost, A_eq=equal[0], b_eq=equal[1], A_ub=below[0] if len(below[1]) else None,
                b_ub=below[1] if len(below[1]) else None, bounds=bounds, method="highs",
            )  # fmt: skip
            assert found.status in (0, 3), found.message
            ends.append(sign * found.fun if found.status == 0 else np.inf)
        return float(ends[0]), float(ends[1])


def _cell(response: str, codes: Mapping[str, str]) -> Cell:
    return response, tuple(sorted((name, code) for name, code in codes.items() if code != TOTAL))


def _matrix(
    rows: Iterable[Mapping[Cell, float]], place: Mapping[Cell, int], known: Mapping[Cell, float]
) -> tuple[np.ndarray, np.ndarray]:
    made, right = [], []
    for row in rows:
        line = np.zeros(len(place))
        rest = 0.0
        for cell, coef in row.items():
            if cell in place:
                line[place[cell]] += coef
            else:
                rest += coef * known[cell]
        if line.any():
            made.append(line)
            right.append(-rest)
    return np.array(made).reshape(-1, len(place)), np.array(right)


def unsafe_cells(records: Path, responses: Sequence[str], dimensions: Sequence[Sequence[str]]) -> dict[Cell, float]:
    """The truth, for judging an attack: cells that break p % (15) or have fewer than 3 records, and their protection level."""
    with records.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found: dict[Cell, float] = {}
    for names in dimensions:
        for response in responses:
            groups: dict[Cell, list[float]] = {}
            for row in rows:
                for mask in range(2 ** len(names)):
                    codes = {n: row[n] for at, n in enumerate(names) if mask >> at & 1}
                    groups.setdefault(_cell(response, codes), []).append(float(row.get(response, 1)))
            for cell, values in groups.items():
                largest = sorted(values, reverse=True)
                rest = sum(largest[2:])
                if response != "count" and largest[0] > 0 and rest < 0.15 * largest[0]:
                    found[cell] = max(0.15 * largest[0] - rest, 1.0)
                elif len(values) < 3 and sum(values) > 0:
                    found[cell] = max(0.2 * sum(values), 1.0)
    return found


def truth(records: Path, cell: Cell) -> float:
    """The true value of a cell."""
    response, codes = cell
    with records.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if all(row[name] == code for name, code in codes)]
    return sum(float(row.get(response, 1)) for row in rows)


def found_too_closely(published: Published, records: Path, unsafe: Mapping[Cell, float]) -> tuple[int, int]:
    """How many unsafe cells the attacker knows exactly, and how many more closely than their levels (these included)."""
    exactly = closely = 0
    for cell, level in unsafe.items():
        low, high = published.ends(cell)
        value = truth(records, cell)
        exact = high - low < 1e-6 * max(1.0, value)
        exactly += exact
        # levels end at 0, below which nobody expects a value
        closely += exact or high < value + level - 1e-6 * value or low > max(value - level, 0.0) + 1e-6 * value
    return exactly, closely
