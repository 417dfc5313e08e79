# SPDX-License-Identifier: Apache-2.0
"""Published tables as Parquet: one row per cell, the same columns as in CSV."""

from collections.abc import Callable
from pathlib import Path

from reticent.data.published_table import PublishedTable
from reticent.frames.marks import Marks
from reticent.io.published import published_frame
from reticent.io.table_format import TableFormat


def _make(table: PublishedTable, marks: Marks) -> Callable[[Path], None]:
    frame = published_frame(table, kind="polars")
    return lambda place: frame.write_parquet(place)


TABLE_PARQUET = TableFormat("parquet", "Parquet, one row per cell", ".parquet", _make)
