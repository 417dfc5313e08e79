# SPDX-License-Identifier: Apache-2.0
"""JJ files: the exchange format of the cell suppression problem (tau-ARGUS, CSPLIB, sdcTable).

    0
    <number of cells>
    <id> <value> <cost> <status> <lower bound> <upper bound> <lower level> <upper level> <sliding level>
    …
    <number of relations>
    <right-hand side> <number of terms> : <id> (<coefficient>) <id> (<coefficient>) …

Status: s may be hidden, u unsafe, z never hidden, m hidden already. Levels are distances from the value.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from reticent.base.errors import AdditivityError, DataError, ParameterError
from reticent.data.cells import CellStatus
from reticent.data.relations import Relations
from reticent.tables.problem import SuppressionProblem

LISTED = 3
SCALED, MAX_COST = 20_000.0, 2.0**31
_TERM = re.compile(r"(\d+)\s*\(\s*([+-]?\d+)\s*\)")
_LETTERS = {
    CellStatus.SAFE: "s",
    CellStatus.PRIMARY: "u",
    CellStatus.SECONDARY: "m",
    CellStatus.FROZEN: "z",
    CellStatus.EMPTY: "z",
}


class _Lines:
    """The non-empty lines of a file; knows where it is, for error messages."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as err:
            raise DataError(f"JJ file {path.name}: cannot be read ({err.strerror or 'input error'}).") from err
        self._items: Iterator[tuple[int, str]] = (
            (n, line.strip()) for n, line in enumerate(text.splitlines(), start=1) if line.strip()
        )
        self.line = 0

    def next(self, wanted: str) -> str:
        try:
            self.line, text = next(self._items)
        except StopIteration:
            raise DataError(f"JJ file {self.name}: ends after line {self.line} where {wanted} is expected.") from None
        return text

    def fail(self, what: str) -> DataError:
        return DataError(f"JJ file {self.name}, line {self.line}: {what}.")

    def whole(self, wanted: str) -> int:
        text = self.next(wanted)
        try:
            number = int(text)
        except ValueError:
            raise self.fail(f"{wanted} must be a whole number") from None
        if number < 0:
            raise self.fail(f"{wanted} must not be negative")
        return number


def read_jj(path: str | Path) -> SuppressionProblem:
    """Read a JJ file; an error names the file and the line."""
    lines = _Lines(Path(path))
    lines.whole("the first line (0)")
    n_cells = lines.whole("the number of cells")
    numbers = np.zeros((n_cells, 7))
    status = np.zeros(n_cells, dtype=np.int8)
    seen = np.zeros(n_cells, dtype=bool)
    for _ in range(n_cells):
        cell, state, row = _read_cell(lines, n_cells)
        if seen[cell]:
            raise lines.fail(f"cell {cell} occurs twice")
        seen[cell], status[cell], numbers[cell] = True, state, row
    relations, where = _read_relations(lines, n_cells)
    value, cost, low, high, lower, upper, sliding = numbers.T.copy()
    wrong = np.flatnonzero((value < low) | (value > high))
    if len(wrong):
        raise DataError(f"JJ file {lines.name}: the value of cell {wrong[0]} lies outside its own bounds.")
    # Levels of a cell that is not unsafe have no meaning; some writers leave them in.
    unsafe = status == CellStatus.PRIMARY
    problem = SuppressionProblem(
        value,
        cost,
        np.where(unsafe, lower, 0.0),
        np.where(unsafe, upper, 0.0),
        np.where(unsafe, sliding, 0.0),
        low,
        high,
        status,
        relations,
    )
    _check_additive(problem, lines.name, where)
    return problem


def _read_cell(lines: _Lines, n_cells: int) -> tuple[int, CellStatus, list[float]]:
    fields = lines.next("a cell").split()
    if len(fields) < 9:
        raise lines.fail(f"a cell has 9 fields (id value cost status lb ub LPL UPL SPL), here are {len(fields)}")
    try:
        cell = int(fields[0])
        row = [float(fields[i]) for i in (1, 2, 4, 5, 6, 7, 8)]
    except ValueError:
        raise lines.fail("the fields of a cell other than its status must be numbers") from None
    if not 0 <= cell < n_cells:
        raise lines.fail(f"cell id {cell} is outside 0 to {n_cells - 1}")
    if fields[3] not in ("s", "u", "z", "m"):
        raise lines.fail(f"the status must be s, u, z or m, not {fields[3]!r}")
    if not np.isfinite(row[0]) or not np.isfinite(row[1]) or row[1] < 0 or min(row[4:]) < 0:
        raise lines.fail("value and cost must be finite, cost and levels not negative")
    frozen = CellStatus.EMPTY if row[0] == 0 else CellStatus.FROZEN
    states = {"s": CellStatus.SAFE, "u": CellStatus.PRIMARY, "m": CellStatus.SECONDARY, "z": frozen}
    return cell, states[fields[3]], row


def _read_relations(lines: _Lines, n_cells: int) -> tuple[Relations, list[int]]:
    n_rows = lines.whole("the number of relations")
    rows: list[tuple[list[int], list[int]]] = []
    rhs: list[float] = []
    where: list[int] = []
    for _ in range(n_rows):
        head, colon, tail = lines.next("a relation").partition(":")
        terms = [(int(c), int(k)) for c, k in _TERM.findall(tail)]
        if not colon or _TERM.sub("", tail).strip():
            raise lines.fail("a relation reads 'rhs n : id (coefficient) id (coefficient) …'")
        try:
            right, length = float(head.split()[0]), int(head.split()[1])
        except (ValueError, IndexError):
            raise lines.fail("a relation starts with its right-hand side and its number of terms") from None
        if length != len(terms):
            raise lines.fail(f"the relation announces {length} terms and has {len(terms)}")
        # a cell may stand twice, or with coefficient 0: what counts is the sum
        sums: dict[int, int] = {}
        for cell, coefficient in terms:
            sums[cell] = sums.get(cell, 0) + coefficient
        if any(not 0 <= c < n_cells for c in sums) or any(not -127 <= k <= 127 for k in sums.values()):
            raise lines.fail("a relation names a cell or a coefficient that cannot be")
        rows.append(([c for c, k in sums.items() if k], [k for k in sums.values() if k]))
        rhs.append(right)
        where.append(lines.line)
    return Relations.from_rows(n_cells, rows, rhs), where


def _check_additive(problem: SuppressionProblem, name: str, where: list[int]) -> None:
    """Refuse relations that the values miss by more than rounding explains: half a unit of the last digit a term."""
    off = np.abs(problem.relations.residuals(problem.values))
    allowed = np.diff(problem.relations.indptr) * 0.5 * problem.unit + problem.tolerance
    wrong = np.flatnonzero(off > allowed).tolist()
    if not wrong:
        return
    digits = problem.decimals
    named = [f"line {where[row]} (off by {off[row]:.{digits}f})" for row in wrong]
    more = f" and {len(wrong) - LISTED} more" if len(wrong) > LISTED else ""
    raise AdditivityError(
        f"JJ file {name}: the values miss {len(wrong)} relations by more than rounding explains: "
        f"{', '.join(named[:LISTED])}{more}. Correct them.",
        violations=tuple(f"{name}, {line}" for line in named),
    )


def with_whole_costs(problem: SuppressionProblem) -> SuppressionProblem:
    """The same problem with costs in whole numbers, as other readers of JJ files expect them.

    Fractions become at least 1; small ones are scaled to at most 20,000 first, as tau-ARGUS does, so that their order
    survives, and so are costs beyond 32 bits.
    """
    largest = float(problem.cost.max(initial=0.0))
    if largest <= 0 or (bool((problem.cost == np.rint(problem.cost)).all()) and largest < MAX_COST):
        return problem
    scale = SCALED / largest if largest < SCALED or largest >= MAX_COST else 1.0
    return replace(problem, cost=np.maximum(1.0, np.rint(problem.cost * scale)))


def write_jj(problem: SuppressionProblem, path: str | Path) -> None:
    """Write a problem as a JJ file (beside, then renamed)."""
    target = Path(path)
    beside = target.with_name(target.name + ".part")
    with beside.open("w", encoding="ascii") as out:
        out.write(f"0\n{problem.n_cells}\n")
        for cell in range(problem.n_cells):
            out.write(_cell_line(problem, cell) + "\n")
        relations = problem.relations
        out.write(f"{relations.n_rows}\n")
        for number in range(relations.n_rows):
            cells, coefs = relations.row(number)
            terms = " ".join(f"{c} ({k})" for c, k in zip(cells.tolist(), coefs.tolist(), strict=True))
            out.write(f"{_number(float(relations.rhs[number]))} {len(cells)} : {terms}\n")
    os.replace(beside, target)


def _cell_line(problem: SuppressionProblem, cell: int) -> str:
    letter = _LETTERS[CellStatus(int(problem.status[cell]))]
    bounds = (problem.lower_bound, problem.upper_bound)
    levels = (problem.lower_protection, problem.upper_protection, problem.sliding_protection)
    head = f"{cell} {_number(problem.values[cell])} {_number(problem.cost[cell])} {letter}"
    return " ".join([head] + [_number(float(a[cell])) for a in (*bounds, *levels)])


def _number(value: float) -> str:
    return f"{int(value)}" if np.isfinite(value) and value == int(value) else repr(float(value))


def read_ids(suppressed: str | Sequence[int]) -> list[int]:
    """Ids from a list, from text such as "3,7,12", or from a file (of ids, or the JSON of `suppress`)."""
    if not isinstance(suppressed, str):
        return [int(i) for i in suppressed]
    text = suppressed
    if not re.fullmatch(r"[\d\s,;]*", text):
        try:
            text = Path(suppressed).read_text(encoding="utf-8")
        except OSError as err:
            raise ParameterError(
                "audit: --suppressed must be ids such as 3,7,12 or a readable file of ids or JSON from `suppress`."
            ) from err
    if text.lstrip().startswith("{"):
        try:
            return [int(i) for i in json.loads(text)["suppressed"]]
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as err:
            raise DataError("audit: the JSON file of --suppressed has no list of ids under 'suppressed'.") from err
    try:
        return [int(i) for i in re.split(r"[\s,;]+", text.strip()) if i]
    except ValueError as err:
        raise ParameterError("audit: --suppressed must hold whole numbers.") from err
