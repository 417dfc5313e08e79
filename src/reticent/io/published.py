"""Write a publishable table: one row a cell, one column a dimension, then value and status."""

import csv
from pathlib import Path

from reticent.data.published_table import PublishedTable
from reticent.io.atomic import atomic_path


def write_published_table(table: PublishedTable, path: Path | str) -> None:
    """Write the table as CSV; the file appears whole or not at all."""
    with atomic_path(Path(path)) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*table.dimensions, "value", "status"])
        for number, codes in enumerate(table.codes):
            writer.writerow([*codes, table.text(number), table.status[number]])
