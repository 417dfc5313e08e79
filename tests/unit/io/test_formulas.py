"""Texts that a spreadsheet would run are defused in CSV files, and every text is read back as it was."""

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reticent as rt
from reticent.data.published_table import PublishedTable
from reticent.io.formulas import defused, defused_table, restored, restored_table
from reticent.io.published import read_published_table
from reticent.io.published_before import read_published_before
from reticent.io.table_formats import write_published_table

RUN = ("=1+1", '=HYPERLINK("x")', "+x", "-2+3", "@SUM(1)", "\t=1", "\r=1", "-5 to <0")
LEFT = ("-5", "+3.5", "-1,5", "-1e3", "-", "+", "=", "@", "x=1", "", "5-9", "<16")


@pytest.mark.parametrize("text", RUN)
def test_what_would_run_gets_an_apostrophe(text: str) -> None:
    assert defused(text) == f"'{text}"


@pytest.mark.parametrize("text", LEFT)
def test_numbers_and_plain_texts_stay(text: str) -> None:
    assert defused(text) == text


@given(st.text(st.sampled_from("'=+-@\t\r\n5.,ex"), max_size=6))
def test_every_text_comes_back(text: str) -> None:
    assert restored(defused(text)) == text
    table = pl.DataFrame({"a": [text]}, schema={"a": pl.String})
    (shown,) = defused_table(table)["a"]
    assert shown == defused(text)
    again, _ = restored_table(pl.DataFrame({"a": [shown]}, schema={"a": pl.String}))
    assert again["a"].to_list() == [text]


def test_a_file_with_formulas_is_defused_and_read_back(tmp_path: Path) -> None:
    words = ["=1+1", "-2+3", "plain", "@x"] * 5
    data = rt.load(pl.DataFrame({"=note": words, "n": [-1, 2, 3, 4] * 5}), keys=["=note"])
    masked = data.protect([], most=1.0, keep_order=True).release()
    masked.write(tmp_path / "safe.csv")
    with (tmp_path / "safe.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["'=note", "n"]
    assert [row[0] for row in rows[1:5]] == ["'=1+1", "'-2+3", "plain", "'@x"]
    assert rows[1][1] == "-1"
    again = rt.load(tmp_path / "safe.csv")
    assert again.confidential_frame()["=note"].to_list() == words
    assert any("apostrophe" in note for note in again.notes)
    masked.write(tmp_path / "raw.csv", keep_formulas=True)
    assert "=1+1" in (tmp_path / "raw.csv").read_text(encoding="utf-8").splitlines()[1]


def test_codes_of_a_table_are_defused_and_read_back(tmp_path: Path) -> None:
    codes = (("=A", "x"), ("-5 to <0", "y"), ("-9", "z"))
    table = PublishedTable(
        ("size", "@kind"), codes, np.array([-1.0, 2.0, np.nan]), ("published", "published", "hidden")
    )
    for name in ("t.csv", "t.sdmx.csv"):
        write_published_table(table, tmp_path / name)
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if defused(cell) != cell and not cell.startswith("'")]
        assert "-9" in cells
    assert read_published_table(tmp_path / "t.csv").codes == codes
    assert read_published_before(tmp_path / "t.csv", ("size", "@kind"), "count").codes == codes
