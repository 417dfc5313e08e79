# SPDX-License-Identifier: Apache-2.0
"""Workbooks (.xlsx) as microdata: one sheet, names in its first row, one record per row after it."""

import datetime
import zipfile
from pathlib import Path
from typing import Any

import polars as pl

from reticent.base.checks import did_you_mean
from reticent.base.errors import DataError
from reticent.base.optional import need
from reticent.data.schema import Schema
from reticent.io.format import FileFormat, Source

ENCRYPTED = b"\xd0\xcf\x11\xe0"
"""How a file begins that holds a workbook behind a password (or one of before 2007)."""
MACROS = "xl/vbaProject.bin"
BROKEN = (OSError, LookupError, ValueError, TypeError, AttributeError, SyntaxError, zipfile.BadZipFile)
"""What the library raises at a damaged workbook."""


def _read(source: Source) -> tuple[pl.DataFrame, Schema | None]:
    path = source.path
    workbooks = need("openpyxl", extra="excel", purpose="reading a workbook")
    _refuse_unreadable(path)
    try:
        book = workbooks.load_workbook(path, data_only=True)
    except BROKEN:  # their own words may show values
        raise DataError(f"{path.name}: the file cannot be read as a workbook; save it as .xlsx again.") from None
    sheet = _sheet(book, source)
    _refuse_merged(sheet, path.name)
    rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    names, rows = _names(rows, path.name)
    return pl.DataFrame({name: _column([row[at] for row in rows]) for at, name in enumerate(names)}), None


def _refuse_unreadable(path: Path) -> None:
    """What is not a plain workbook: behind a password, or with programs inside."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
        if start == ENCRYPTED:
            raise DataError(
                f"{path.name}: the workbook is encrypted, or older than Excel 2007; save it as .xlsx without a password."
            )
        with zipfile.ZipFile(path) as parts:
            names = set(parts.namelist())
    except (OSError, zipfile.BadZipFile):
        raise DataError(f"{path.name}: the file cannot be read as a workbook; save it as .xlsx again.") from None
    if MACROS in names or path.suffix.lower() == ".xlsm":
        raise DataError(f"{path.name}: the workbook holds macros and is not opened; save it as .xlsx without them.")


def _sheet(book: Any, source: Source) -> Any:
    """The sheet that `query` names, or the only one that has anything."""
    name, filled = source.path.name, [one for one in book.worksheets if one.max_row > 1 or one.max_column > 1]
    if source.query is not None:
        if source.query not in book.sheetnames:
            known = ", ".join(book.sheetnames)
            hint = did_you_mean(source.query, book.sheetnames)
            raise DataError(f"{name}: there is no sheet {source.query!r}.{hint} Its sheets: {known}.")
        return book[source.query]
    if not filled:
        raise DataError(f"{name}: the workbook has no records.")
    if len(filled) > 1:
        known = ", ".join(one.title for one in filled)
        raise DataError(
            f"{name}: the workbook has {len(filled)} sheets ({known}); name one (query = {filled[0].title!r} in [data], "
            f"query={filled[0].title!r} in Python), or save it as a workbook of its own."
        )
    return filled[0]


def _refuse_merged(sheet: Any, name: str) -> None:
    merged = next(iter(sheet.merged_cells.ranges), None)
    if merged is not None:
        raise DataError(
            f"{name}, sheet {sheet.title}: the cells {merged.coord} are merged; split them, so that each column has its own "
            "name in row 1 and each record its own row."
        )


def _names(rows: list[list[Any]], name: str) -> tuple[list[str], list[list[Any]]]:
    """Names from the first row, and the records after it without what is empty at the end."""
    while rows and all(value is None for value in rows[-1]):
        rows.pop()
    if len(rows) < 2:
        raise DataError(f"{name}: the sheet has no records; names are in its first row, records after it.")
    width = max(at + 1 for row in rows for at, value in enumerate(row) if value is not None)
    names = ["" if value is None else str(value).strip() for value in rows[0][:width]]
    unnamed = next((at for at, one in enumerate(names, start=1) if not one), None)
    if unnamed is not None:
        raise DataError(f"{name}: column {unnamed} has no name in the first row.")
    if len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise DataError(f"{name}: two columns have the name {twice!r}; each needs its own.")
    return names, [row[:width] for row in rows[1:]]


def _column(values: list[Any]) -> pl.Series:
    """Numbers where all are numbers; else texts, as the sheet shows them."""
    present = [value for value in values if value is not None]
    if all(isinstance(value, int) and not isinstance(value, bool) for value in present):
        return pl.Series(values, dtype=pl.Int64)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)
    return pl.Series([None if value is None else _shown(value) for value in values], dtype=pl.String)


def _shown(value: Any) -> str:
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


XLSX = FileFormat(
    "xlsx",
    "Excel workbook (one sheet; query names it where there are several)",
    _read,
    endings=(".xlsx", ".xlsm"),
    extra="excel",
)
