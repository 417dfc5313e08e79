"""p-tables: look-up, origins, files and what is wrong with them, designs that cannot be."""

from pathlib import Path

import numpy as np
import pytest

from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.tables.perturb.ptable import PerturbationTable, Row, parse_ptables, ptable_text, read_ptables
from reticent.tables.perturb.ptable_design import Design, design_ptable

LINES = ["i;j;p;v;p_ij_ub", "0;0;1;0;1", "1;0;0.6;-1;0.6", "1;2;0.2;1;0.8", "1;3;0.2;2;1"]


def test_a_key_takes_the_first_change_whose_bound_lies_above_it() -> None:
    table = parse_ptables(LINES, "t")["all"]
    keys = np.array([0.0, 0.5999, 0.6, 0.7999, 0.8, 0.9999])
    assert table.changes(np.full(6, 1), keys).tolist() == [-1, -1, 1, 1, 2, 2]
    assert table.changes(np.array([0, 7]), np.array([0.9, 0.9])).tolist() == [0, 2]


def test_origins_are_the_counts_that_can_give_a_published_one() -> None:
    table = parse_ptables(LINES, "t")["all"]
    low, high = table.origins(np.array([0, 1, 2, 3, 9]))
    # 0 comes from 0 or 1; 1 from 2 (by −1, last row); 2 from 1 or 3; 3 from 1, 2 or 4; 9 from 7, 8 or 10
    assert low.tolist() == [0, 2, 1, 1, 7]
    assert high.tolist() == [1, 2, 3, 4, 10]


def test_between_two_rows_changes_are_mixed() -> None:
    one = np.ones(1)
    table = PerturbationTable(
        (Row.of(0.0, np.zeros(1), one), Row.of(1.0, np.array([0.5]), one), Row.of(5.0, np.array([2.5]), one))
    )
    sizes = np.array([0.0, 0.5, 1.0, 3.0, 5.0, 50.0])
    assert table.interpolated(sizes, np.full(6, 0.3)).tolist() == [0, 0.25, 0.5, 1.5, 2.5, 2.5]


@pytest.mark.parametrize(
    "line, words",
    [
        ("2;0;0.5;-2", "line 6: a line must have five or six fields"),
        ("2;x;0.5;-2;1", "line 6: i, j, p, v and p_ij_ub must be numbers"),
        ("2;nan;0.5;-2;1", "line 6: i, j, p, v and p_ij_ub must be finite"),
        ("2;0;1;-1;1", "line 6: v must be j − i"),
        ("2;0;1;-2;1;some", "line 6: the type must be one of all, even, odd"),
        ("2;0;0.5;-2;1", "the probabilities of row 2 must be at least 0 and add up to 1"),
        ("2;0;1;-2;0.7", "the bounds of row 2 must rise to 1"),
        ("2;-1;1;-3;1", "row 2 would make a value negative"),
        ("1;0;0.5;-1;1", "the changes of row 1 must rise"),
    ],
)
def test_wrong_lines_are_named(line: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        parse_ptables([*LINES, line], "t")


def test_files_that_are_no_ptables(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_ptables(tmp_path / "absent.txt")
    (tmp_path / "t.txt").write_text("i;j;p;v;p_ij_ub\n")
    with pytest.raises(DataError, match="no rows"):
        read_ptables(tmp_path / "t.txt")
    (tmp_path / "t.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="plain text"):
        read_ptables(tmp_path / "t.txt")
    with pytest.raises(DataError, match="first row must be that of size 0"):
        parse_ptables(["head", LINES[2], LINES[3], LINES[4]], "t")
    table = parse_ptables([*LINES, "5;5;1;0;1"], "t")["all"]
    with pytest.raises(DataError, match="a row for each i"):
        table.for_counts()


def test_text_has_the_kinds_only_where_there_are_several() -> None:
    table = parse_ptables(LINES, "t")["all"]
    assert ptable_text(table).splitlines()[:3] == ["i;j;p;v;p_ij_ub", "0;0;1;0;1", "1;0;0.6;-1;0.6"]
    assert ptable_text({"even": table, "odd": table}).splitlines()[-1] == "1;3;0.2;2;1;odd"
    with pytest.raises(ParameterError, match="all, even, odd"):
        ptable_text({"some": table})


@pytest.mark.parametrize(
    "options, words",
    [
        ({"largest": 0}, "largest must be between 1 and 100"),
        ({"variance": 0.0}, "variance must be between"),
        ({"skip": -1}, "skip must be between 0 and 100"),
        ({"stay": 1.5}, "stay must be between 0 and 1"),
        ({"largest": 3, "monotone": (True,)}, "monotone must be one truth value, or 3"),
    ],
)
def test_wrong_designs(options: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Design(**options)  # type: ignore[arg-type]


def test_demands_that_contradict_each_other() -> None:
    with pytest.raises(InfeasibleError, match="row 3 needs a variance from 0 to 1.5"):
        design_ptable(Design(5, 3.0, 2, 0.9))
    with pytest.raises(InfeasibleError, match="row 1 cannot have mean 0"):
        design_ptable(Design(2, 1.0, 4))
