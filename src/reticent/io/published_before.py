# SPDX-License-Identifier: Apache-2.0
"""Read a table that was published before: this program's CSV, the outputs of tau-ARGUS, or any CSV with one line per cell.

Columns are found by their names; a file without names has a column per dimension, in their order, then value and perhaps
status. What the status calls hidden is hidden, whatever stands beside it; without a status `x` is hidden and `-` empty.
"""

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reticent.base.errors import DataError
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.io.formulas import restored

SEPARATORS = (",", ";", "\t")
STATUS, VALUE, MEASURE = "status", "value", "measure"
STATES = {
    **{word: word for word in (PUBLISHED, HIDDEN, EMPTY)},
    **dict.fromkeys("svp", PUBLISHED),
    **dict.fromkeys("umabcd", HIDDEN),
    **{str(n): PUBLISHED if n in (1, 2, 10) else EMPTY if n >= 13 else HIDDEN for n in range(1, 15)},
}
"""Words, letters and the numbers of tau-ARGUS."""
MARKS = {"x": HIDDEN, "..": HIDDEN, ":": HIDDEN, "*": HIDDEN, "-": EMPTY}


@dataclass(frozen=True)
class _Cell:
    line: int
    codes: tuple[str, ...]
    value: str
    status: str | None


def read_published_before(path: Path, dimensions: Sequence[str], response: str) -> PublishedTable:
    """The cells of a published table with these dimensions, in the order of the file."""
    rows, separator = _rows(path)
    n = len(dimensions)
    cells = list(_blocks(rows, n, path) if _in_blocks(rows, n) else _lines(rows, dimensions, response, path))
    if not cells:
        raise DataError(f"{path.name}: there is no cell in it.")
    seen: dict[tuple[str, ...], int] = {}
    values, states, decimals = [], [], 0
    for cell in cells:
        if cell.codes in seen:
            raise DataError(
                f"{path.name}, line {cell.line}: the cell {' × '.join(cell.codes)} is in line {seen[cell.codes]} already."
            )
        seen[cell.codes] = cell.line
        state, text = _state(cell, path), cell.value if separator == "," else cell.value.replace(",", ".")
        values.append(_number(text, cell, path) if state == PUBLISHED else math.nan)
        states.append(state)
        decimals = max(decimals, len(text.partition(".")[2])) if state == PUBLISHED else decimals
    return PublishedTable(tuple(dimensions), tuple(seen), np.array(values), tuple(states), response, decimals)


def _rows(path: Path) -> tuple[list[list[str]], str]:
    """The lines of the file, each with its number in front left out, and what separates their columns."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        first = text.partition("\n")[0]
        separator = max(SEPARATORS, key=first.count)
        rows = [[restored(word.strip()) for word in row] for row in csv.reader(text.splitlines(), delimiter=separator)]
    except (OSError, UnicodeError, csv.Error) as err:
        why = err.strerror or "input error" if isinstance(err, OSError) else "it is not CSV in UTF-8"
        raise DataError(f"{path.name}: cannot be read as a published table ({why}).") from err
    return rows, separator


def _in_blocks(rows: Sequence[Sequence[str]], n: int) -> bool:
    """Whether the file has a block of rows by columns for each combination of further dimensions (tau-ARGUS type 1)."""
    at = 1 if n > 2 else 0
    head = rows[at] if len(rows) > at else ["?"]
    return not head if n == 1 else len(head) > 1 and head[0] == ""


def _blocks(rows: Sequence[Sequence[str]], n: int, path: Path) -> Iterator[_Cell]:
    layer: tuple[str, ...] = ()
    across: Sequence[str] = ()
    for number, row in enumerate(rows, start=1):
        if n == 1:
            if row:
                yield from _row_of_block(row, number, [""], (), path)
        elif row and row[0] == "":
            across = row[1:]
        elif n > 2 and number < len(rows) and rows[number] and rows[number][0] == "":
            layer = tuple(row)
        elif row:
            yield from _row_of_block(row, number, across, layer, path)


def _row_of_block(
    row: Sequence[str], number: int, across: Sequence[str], layer: tuple[str, ...], path: Path
) -> Iterator[_Cell]:
    if len(row) != len(across) + 1:
        raise DataError(f"{path.name}, line {number}: needs a code and {len(across)} values.")
    for column, text in zip(across, row[1:], strict=True):
        codes = (row[0],) if column == "" and not layer and len(across) == 1 else (row[0], column, *layer)
        yield _Cell(number, codes, text, None)


def _lines(rows: Sequence[Sequence[str]], dimensions: Sequence[str], response: str, path: Path) -> Iterator[_Cell]:
    """One line per cell."""
    n = len(dimensions)
    head = rows[0] if rows else []
    named = set(dimensions) <= set(head)
    at = [head.index(name) for name in dimensions] if named else list(range(n))
    value, status = _columns(head, dimensions, response, path) if named else (n, n + 1 if len(head) > n + 1 else None)
    width = len(head)
    if not named and (width not in (n + 1, n + 2) or not _is_value(head[n], width == n + 2)):
        raise DataError(
            f"{path.name}: a published table has columns for its dimensions ({', '.join(dimensions)}), a value and perhaps a "
            "status."
        )
    for number, row in enumerate(rows[1 if named else 0 :], start=2 if named else 1):
        if not row:
            continue
        if len(row) != width:
            raise DataError(f"{path.name}, line {number}: needs {width} columns as the others have, got {len(row)}.")
        yield _Cell(number, tuple(row[place] for place in at), row[value], None if status is None else row[status])


def _is_value(text: str, may_be_blank: bool) -> bool:
    """Whether a text can stand for a cell, so that its line is no line of names; beside a status it may be blank."""
    return text.lower() in MARKS or ((bool(text) or may_be_blank) and not text.strip("+-.,0123456789eE"))


def _columns(head: Sequence[str], dimensions: Sequence[str], response: str, path: Path) -> tuple[int, int | None]:
    """Where value and status are in a file with names."""
    others = [at for at, name in enumerate(head) if name not in dimensions]
    status = next((at for at in others if head[at].lower() == STATUS), None)
    values = [at for at in others if at != status and head[at].lower() != MEASURE]
    named = [at for at in values if head[at].lower() == VALUE or head[at].partition("_")[0] == response]
    found = named if len(named) == 1 else values
    if len(found) != 1:
        raise DataError(
            f"{path.name}: which column has the values does not follow from its names; call it {VALUE!r}, and leave out what is "
            "neither a dimension, a value nor a status."
        )
    return found[0], status


def _state(cell: _Cell, path: Path) -> str:
    word = cell.status.lower() if cell.status else ""
    if word:
        if word not in STATES:
            raise DataError(
                f"{path.name}, line {cell.line}: the status must be published, hidden or empty, or one of tau-ARGUS."
            )
        return STATES[word]
    return MARKS.get(cell.value.lower(), PUBLISHED)


def _number(text: str, cell: _Cell, path: Path) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(
            f"{path.name}, line {cell.line}: a published cell needs a number as value; a hidden one has the status hidden, or x "
            "as value."
        )
    return value
