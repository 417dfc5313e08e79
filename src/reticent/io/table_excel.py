# SPDX-License-Identifier: Apache-2.0
"""Published tables as workbooks: the table as people read it, its cells one by one, and notes.

Hidden cells are marked by a sign and a shade, never by the shade alone. Texts stay texts: a code that looks like a formula is
written as a text, so that no spreadsheet runs it.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError
from reticent.base.optional import need
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.frames.marks import Marks
from reticent.io.table_format import TableFormat

SIGNS = {HIDDEN: "×", EMPTY: "–"}
WIDEST = 16_384
"""A sheet has no more columns."""
LONGEST = 1_048_576
"""Nor more rows."""


def _make(table: PublishedTable, marks: Marks) -> Callable[[Path], None]:
    workbooks = need("openpyxl", extra="excel", purpose="writing a workbook")
    if len(table) >= LONGEST:
        raise DataError(f"the table has {len(table):,} cells, more than a sheet has rows; write it as CSV or Parquet.")
    return lambda place: _save(_workbook(workbooks, table), place)


def _save(book: Any, place: Path) -> None:
    """Save the workbook without the time of day, so that the same table gives the same bytes."""
    held = io.BytesIO()
    book.save(held)
    with zipfile.ZipFile(held) as parts, zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as target:
        for name in parts.namelist():
            content = parts.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:(created|modified)[^>]*>)[^<]*", rb"\g<1>2000-01-01T00:00:00Z", content)
            target.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def _workbook(workbooks: Any, table: PublishedTable) -> Any:
    book = workbooks.Workbook()
    book.remove(book.active)
    styles = _Styles(workbooks.styles)
    across = list(dict.fromkeys(codes[-1] for codes in table.codes))
    if len(table.dimensions) > 1 and len(across) + len(table.dimensions) <= WIDEST:
        _crossed(book.create_sheet("Table"), table, across, styles)
    _cells(book.create_sheet("Cells"), table, styles)
    _notes(book.create_sheet("Notes"), table, styles)
    return book


class _Styles:
    """The few looks that a sheet needs."""

    def __init__(self, styles: Any) -> None:
        self.head = styles.Font(bold=True)
        self.right = styles.Alignment(horizontal="right")
        self.shades = {
            HIDDEN: styles.PatternFill("solid", start_color="D9D9D9"),
            EMPTY: styles.PatternFill("solid", start_color="F2F2F2"),
        }


def _crossed(sheet: Any, table: PublishedTable, across: list[str], styles: _Styles) -> None:
    """The last dimension across, the others down."""
    down = len(table.dimensions) - 1
    _line(sheet, 1, [*table.dimensions[:-1], *(_label(table, down, code) for code in across)], styles)
    rows: dict[tuple[str, ...], int] = {}
    columns = {code: down + 1 + at for at, code in enumerate(across)}
    for at, codes in enumerate(table.codes):
        row = rows.setdefault(codes[:-1], len(rows) + 2)
        if rows[codes[:-1]] == len(rows) + 1 and sheet.cell(row, 1).value is None:
            for place, code in enumerate(codes[:-1]):
                _text(sheet.cell(row, place + 1), _label(table, place, code))
        _value(sheet.cell(row, columns[codes[-1]]), table, at, styles)
    sheet.freeze_panes = sheet.cell(2, down + 1)


def _cells(sheet: Any, table: PublishedTable, styles: _Styles) -> None:
    """One row per cell, as in the CSV."""
    _line(sheet, 1, [*table.dimensions, *table.columns], styles)
    for at, codes in enumerate(table.codes):
        for place, code in enumerate(codes, start=1):
            _text(sheet.cell(at + 2, place), code)
        if table.status[at] == PUBLISHED:
            _value(sheet.cell(at + 2, len(codes) + 1), table, at, styles)
        _text(sheet.cell(at + 2, len(codes) + 2), table.status[at])
        if table.measure_text(at):
            sheet.cell(at + 2, len(codes) + 3).value = int(table.measure_text(at))
    sheet.freeze_panes = "A2"


def _notes(sheet: Any, table: PublishedTable, styles: _Styles) -> None:
    counts = table.counts()
    rows = (
        ("table", f"{table.response} by {' × '.join(table.dimensions)}"),
        ("kind", table.kind),
        ("method", table.method),
        ("published cells", counts[PUBLISHED]),
        (f"hidden cells ({SIGNS[HIDDEN]})", counts[HIDDEN]),
        (f"empty cells ({SIGNS[EMPTY]})", counts[EMPTY]),
        ("hidden", "A hidden cell is confidential itself, or is hidden so that no other can be worked out."),
        ("empty", "An empty cell has no respondents."),
    )
    _line(sheet, 1, ("what", "note"), styles)
    for number, (what, note) in enumerate(rows, start=2):
        _text(sheet.cell(number, 1), what)
        if isinstance(note, str):
            _text(sheet.cell(number, 2), note)
        else:
            sheet.cell(number, 2).value = note
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 24, 90


def _line(sheet: Any, row: int, texts: Iterable[str], styles: _Styles) -> None:
    for column, text in enumerate(texts, start=1):
        cell = sheet.cell(row, column)
        _text(cell, text)
        cell.font = styles.head


def _text(cell: Any, text: str) -> None:
    """Write a text as a text, whatever it begins with."""
    cell.value = "".join(letter for letter in text if letter.isprintable() or letter in "\n\t")
    cell.data_type = "s"
    cell.quotePrefix = text[:1] in ("=", "+", "-", "@", "\t")


def _value(cell: Any, table: PublishedTable, at: int, styles: _Styles) -> None:
    status = table.status[at]
    if status == PUBLISHED:
        number = float(table.text(at))
        cell.value = int(number) if table.decimals == 0 else number
        cell.number_format = "#,##0" + ("." + "0" * table.decimals if table.decimals else "")
        return
    _text(cell, SIGNS[status])
    cell.alignment, cell.fill = styles.right, styles.shades[status]


def _label(table: PublishedTable, dimension: int, code: str) -> str:
    label = table.labels.get(table.dimensions[dimension], {}).get(code, "")
    return f"{code} {label}" if label and label != code else code


EXCEL = TableFormat("excel", "a workbook: table, cells, notes", ".xlsx", _make)
