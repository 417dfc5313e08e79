# SPDX-License-Identifier: Apache-2.0
"""The registry of formats of published tables: one line per format. The ending of a file says which."""

from pathlib import Path

from reticent.base.errors import PlanError
from reticent.data.published_table import PublishedTable
from reticent.frames.marks import NO_MARKS, Marks
from reticent.io.published import TABLE_CSV
from reticent.io.table_excel import EXCEL
from reticent.io.table_format import TableContent, TableFormat
from reticent.io.table_parquet import TABLE_PARQUET
from reticent.io.table_px import PC_AXIS
from reticent.io.table_sdmx import SDMX_CSV
from reticent.io.write import write_contents

# One line per format, in the order in which messages list them; SDMX-CSV before CSV, because its ending is longer.
TABLE_FORMATS: tuple[TableFormat, ...] = (
    SDMX_CSV,
    TABLE_CSV,
    EXCEL,
    PC_AXIS,
    TABLE_PARQUET,
)


def table_format(path: Path | str) -> TableFormat:
    """The format of a file of this name, or an error that says which endings are known."""
    name = Path(path).name.lower()
    for one in TABLE_FORMATS:
        if name.endswith(one.ending):
            return one
    known = ", ".join(one.ending for one in TABLE_FORMATS)
    raise PlanError(
        f"[output]: path of a table must end in one of {known}, got a name ending in {Path(path).suffix!r}."
    )


def table_content(table: PublishedTable, path: Path | str, marks: Marks = NO_MARKS) -> TableContent:
    """The table in the format of the file's ending."""
    check_marks(path, marks)
    return table_format(path).make(table, marks)


def check_marks(path: Path | str, marks: Marks) -> None:
    """Refuse a separator or a decimal mark for a format that has its own."""
    chosen = table_format(path)
    if chosen is not TABLE_CSV and (marks.separator is not None or marks.decimal is not None):
        raise PlanError(f"[output]: separator and decimal are for .csv files; {chosen.ending} has its own.")


def write_published_table(table: PublishedTable, path: Path | str, marks: Marks = NO_MARKS) -> None:
    """Write the table in the format of the file's ending; the file appears whole or not at all."""
    write_contents({Path(path): table_content(table, path, marks)})
