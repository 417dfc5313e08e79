"""Workbooks as microdata, and what is refused of them in one sentence."""

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from command_line import CommandLine
from reticent.base.errors import DataError
from reticent.io.read import read_microdata


def save(path: Path, *sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"Sheet {number}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


ROWS: list[list[Any]] = [["region", "age", "income"], ["01", 31, 10.5], ["02", None, 20], ["01", 44, 30.25]]


def test_texts_stay_texts_and_numbers_numbers(tmp_path: Path) -> None:
    data = read_microdata(save(tmp_path / "a.xlsx", [*ROWS, [None, None, None]]))
    assert data.n_records == 3
    assert data.categories("region") == ("01", "02")
    assert data.numbers(("income",))[:, 0].tolist() == [10.5, 20.0, 30.25]


def test_of_several_sheets_one_is_named(tmp_path: Path) -> None:
    path = save(tmp_path / "a.xlsx", [["x"], [1]], ROWS)
    assert read_microdata(path, query="Sheet 2").n_records == 3
    with pytest.raises(DataError, match=r"2 sheets \(Sheet 1, Sheet 2\); name one \(query = 'Sheet 1' in \[data\]"):
        read_microdata(path)
    with pytest.raises(DataError, match="there is no sheet 'Sheet 3'"):
        read_microdata(path, query="Sheet 3")


def test_merged_cells_are_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "a.xlsx", ROWS)
    book = openpyxl.load_workbook(path)
    book.active.merge_cells("A1:B1")
    book.save(path)
    with pytest.raises(DataError, match="A1:B1 are merged"):
        read_microdata(path)


def test_a_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0" + b"\0" * 600)
    with pytest.raises(DataError, match="encrypted, or older than Excel 2007"):
        read_microdata(path)


def test_macros_are_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "a.xlsm", ROWS)
    with pytest.raises(DataError, match="holds macros"):
        read_microdata(path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["a", "a"], [1, 2]], "two columns have the name 'a'"),
        ([["a", None, "c"], [1, 2, 3]], "column 2 has no name"),
        ([["a", "b"]], "no records"),
        ([], "no records"),
    ],
)
def test_sheets_that_are_no_records(tmp_path: Path, rows: list[list[Any]], words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_microdata(save(tmp_path / "a.xlsx", rows))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", b"name,age\n"])
def test_what_is_no_workbook(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as a workbook"):
        read_microdata(path)


def _make(path: Path) -> None:
    """A workbook that cannot be read, of the kind that its name says."""
    if path.stem == "encrypted":
        path.write_bytes(b"\xd0\xcf\x11\xe0" + b"\0" * 600)
    elif path.stem == "torn":
        path.write_bytes(b"PK\x03\x04")
    else:
        book = openpyxl.load_workbook(save(path, *[ROWS] * (2 if path.stem == "sheets" else 1)))
        if path.stem == "merged":
            book.active.merge_cells("A1:B1")
        book.save(path)


@pytest.mark.parametrize("name", ["encrypted.xlsx", "torn.xlsx", "macros.xlsm", "sheets.xlsx", "merged.xlsx"])
@pytest.mark.parametrize("command", ["plan", "describe"])
def test_commands_refuse_workbooks_in_one_sentence_and_write_nothing(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _make(tmp_path / name)
    refused = CommandLine(capsys, monkeypatch)(command, tmp_path / name)
    assert refused.code != 0
    assert refused.err.startswith(f"reticent: {name}")
    assert refused.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]
