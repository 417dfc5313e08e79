"""Delimited text: separators, headers, encodings, rows that are too short or too long; never a value in an error."""

from pathlib import Path

import pytest

from reticent.base.errors import DataError
from reticent.io.argus_text import Notes
from reticent.io.delimited import read_delimited


def read(folder: Path, text: str | bytes, name: str = "d.csv", **options: object):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_delimited(path, notes=Notes(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "name"),
    [("a,b\n1,2\n", "d.csv"), ("a;b\n1;2\n", "d.csv"), ("a|b\n1|2\n", "d.txt"), ("a\tb\n1\t2\n", "d.tsv")],
)
def test_the_separator_is_guessed_from_the_header(tmp_path: Path, text: str, name: str) -> None:
    assert read(tmp_path, text, name).rows() == [("1", "2")]


def test_a_separator_that_is_said_counts(tmp_path: Path) -> None:
    found = read(tmp_path, "a,b;c\n1,2;3\n", separator=";")
    assert found.columns == ["a,b", "c"]
    assert found.rows() == [("1,2", "3")]


def test_everything_is_text_and_blanks_go_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a,b\n 007 ,x\n,y\n")
    notes = Notes()
    found = read_delimited(path, notes=notes)
    assert found.rows() == [("007", "x"), (None, "y")]
    assert list(notes) == ["d.csv: blanks around values were removed in a."]


def test_names_where_there_is_no_header(tmp_path: Path) -> None:
    assert read(tmp_path, "1,2\n3,4\n", names=("a", "b")).rows() == [("1", "2"), ("3", "4")]
    with pytest.raises(DataError, match="the first record has 2 fields, the metadata describe 3"):
        read(tmp_path, "1,2\n", names=("a", "b", "c"))


def test_marks_of_encodings_are_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeffa,b\n1,2\n").columns == ["a", "b"]
    assert read(tmp_path, "ä,b\n1,ö\n".encode("cp1252"), encoding="cp1252").rows() == [("1", "ö")]


def test_quoted_fields_keep_separators_and_line_ends(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\n"1,5","two\nlines"\n').rows() == [("1,5", "two\nlines")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("   \n", "the file is empty"),
        ("a,b\n", "no records"),
        ("a,,c\n1,2,3\n", "column 2 has no name"),
        ("a,b,a\n1,2,3\n", "column 'a' occurs twice"),
        ("a,b\nSECRET\n1,2\n", r"rows that do not: 1 \(the first is line 2\)"),
        ("a,b\n1,2\n1,2,SECRET\n", r"rows that do not: 1 \(the first is line 3\)"),
        ("a,b\n1,SECRET\n2,\n3\n", r"\(the first is line 4\)"),
        (b"a,b\n1,\xffSECRET\n", "is not UTF-8 text"),
        (b"\x00\x01\x02", "not a text file"),
    ],
)
def test_bad_files_are_one_sentence_without_values(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read(tmp_path, text)
    said = str(caught.value)
    assert said.startswith("d.csv: ")
    assert "SECRET" not in said
    assert "\n" not in said


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_delimited(tmp_path / "none.csv", notes=Notes())
    with pytest.raises(DataError, match="this is a folder"):
        read_delimited(tmp_path, notes=Notes())
    with pytest.raises(DataError, match="there is no encoding 'utf-99'"):
        read(tmp_path, "a\n1\n", encoding="utf-99")


def test_one_column_may_have_empty_lines(tmp_path: Path) -> None:
    assert read(tmp_path, "a\n1\n\n2\n")["a"].to_list() == ["1", None, "2"]


@pytest.mark.parametrize("header", ['"amount\nsecond",b', 'b,"amount\nsecond"', '"amount\nsecond"'])
def test_a_column_name_of_two_lines_is_refused_with_a_sentence(tmp_path: Path, header: str) -> None:
    with pytest.raises(DataError, match="does not end in the first line"):
        read(tmp_path, f"{header}\n" + ",".join("1" for _ in header.split(",")) + "\n")
