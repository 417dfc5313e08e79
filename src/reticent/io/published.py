"""Publishable tables as CSV: one row a cell, one column a dimension, then value and status."""

import csv
import io
from pathlib import Path

import numpy as np

from reticent.base.errors import DataError
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.io.atomic import write_text


def published_text(table: PublishedTable) -> str:
    """The table as CSV text."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*table.dimensions, "value", "status"])
    for number, codes in enumerate(table.codes):
        writer.writerow([*codes, table.text(number), table.status[number]])
    return file.getvalue()


def write_published_table(table: PublishedTable, path: Path | str) -> None:
    """Write the table as CSV; the file appears whole or not at all."""
    write_text(Path(path), published_text(table))


def read_published_table(path: Path | str) -> PublishedTable:
    """Read a table that was written by `write_published_table`."""
    path = Path(path)
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    if not lines or lines[0][-2:] != ["value", "status"] or len(lines[0]) < 3:
        raise DataError(f"{path.name}: a published table has columns for its dimensions, then value and status.")
    n = len(lines[0]) - 2
    codes, values, states, decimals = [], [], [], 0
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != n + 2 or line[-1] not in (PUBLISHED, HIDDEN, EMPTY):
            raise DataError(
                f"{path.name}, line {number}: needs {n} codes, a value and published, hidden or empty as status."
            )
        try:
            value = float(line[-2]) if line[-1] == PUBLISHED else np.nan
        except ValueError:
            raise DataError(f"{path.name}, line {number}: a published cell needs a number as value.") from None
        decimals = max(decimals, len(line[-2].partition(".")[2]))
        codes.append(tuple(line[:n]))
        values.append(value)
        states.append(line[-1])
    return PublishedTable(tuple(lines[0][:n]), tuple(codes), np.array(values), tuple(states), decimals=decimals)
