"""Write a publishable table: one row a cell, one column a dimension, then value and status."""

import csv
import io
from pathlib import Path

from reticent.data.published_table import PublishedTable
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
