"""The small languages of ARGUS files: text, tokens, files named elsewhere, code lists, hierarchies, a-priori files."""

from pathlib import Path

import pytest

from reticent.base.errors import DataError
from reticent.io.argus_codes import read_cdl, read_hrc, write_hrc
from reticent.io.argus_hst import read_hst
from reticent.io.argus_text import Notes, find_file, lines_of, read_text, tokens_of


@pytest.fixture
def notes() -> Notes:
    return Notes()


def test_notes_are_kept_once_and_in_order(notes: Notes) -> None:
    for line in ("b", "a", "b"):
        notes.add(line)
    assert list(notes) == ["b", "a"]


def test_text_is_utf8_or_windows_latin(tmp_path: Path, notes: Notes) -> None:
    (tmp_path / "a").write_bytes("ä\r\nb\rc\x1a".encode())
    assert read_text(tmp_path / "a", notes) == "ä\nb\nc"
    assert list(notes) == []
    (tmp_path / "b").write_bytes("ä".encode("cp1252"))
    assert read_text(tmp_path / "b", notes) == "ä"
    assert list(notes) == ["b: not UTF-8, read as Windows Latin-1."]


@pytest.mark.parametrize(("content", "message"), [(b"a\x00b", "not a text file"), (None, "no such file")])
def test_what_is_no_text_is_refused(tmp_path: Path, notes: Notes, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "a").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_text(tmp_path / "a", notes)


def test_a_folder_is_no_file(tmp_path: Path, notes: Notes) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_text(tmp_path, notes)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("  <totcode> Total", ("<TOTCODE>", "Total")),
        ('<HIERCODELIST> "my tree.hrc"', ("<HIERCODELIST>", "my tree.hrc")),
        ("<NUMERIC> <DECIMALS> 2", ("<NUMERIC>", "<DECIMALS>", "2")),
        ('a\tb  "c d"', ("a", "b", "c d")),
        ("", ()),
    ],
)
def test_tokens(text: str, tokens: tuple[str, ...]) -> None:
    assert tokens_of(text) == tokens


def test_lines_that_say_something_keep_their_numbers() -> None:
    found = lines_of("// a comment\n\n  size 1 2\n<RECODEABLE>\n<>\n")
    assert [(line.number, line.text, line.keyword) for line in found] == [
        (3, "size 1 2", None), (4, "<RECODEABLE>", "RECODEABLE"), (5, "<>", None),
    ]  # fmt: skip


def test_files_are_found_in_any_case_and_without_the_drive_of_another_machine(tmp_path: Path, notes: Notes) -> None:
    (tmp_path / "Data").mkdir()
    (tmp_path / "Data" / "Size.HRC").write_text("a\n")
    for name in ("data/size.hrc", "C:\\work\\data\\SIZE.hrc", "Data\\Size.HRC", "/elsewhere/data/size.hrc"):
        assert find_file(tmp_path, name, notes) == tmp_path / "Data" / "Size.HRC"
    assert "C:\\work\\data\\SIZE.hrc: found as Size.HRC." in list(notes)


def test_files_are_sought_in_further_folders(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.hrc").write_text("a\n")
    assert find_file(tmp_path, "a.hrc", also=(tmp_path / "other",)).name == "a.hrc"
    assert find_file(tmp_path, str(tmp_path / "OTHER" / "A.HRC")).name == "a.hrc"


def test_a_file_that_is_nowhere_is_named_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "sizes.hrc").write_text("a\n")
    with pytest.raises(DataError, match=r"size\.hrc: there is no such file .*Did you mean 'sizes\.hrc'"):
        find_file(tmp_path, "size.hrc")


def test_code_lists_keep_the_first_of_two_labels(tmp_path: Path, notes: Notes) -> None:
    (tmp_path / "a.cdl").write_text('1,North\n\n2,"South, far"\n1,Other\n3\n')
    codes, labels = read_cdl(tmp_path / "a.cdl", notes)
    assert codes == ("1", "2", "3")
    assert labels == ("North", "South, far", "3")
    assert list(notes) == ["a.cdl: code '1' occurs twice with different labels; the first is kept."]


def test_a_hierarchy_reads_back_as_it_was_written(tmp_path: Path) -> None:
    text = "A\n@A1\n@@A11\n@@A12\n@A2\nB\n"
    (tmp_path / "a.hrc").write_text(text)
    tree = read_hrc(tmp_path / "a.hrc")
    assert tree.codes[0] == "Total"
    assert write_hrc(tree) == text
    assert write_hrc(tree, lead="--").splitlines()[2] == "----A11"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\n@@A1\n", "line 2 is 2 levels deep"),
        ("A\n@\n", "line 2 has no code"),
        ("A\n@B\nB\n", r"'B' \(line 3\) is in two places"),
        ("\n\n", "has no codes"),
    ],
)
def test_a_broken_hierarchy_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.hrc").write_text(text)
    with pytest.raises(DataError, match=message):
        read_hrc(tmp_path / "a.hrc")


def test_a_hierarchy_needs_a_leading_string(tmp_path: Path) -> None:
    (tmp_path / "a.hrc").write_text("A\n")
    with pytest.raises(DataError, match="must not be empty"):
        read_hrc(tmp_path / "a.hrc", lead="")


def test_what_is_known_beforehand_is_read_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "a.hst").write_text('// known\nN;"1";u\n\nN;2;C;2,5\nTotal;1;pl;1;2;\n;2;s\n')
    found = read_hst(tmp_path / "a.hst", 2)
    assert [(entry.codes, entry.action, entry.numbers) for entry in found] == [
        (("N", "1"), "U", ()), (("N", "2"), "C", (2.5,)), (("Total", "1"), "PL", (1.0, 2.0)), (("", "2"), "S", ()),
    ]  # fmt: skip
    assert found[1].where == "a.hst, line 4"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("N;u", "needs 2 codes and an action, separated by ';'; it has 2 fields"),
        ("N;1;x", "unknown action 'x'"),
        ("N;1;c", "action C needs 1 numbers, got 0"),
        ("N;1;u;3", "action U needs 0 numbers, got 1"),
        ("N;1;c;three", "what follows the action must be numbers"),
    ],
)
def test_wrong_lines_are_refused_by_their_number_or_passed_over(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "a.hst").write_text(f"N;1;u\n{row}\n")
    with pytest.raises(DataError, match=message) as found:
        read_hst(tmp_path / "a.hst", 2)
    assert str(found.value).startswith("a.hst, line 2: ")
    notes = Notes()
    assert len(read_hst(tmp_path / "a.hst", 2, notes=notes, ignore_errors=True)) == 1
    assert next(iter(notes)).startswith("passed over: a.hst, line 2: ")


def test_another_separator_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "a.hst").write_text("N,1,u\n")
    assert read_hst(tmp_path / "a.hst", 2, separator=",")[0].codes == ("N", "1")
