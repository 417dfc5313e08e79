"""Fixed-width files: cut as the schema says, laid out so that every value fits, with metadata that reads back."""

from pathlib import Path

import polars as pl
import pytest

from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.schema import Kind, Schema, Variable
from reticent.io.argus_text import Notes
from reticent.io.fixed import fixed_file, read_fixed
from reticent.io.read import read_microdata

SCHEMA = Schema((Variable("sex", start=1, length=1), Variable("age", kind=Kind.NUMERIC, start=3, length=3)))


def test_lines_are_cut_and_blanks_are_missing(tmp_path: Path) -> None:
    (tmp_path / "a.asc").write_text("m  30\nf    \n  100\n\n")
    found = read_fixed(tmp_path / "a.asc", SCHEMA, Notes())
    assert found.rows() == [("m", "30"), ("f", None), (None, "100")]


def test_a_short_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.asc").write_text("m  30\nf\n")
    with pytest.raises(DataError, match=r"starts at column 3; lines that end before it: 1 \(the first is line 2\)"):
        read_fixed(tmp_path / "a.asc", SCHEMA, Notes())


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_has_no_records(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.asc").write_text(text)
    with pytest.raises(DataError, match="no records"):
        read_fixed(tmp_path / "a.asc", SCHEMA, Notes())


def test_a_variable_without_a_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.asc").write_text("m  30\n")
    with pytest.raises(DataError, match="'age' has no start and length"):
        read_fixed(tmp_path / "a.asc", Schema((Variable("age"),)), Notes())


def test_tabs_are_noted(tmp_path: Path) -> None:
    (tmp_path / "a.asc").write_text("m\t 30\n")
    notes = Notes()
    read_fixed(tmp_path / "a.asc", SCHEMA, notes)
    assert list(notes) == ["a.asc: tabs are read as single characters."]


def written(table: pl.DataFrame, schema: Schema, folder: Path) -> pl.DataFrame:
    made = fixed_file(table, schema, folder / "b.asc")
    (folder / "b.asc").write_text(made.lines)
    (folder / "b.rda").write_text(made.rda)
    for name, text in made.others.items():
        (folder / name).write_text(text)
    return read_microdata(folder / "b.asc", folder / "b.rda").frame.table


def test_a_written_file_reads_back_by_its_own_metadata(tmp_path: Path) -> None:
    table = pl.DataFrame({"sex": ["m", "f", None], "age": [30, 7, 100]})
    assert written(table, SCHEMA, tmp_path).select("sex", "age").rows() == [("m", 30), ("f", 7), (None, 100)]


def test_places_are_kept_where_all_fits_and_widened_where_not(tmp_path: Path) -> None:
    made = fixed_file(pl.DataFrame({"sex": ["m"], "age": [30]}), SCHEMA, tmp_path / "b.asc")
    assert made.lines == "m  30\n"
    wide = fixed_file(pl.DataFrame({"sex": ["male"], "age": [12345]}), SCHEMA, tmp_path / "b.asc")
    assert "male" in wide.lines
    assert "12345" in wide.lines


def test_missing_codes_are_written_as_exactly_that(tmp_path: Path) -> None:
    schema = Schema((Variable("age", kind=Kind.NUMERIC, missing=("999",), start=1, length=3),))
    made = fixed_file(pl.DataFrame({"age": [30.0, None, 999.0]}), schema, tmp_path / "b.asc")
    assert made.lines.split("\n")[1:3] == ["999", "999"]


def test_code_lists_and_trees_come_along(tmp_path: Path) -> None:
    tree = Hierarchy.from_children({"Total": ["A", "B"], "A": ["A1", "A2"]})
    schema = Schema((Variable("branch", codes=("A1", "A2", "B"), labels=("one", "two", "other"), hierarchy=tree),))
    found = fixed_file(pl.DataFrame({"branch": ["A1", "B"]}), schema, tmp_path / "b.asc")
    assert any(name.endswith(".hrc") for name in found.others)
    assert any(name.endswith(".cdl") for name in found.others)
    assert all(name.startswith("b_") for name in found.others)


def test_a_line_end_inside_a_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'sex' has values with a line end"):
        fixed_file(pl.DataFrame({"sex": ["m\nf"], "age": [1]}), SCHEMA, tmp_path / "b.asc")
