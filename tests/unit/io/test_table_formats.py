"""Published tables in every format, read back by readers that are not ours: values and status are equal."""

import csv
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from pyaxis import pyaxis

from reticent.base.errors import DataError, PlanError
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.io import table_excel
from reticent.io.published import published_frame, published_of_frame, read_published_table
from reticent.io.table_formats import TABLE_FORMATS, write_published_table

CODES = (
    ("Total", "Total"), ("Total", "=1+1"), ("Total", "ä 'ö'"),
    ("north", "Total"), ("north", "=1+1"), ("north", "ä 'ö'"),
    ("-south", "Total"), ("-south", "=1+1"),
)  # fmt: skip
STATUS = (PUBLISHED, PUBLISHED, HIDDEN, PUBLISHED, HIDDEN, EMPTY, PUBLISHED, PUBLISHED)
VALUES = (1234.5, 0.0, np.nan, 7.0, np.nan, np.nan, -3.25, 1e6)


@pytest.fixture
def table() -> PublishedTable:
    labels = {"region": {"north": "The north"}, "kind": {}}
    return PublishedTable(
        ("region", "kind of good"), CODES, np.array(VALUES), STATUS, "turnover", 2, labels, kind="magnitude"
    )


@pytest.mark.parametrize("ending", [one.ending for one in TABLE_FORMATS])
def test_the_same_table_gives_the_same_bytes(table: PublishedTable, tmp_path: Path, ending: str) -> None:
    for name in ("first", "second"):
        write_published_table(table, tmp_path / f"{name}{ending}")
    assert (tmp_path / f"first{ending}").read_bytes() == (tmp_path / f"second{ending}").read_bytes()


@pytest.mark.parametrize("ending", [one.ending for one in TABLE_FORMATS])
def test_nothing_of_a_hidden_cell_is_written(table: PublishedTable, tmp_path: Path, ending: str) -> None:
    """Two tables that differ only in what they hide are the same file."""
    other = PublishedTable(
        table.dimensions, table.codes, np.where(np.isnan(table.values), 77.0, table.values), table.status, table.response,
        table.decimals, table.labels, kind=table.kind,
    )  # fmt: skip
    for name, one in (("first", table), ("second", other)):
        write_published_table(one, tmp_path / f"{name}{ending}")
    assert (tmp_path / f"first{ending}").read_bytes() == (tmp_path / f"second{ending}").read_bytes()


def test_csv_reads_back(table: PublishedTable, tmp_path: Path) -> None:
    write_published_table(table, tmp_path / "t.csv")
    again = read_published_table(tmp_path / "t.csv")
    assert again.codes == CODES
    assert again.status == STATUS
    np.testing.assert_array_equal(again.values, VALUES)


def test_parquet_reads_back(table: PublishedTable, tmp_path: Path) -> None:
    write_published_table(table, tmp_path / "t.parquet")
    frame = pd.read_parquet(tmp_path / "t.parquet")
    assert list(frame["status"]) == list(STATUS)
    np.testing.assert_array_equal(frame["value"].to_numpy(dtype=float), VALUES)


def test_sdmx_csv_reads_back_with_pandas(table: PublishedTable, tmp_path: Path) -> None:
    write_published_table(table, tmp_path / "t.sdmx.csv")
    frame = pd.read_csv(tmp_path / "t.sdmx.csv", dtype={"REGION": str, "KIND_OF_GOOD": str}, keep_default_na=True)
    plain = [frame[name].str.replace(r"^'(?=[=-])", "", regex=True) for name in ("REGION", "KIND_OF_GOOD")]
    found = list(zip(*plain, strict=True))
    assert found == list(CODES)  # after the apostrophe that keeps a spreadsheet from running a code
    np.testing.assert_array_equal(frame["OBS_VALUE"], VALUES)
    back = {("A", "F"): PUBLISHED, ("Q", "C"): HIDDEN, ("O", "F"): EMPTY}
    assert tuple(back[pair] for pair in zip(frame["OBS_STATUS"], frame["CONF_STATUS"], strict=True)) == STATUS
    assert set(frame["STRUCTURE_ID"]) == {"RETICENT:TURNOVER_BY_REGION_KIND_OF_GOOD(1.0)"}


def test_pc_axis_reads_back_with_pyaxis(table: PublishedTable, tmp_path: Path) -> None:
    write_published_table(table, tmp_path / "t.px")
    cube = pyaxis.parse(str(tmp_path / "t.px"), encoding="utf-8")["DATA"]
    label = {"The north": "north"}
    found = {(label.get(row[0], row[0]), row[1]): row[2] for row in cube.itertuples(index=False)}
    for codes, status, value in zip(CODES, STATUS, VALUES, strict=True):
        expected = {HIDDEN: '"..."', EMPTY: ""}.get(status)
        assert float(found[codes]) == value if expected is None else found[codes] == expected
    assert np.isnan(found["-south", "ä 'ö'"]), "a combination that the table does not list"


def test_long_code_lists_are_broken_into_lines(tmp_path: Path) -> None:
    codes = tuple((f"a rather long code with the number {i}",) for i in range(200))
    long = PublishedTable(("d",), codes, np.arange(200.0), (PUBLISHED,) * 200)
    write_published_table(long, tmp_path / "t.px")
    assert max(map(len, (tmp_path / "t.px").read_text().splitlines())) <= 256
    cube = pyaxis.parse(str(tmp_path / "t.px"), encoding="utf-8")["DATA"]
    assert [float(value) for value in cube["DATA"]] == list(range(200))


def test_excel_reads_back_with_openpyxl(table: PublishedTable, tmp_path: Path) -> None:
    write_published_table(table, tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert book.sheetnames == ["Table", "Cells", "Notes"]
    rows = list(book["Cells"].iter_rows(min_row=2, values_only=True))
    assert tuple(row[:2] for row in rows) == CODES
    assert tuple(row[3] for row in rows) == STATUS
    assert [row[2] for row in rows if row[3] == PUBLISHED] == [v for v in VALUES if not np.isnan(v)]


def test_hidden_cells_of_a_workbook_are_marked_without_colour(table: PublishedTable, tmp_path: Path) -> None:
    write_published_table(table, tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx")["Table"]
    shown = {sheet.cell(r, 1).value: [sheet.cell(r, c).value for c in (2, 3, 4)] for r in (2, 3, 4)}
    assert shown == {"Total": [1234.5, 0, "×"], "north The north": [7, "×", "–"], "-south": [-3.25, 1e6, None]}


def test_codes_that_look_like_formulas_stay_texts(table: PublishedTable, tmp_path: Path) -> None:
    write_published_table(table, tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert any(cell.value == "=1+1" and cell.quotePrefix for cell in cells)
    with zipfile.ZipFile(tmp_path / "t.xlsx") as parts:
        assert not [name for name in parts.namelist() if b"<f>" in parts.read(name)]


def test_too_many_cells_for_a_sheet(table: PublishedTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_excel, "LONGEST", 8)
    with pytest.raises(DataError, match="more than a sheet has rows"):
        write_published_table(table, tmp_path / "t.xlsx")
    assert not list(tmp_path.iterdir())


def test_an_unknown_ending_names_the_known_ones(table: PublishedTable, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"\.sdmx\.csv, \.csv, \.xlsx, \.px, \.parquet"):
        write_published_table(table, tmp_path / "t.doc")


def test_the_sdmx_file_is_well_formed(table: PublishedTable, tmp_path: Path) -> None:
    write_published_table(table, tmp_path / "t.sdmx.csv")
    lines = list(csv.reader(io.StringIO((tmp_path / "t.sdmx.csv").read_text())))
    assert lines[0][:3] == ["STRUCTURE", "STRUCTURE_ID", "ACTION"]
    assert {len(line) for line in lines} == {8}


MEASURES = (1.0, np.nan, np.nan, 0.0, np.nan, np.nan, 2.0, 5.0)


def test_every_format_has_the_measure_of_each_change(table: PublishedTable, tmp_path: Path) -> None:
    """A published measure is in every file, for the cells that have one."""
    told = replace(table, measure=np.array(MEASURES))
    for one in TABLE_FORMATS:
        write_published_table(told, tmp_path / f"t{one.ending}")
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "t.csv")["measure"], MEASURES)
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "t.sdmx.csv")["MEASURE"], MEASURES)
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx")["Cells"]
    assert [row[4] for row in sheet.iter_rows(min_row=2, values_only=True)] == [1, None, None, 0, None, None, 2, 5]
    frame = pd.read_parquet(tmp_path / "t.parquet")
    np.testing.assert_array_equal(pd.to_numeric(frame["measure"]).to_numpy(float), MEASURES)
    notes = [line for line in (tmp_path / "t.px").read_text().splitlines() if line.startswith("CELLNOTE")]
    assert notes[1] == 'CELLNOTE("The north","Total")="measure of the change: 0";'
    assert len(notes) == 4


def test_dimensions_of_an_sdmx_file_have_names_of_their_own(tmp_path: Path) -> None:
    codes = (("a", "x", "1"), ("a", "y", "2"))
    table = PublishedTable(("a b", "a-b", "action"), codes, np.array([1.0, 2.0]), (PUBLISHED,) * 2, "*", 0)
    write_published_table(table, tmp_path / "t.sdmx.csv")
    header = (tmp_path / "t.sdmx.csv").read_text().splitlines()[0].split(",")
    assert header[3:6] == ["A_B", "A_B_1", "ACTION_1"]


@pytest.mark.parametrize("names", [("value", "status"), ("measure", "sex"), ("status", "region")])
def test_a_dimension_keeps_its_name_beside_the_columns_of_a_cell(tmp_path: Path, names: tuple[str, str]) -> None:
    codes = (("Total", "Total"), ("a", "Total"), ("b", "Total"))
    table = PublishedTable(names, codes, np.array([5.0, 3.0, 2.0]), (PUBLISHED,) * 3, "*", 0, measure=np.arange(3.0))
    for one in TABLE_FORMATS:
        write_published_table(table, tmp_path / f"t{one.ending}")
    again = read_published_table(tmp_path / "t.csv")
    assert (again.dimensions, again.codes) == (names, codes)
    np.testing.assert_array_equal(again.measure, [0.0, 1.0, 2.0])
    assert list(pd.read_parquet(tmp_path / "t.parquet").columns) == [
        *names,
        "cell_value",
        "cell_status",
        "cell_measure",
    ]
    assert table.rows()[1] == {
        names[0]: "a", names[1]: "Total", "cell_value": "3", "cell_status": "published", "cell_measure": "1"
    }  # fmt: skip
    frame = published_frame(table)
    read = published_of_frame(frame, value="cell_value", status="cell_status", kind="count")
    assert (read.dimensions, read.codes, read.values.tolist()) == (names, codes, [5.0, 3.0, 2.0])


def test_pc_axis_reads_back_as_it_was(table: PublishedTable, tmp_path: Path) -> None:
    write_published_table(table, tmp_path / "t.px")
    found = read_published_table(tmp_path / "t.px")
    assert found.dimensions == table.dimensions
    assert dict(zip(found.codes, found.status, strict=True)) == dict(zip(CODES, STATUS, strict=True))
    value = dict(zip(found.codes, found.values.tolist(), strict=True))
    assert [value[codes] for codes in CODES] == pytest.approx(list(VALUES), nan_ok=True)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("DATA=\n", "DATA=\n1 ", "DATA has 10 values, its dimensions ask for 3 × 3 = 9"),
        ('"...', "", "neither a number nor a known symbol"),
        ("DATA=\n", "DATA=\n1e", "neither a number nor a known symbol"),
        ("STUB=", "STUP=", "ask for 3 = 3"),
        ("DATA=", "DATO=", "needs STUB or HEADING, and DATA"),
        ("TITLE=", "title ", "not a PC-Axis file"),
        ('CODES("region")="Total","north"', 'CODES("region")="north","north"', "all different"),
        ("NOTE=", 'CELLNOTE("a","b")=', "give the table as CSV"),
    ],
)  # fmt: skip
def test_a_px_file_that_does_not_fit_is_one_sentence(
    table: PublishedTable, tmp_path: Path, old: str, new: str, words: str
) -> None:
    path = tmp_path / "t.px"
    write_published_table(table, path)
    text = path.read_text(encoding="utf-8")
    assert old in text
    head, data = text.split("DATA=", 1)
    text = head + "DATA=" + data.replace('"..."', "x") if old == '"...' else text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="t.px") as refused:
        read_published_table(path)
    assert words in str(refused.value)
