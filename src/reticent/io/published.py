# SPDX-License-Identifier: Apache-2.0
"""Publishable tables as CSV: one row per cell, one column per dimension, then value and status."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_choice, did_you_mean
from reticent.base.errors import DataError
from reticent.data.published_table import (
    COLUMNS,
    COLUMNS_BESIDE,
    COUNT,
    EMPTY,
    HIDDEN,
    MAGNITUDE,
    PUBLISHED,
    WEIGHTED,
    PublishedTable,
)
from reticent.frames.frame import Frame, as_text, from_columns
from reticent.frames.marks import NO_MARKS, SEPARATORS, Marks
from reticent.io.formulas import defused, restored
from reticent.io.table_format import TableFormat
from reticent.io.table_px_read import read_px


def published_text(table: PublishedTable, marks: Marks = NO_MARKS) -> str:
    """The table as CSV text, with the marks asked for, else those of the data."""
    file = io.StringIO(newline="")
    marks = marks.or_else(table.marks)
    writer = csv.writer(file, delimiter=marks.separator or ",", lineterminator="\n")
    as_text = str if marks.keep_formulas else defused
    writer.writerow(list(map(as_text, (*table.dimensions, *table.columns))))
    for number, codes in enumerate(table.codes):
        told = [] if table.measure is None else [table.measure_text(number)]
        value = table.text(number).replace(".", marks.decimal or ".")
        writer.writerow([*map(as_text, codes), value, table.status[number], *told])
    return file.getvalue()


def read_published_table(path: Path | str) -> PublishedTable:
    """Read a table that was written as CSV, or as PC-Axis (.px)."""
    path = Path(path)
    if path.suffix.lower() == ".px":
        return read_px(path)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            separator = max(SEPARATORS, key=file.readline().count)
            file.seek(0)
            lines = [[restored(word) for word in line] for line in csv.reader(file, delimiter=separator)]
    except (OSError, UnicodeError, csv.Error) as err:
        why = err.strerror or "input error" if isinstance(err, OSError) else "it is not CSV in UTF-8"
        raise DataError(f"{path.name}: cannot be read as a published table ({why}).") from err
    told: list[str] | None = None
    if lines and tuple(lines[0][-1:]) in (COLUMNS[2:], COLUMNS_BESIDE[2:]):
        told = [line[-1] if line else "" for line in lines[1:]]
        lines = [line[:-1] for line in lines]
    if not lines or tuple(lines[0][-2:]) not in (COLUMNS[:2], COLUMNS_BESIDE[:2]) or len(lines[0]) < 3:
        raise DataError(f"{path.name}: a published table has columns for its dimensions, then value and status.")
    n = len(lines[0]) - 2
    codes, values, states, decimals = [], [], [], 0
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != n + 2 or line[-1] not in (PUBLISHED, HIDDEN, EMPTY):
            raise DataError(
                f"{path.name}, line {number}: needs {n} codes, a value and published, hidden or empty as status."
            )
        written = line[-2] if separator == "," else line[-2].replace(",", ".")
        try:
            value = float(written) if line[-1] == PUBLISHED else np.nan
        except ValueError:
            value = np.inf
        if np.isinf(value) or (line[-1] == PUBLISHED and np.isnan(value)):
            raise DataError(f"{path.name}, line {number}: a published cell needs a number as value.")
        decimals = max(decimals, len(written.partition(".")[2]))
        codes.append(tuple(line[:n]))
        values.append(value)
        states.append(line[-1])
    return PublishedTable(
        tuple(lines[0][:n]), tuple(codes), np.array(values), tuple(states), decimals=decimals,
        measure=None if told is None else _measures(told, path.name),
    )  # fmt: skip


def _measures(told: list[str], name: str) -> NDArray[np.float64]:
    """What was said of the noise: whole numbers, or nothing."""
    for number, text in enumerate(told, start=2):
        if text and not (text.isascii() and text.isdigit()):
            raise DataError(f"{name}, line {number}: {COLUMNS[2]} must be a whole number from 0 on, or empty.")
    return np.array([float(text) if text else np.nan for text in told])


def published_frame(table: PublishedTable, *, kind: str = "polars") -> Any:
    """One row per cell as a dataframe: a column per dimension, the value (null where there is none), the status, the measure."""
    shown = np.array(table.status) == PUBLISHED
    columns: dict[str, Any] = {name: [codes[at] for codes in table.codes] for at, name in enumerate(table.dimensions)}
    value, status, *measure = table.columns
    columns[value] = [
        round(float(v), table.decimals) if ok else None for v, ok in zip(table.values, shown, strict=True)
    ]
    columns[status] = list(table.status)
    for name in measure:
        columns[name] = [int(text) if (text := table.measure_text(row)) else None for row in range(len(table))]
    return from_columns(columns, kind=kind).native()


def published_of_frame(native: Any, *, value: str, status: str, kind: str) -> PublishedTable:
    """A published table from a dataframe with one row per cell; without a status, a cell without a value is hidden."""
    check_choice(kind, (COUNT, WEIGHTED, MAGNITUDE), name="kind", owner="audit")
    frame = Frame.of(native)
    if value not in frame.names:
        raise DataError(
            f"audit: the table has no column {value!r}.{did_you_mean(value, frame.names)}", variables=(value,)
        )
    told = {name for own in (COLUMNS, COLUMNS_BESIDE) if (value, status) == own[:2] for name in own}
    names = tuple(name for name in frame.names if name not in {value, status, *told})
    if not names:
        raise DataError("audit: the table has no dimensions, only values.")
    numbers = frame.numbers(value)
    if status in frame.names:
        states = tuple(str(word) for word in frame.table[status].to_list())
    else:
        states = tuple(HIDDEN if np.isnan(number) else PUBLISHED for number in numbers.tolist())
    wrong = next((at for at, word in enumerate(states) if word not in (PUBLISHED, HIDDEN, EMPTY)), None)
    if wrong is not None:
        raise DataError(f"audit: row {wrong + 1} has an unknown status; it must be published, hidden or empty.")
    blank = next((at for at, word in enumerate(states) if word == PUBLISHED and not np.isfinite(numbers[at])), None)
    if blank is not None:
        raise DataError(f"audit: row {blank + 1} is published and has no finite value.")
    texts = [as_text(frame.table[name]).fill_null("").to_list() for name in names]
    shown = [float(number) for number, word in zip(numbers, states, strict=True) if word == PUBLISHED]
    decimals = max((_decimals(number) for number in shown), default=0)
    values = np.where(np.array(states) == PUBLISHED, numbers, np.nan)
    return PublishedTable(names, tuple(zip(*texts, strict=True)), values, states, decimals=decimals, kind=kind)


def _decimals(number: float) -> int:
    return len(f"{number:.6f}".rstrip("0").partition(".")[2])


TABLE_CSV = TableFormat("csv", "CSV, one row per cell", ".csv", published_text)
