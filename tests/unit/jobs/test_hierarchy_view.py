"""Trees as pages show and change them: bands of numbers, codes moved to other groups, the text of a tree file."""

from pathlib import Path

import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.data.plan import DataSection
from reticent.io.hierarchies import read_hierarchy
from reticent.jobs.hierarchy_view import bands_of, check_tree, moved, tree_text, trees_of

CODES = ["north", "N1", "N2", "south", "S1"]
PARENTS = [-1, 0, 0, -1, 3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = ["region,age,pay", "N1,21,3.5", "N2,34,1.0", "S1,9,2.0", "S1,21,7.25"]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "region.hrc").write_text("north\n@N1\n@N2\nsouth\n@S1\n")
    (tmp_path / "short.hrc").write_text("north\n@N1\n")
    (tmp_path / "people.schema.toml").write_text(
        '[[variable]]\nname = "region"\nrole = "key"\nhierarchy = "region.hrc"\n'
        '[[variable]]\nname = "age"\nkind = "numeric"\n[[variable]]\nname = "pay"\nkind = "numeric"\n'
    )
    return tmp_path


def section(folder: Path) -> DataSection:
    return DataSection("people.csv", schema="people.schema.toml")


def test_each_variable_has_its_tree_or_its_codes_in_order(folder: Path) -> None:
    found = trees_of(section(folder), folder)
    assert list(found) == ["region", "age", "pay"]
    assert found["region"]["tree"]["counts"] == [1, 2, 3]
    assert found["region"]["n_codes"] == 3
    assert found["age"]["tree"] is None
    assert found["age"]["number"]
    assert found["age"]["codes"] == ["9", "21", "34"], "numbers by value, not by spelling"


def test_a_new_tree_covers_all_codes_or_says_how_many_are_left(folder: Path) -> None:
    assert check_tree(trees_of(section(folder), folder)["region"], folder, "region", (), "region.hrc") == [1, 2, 3]
    assert check_tree(trees_of(section(folder), folder)["region"], folder, "region", (1, 1), "") == [1, 2, 3]
    with pytest.raises(DataError, match="2 of the 3 codes of 'region' are not in the tree"):
        check_tree(trees_of(section(folder), folder)["region"], folder, "region", (), "short.hrc")


@pytest.mark.parametrize(("digits", "file"), [((), ""), ((1, 1), "region.hrc")])
def test_digits_or_a_file_not_both_and_not_neither(folder: Path, digits: tuple[int, ...], file: str) -> None:
    with pytest.raises(ParameterError, match="give digits or a file"):
        check_tree(trees_of(section(folder), folder)["region"], folder, "region", digits, file)


def test_more_codes_than_a_page_has_are_not_called_checked(folder: Path) -> None:
    with pytest.raises(ParameterError, match="'region' has 300,000 codes, more than a page checks"):
        check_tree({"codes": [], "n_codes": 300_000}, folder, "region", (1, 1), "")


def test_the_text_of_a_tree_reads_back(tmp_path: Path) -> None:
    (tmp_path / "made.hrc").write_text(tree_text(CODES, PARENTS))
    tree = read_hierarchy(tmp_path / "made.hrc")
    above = {code: tree.codes[parent] for code, parent in zip(tree.codes[1:], tree.parents[1:], strict=True)}
    assert above == {"north": "Total", "south": "Total", "N1": "north", "N2": "north", "S1": "south"}


@pytest.mark.parametrize("code", ["", "  ", "@N1", "two\nlines"])
def test_a_code_that_would_be_another_line_is_refused(code: str) -> None:
    with pytest.raises(ParameterError, match="no name starts with @"):
        tree_text(["north", code], [-1, 0])


def test_bands_of_whole_numbers_lie_in_wider_bands() -> None:
    codes, parents = bands_of(["21", "9", "34"], [10, 20])
    assert codes == ["0-19", "0-9", "9", "20-39", "20-29", "21", "30-39", "34"]
    above = [None if parent < 0 else codes[parent] for parent in parents]
    assert above == [None, "0-19", "0-9", None, "20-39", "20-29", "20-39", "30-39"]


def test_bands_of_other_numbers_say_where_they_end() -> None:
    codes, _ = bands_of(["0,5", "1.25"], [1.0])
    assert codes == ["0 to below 1", "0,5", "1 to below 2", "1.25"]


def test_negative_numbers_have_bands_below_0() -> None:
    codes, parents = bands_of(["-1", "-10", "0"], [10])
    assert [codes[parent] for parent in parents if parent >= 0] == ["-10--1", "-10--1", "0-9"]


@pytest.mark.parametrize("widths", [[], [0], [-5], [5, 5], [5, 12], [10, 5]])
def test_widths_that_do_not_nest_are_refused(widths: list[float]) -> None:
    with pytest.raises(ParameterError, match="each a multiple of the one before"):
        bands_of(["1", "2"], widths)


@pytest.mark.parametrize(("codes", "words"), [(["1", "x"], "not every code is a number"), ([], "at most 5,000")])
def test_bands_need_numbers_and_not_too_many(codes: list[str], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        bands_of(codes, [5])


def test_codes_move_to_another_group() -> None:
    codes, parents = moved(CODES, PARENTS, {2}, 3)
    assert [codes[parents[codes.index(code)]] for code in ("N1", "N2", "S1")] == ["north", "south", "south"]


def test_a_group_that_lost_all_its_codes_goes() -> None:
    codes, parents = moved(CODES, PARENTS, {4}, 0)
    assert "south" not in codes
    assert [codes[parents[codes.index(code)]] for code in ("N1", "N2", "S1")] == ["north"] * 3


def test_codes_move_below_a_new_group_or_below_the_total() -> None:
    codes, parents = moved(CODES, PARENTS, {1, 4}, -1, "coast")
    assert codes[-1] == "coast"
    assert [codes[parents[codes.index(code)]] for code in ("N1", "S1")] == ["coast", "coast"]
    assert parents[-1] == -1
    assert "south" not in codes
    codes, parents = moved(CODES, PARENTS, {1}, -1)
    assert parents[codes.index("N1")] == -1


@pytest.mark.parametrize(
    ("chosen", "to", "new", "words"),
    [
        (set(), 0, "", "tick the codes"),
        ({0}, 3, "", "tick the codes"),
        ({99}, 3, "", "tick the codes"),
        ({1}, 4, "", "choose a group"),
        ({1}, -1, "south", "name of a code"),
    ],
)
def test_moves_that_make_no_tree_are_refused(chosen: set[int], to: int, new: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        moved(CODES, PARENTS, chosen, to, new)
