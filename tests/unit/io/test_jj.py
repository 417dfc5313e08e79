"""JJ files: read, written, read again; errors with file and line."""

from pathlib import Path

import numpy as np
import pytest

from reticent.base.errors import DataError
from reticent.data.cells import CellStatus
from reticent.io.jj import read_jj, write_jj

GOOD = """0
3
0 5 5 s 0 10 0 0 0
1 2 2 u 0 10 1 1.5 0
2 3 3 z 0 10 0 0 0
1
0 3 : 0 (-1) 1 (1) 2 (1)
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "small.jj"
    path.write_text(text)
    return path


def test_reading_and_round_trip(tmp_path: Path) -> None:
    problem = read_jj(write(tmp_path, GOOD))
    assert problem.status.tolist() == [CellStatus.SAFE, CellStatus.PRIMARY, CellStatus.FROZEN]
    assert problem.upper_protection[1] == 1.5
    write_jj(problem, tmp_path / "again.jj")
    again = read_jj(tmp_path / "again.jj")
    assert np.array_equal(again.values, problem.values)
    assert again.relations.coefs.tolist() == [-1, 1, 1]
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".part"] == []


def test_a_cell_may_stand_twice_or_with_coefficient_zero(tmp_path: Path) -> None:
    text = GOOD.replace("0 3 : 0 (-1) 1 (1) 2 (1)", "-1 5 : 2 (1) 0 (-1) 1 (3) 2 (-1) 1 (-1)")
    relations = read_jj(write(tmp_path, text)).relations
    assert relations.cells.tolist() == [0, 1]
    assert relations.coefs.tolist() == [-1, 2]


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("1 2 2 u 0 10 1 1.5 0", "1 2 2 q 0 10 1 1.5 0", r"small.jj, line 4: the status"),
        ("1 2 2 u 0 10 1 1.5 0", "1 2 2 u 0 10", r"line 4: a cell has 9 fields"),
        ("1 2 2 u 0 10 1 1.5 0", "0 2 2 u 0 10 1 1.5 0", r"line 4: cell 0 occurs twice"),
        ("1 2 2 u 0 10 1 1.5 0", "1 x 2 u 0 10 1 1.5 0", r"line 4: .* must be numbers"),
        ("1 2 2 u 0 10 1 1.5 0", "1 2 2 u 3 10 1 1.5 0", r"cell 1 lies outside"),
        ("0 3 :", "0 4 :", r"line 7: the relation announces 4 terms"),
        ("2 (1)", "9 (1)", r"line 7: a relation names a cell"),
        ("0 3 : 0 (-1) 1 (1) 2 (1)\n", "", r"ends after line 6"),
        ("0\n3\n", "0\nmany\n", r"line 2: the number of cells"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_jj(write(tmp_path, GOOD.replace(old, new, 1)))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none.jj: cannot be read"):
        read_jj(tmp_path / "none.jj")
