"""Tables in the formats of tau-ARGUS, line by line: what stands for hidden and empty cells, letters, levels, metadata."""

from dataclasses import replace

import numpy as np
import pytest

from reticent.data.table import Dimension
from reticent.io.argus_output import (
    ArgusCells,
    cell_lines,
    csv_lines,
    intermediate_lines,
    intermediate_rda,
    sbs_lines,
)

REGION = Dimension("region", ("Total", "N", "S"), (np.array([-1, 0, 0], dtype=np.int32),))
SIZE = Dimension("size", ("Total", "1"), (np.array([-1, 0], dtype=np.int32),))
CODES = np.array([(r, s) for r in range(3) for s in range(2)], dtype=np.int32)


@pytest.fixture
def cells() -> ArgusCells:
    """Six cells: safe, secondary, dominance, few respondents, protected by hand, empty."""
    return ArgusCells(
        (REGION, SIZE), CODES, np.array([10.5, 4.0, 3.0, 2.0, 1.0, 0.0]), np.array([1, 11, 3, 5, 10, 14]), 1, "turnover",
        counts=np.array([9, 4, 1, 2, 3, 0]),
    )  # fmt: skip


def test_hidden_cells_are_x_and_empty_ones_a_dash(cells: ArgusCells) -> None:
    assert cells.hidden.tolist() == [False, True, True, True, False, False]
    assert [cells.text(cell, show=False) for cell in range(6)] == ["10.5", "x", "x", "x", "1.0", "-"]
    assert [cells.text(cell, show=True) for cell in range(6)] == ["10.5", "4.0", "3.0", "2.0", "1.0", "-"]


def test_code_value_without_status_shows_no_hidden_value(cells: ArgusCells) -> None:
    lines = cell_lines(cells, status=False, skip_empty=False, names=True, quotes=False)
    assert lines == [
        "region,size,turnover", "Total,Total,10.5", "Total,1,x", "N,Total,x", "N,1,x", "S,Total,1.0", "S,1,-",
    ]  # fmt: skip


def test_with_status_the_file_is_confidential_and_says_which(cells: ArgusCells) -> None:
    lines = cell_lines(cells, status=True, skip_empty=True, names=True, quotes=True)
    assert lines[0] == '"region","size","turnover","Status"'
    assert lines[2] == '"Total","1",4.0,11'
    assert len(lines) == 6


def test_rounded_tables_have_their_true_values_beside_with_status(cells: ArgusCells) -> None:
    rounded = replace(cells, original=np.arange(6.0), suffix="_Rounded")
    assert rounded.hidden.any() == np.False_
    lines = cell_lines(rounded, status=True, skip_empty=False, names=True, quotes=False)
    assert lines[0] == "region,size,turnover_Rounded,turnover_Orig"
    assert lines[3] == "N,Total,3.0,2.0"


def test_csv_is_rows_by_columns(cells: ArgusCells) -> None:
    assert csv_lines(cells, quotes=False) == [",Total,1", "Total,10.5,x", "N,x,x", "S,1.0,-"]
    assert csv_lines(cells, quotes=True)[0] == ',"Total","1"'


def test_csv_of_one_dimension_is_one_column() -> None:
    one = ArgusCells(
        (REGION,), np.arange(3, dtype=np.int32)[:, None], np.array([3.0, 2.0, 1.0]), np.ones(3, int), 0, "n"
    )
    assert csv_lines(one, quotes=False) == ["", "Total,3", "N,2", "S,1"]


def test_csv_has_a_block_for_each_code_of_a_third_dimension() -> None:
    codes = np.array([(0, 0, 0), (0, 0, 1), (1, 1, 1)], dtype=np.int32)
    cube = ArgusCells((REGION, SIZE, SIZE), codes, np.array([5.0, 4.0, 3.0]), np.ones(3, int), 0, "n")
    lines = csv_lines(cube, quotes=False)
    assert lines == ["Total", ",Total,1", "Total,5,-", "N,-,-", "S,-,-", "1", ",Total,1", "Total,4,-", "N,-,3", "S,-,-"]


def test_only_listed_codes_are_written(cells: ArgusCells) -> None:
    some = replace(cells, listed=(np.array([True, False, True]), np.array([True, False])))
    assert some.rows == [0, 4]
    assert csv_lines(some, quotes=False) == [",Total", "Total,10.5", "S,1.0"]
    assert cell_lines(some, status=False, skip_empty=False, names=False, quotes=False) == [
        "Total,Total,10.5",
        "S,Total,1.0",
    ]


def test_sbs_letters_say_why_a_cell_is_hidden(cells: ArgusCells) -> None:
    """A few respondents, B one or more than half of the total, C dominance of several, D secondary, V safe."""
    lines = sbs_lines(replace(cells, shares=np.array([40.0, 30.0, 90.0, 60.0, 20.0, 0.0])), levels=False)
    assert [line.split(",")[4] for line in lines] == ["V", "D", "B", "A", "V"]
    assert lines[0] == '"Total","Total",10.5,9,V,40.0'
    several = replace(cells, counts=np.full(6, 3), shares=np.array([0, 0, 45.0, 0, 0, 0]))
    assert sbs_lines(several, levels=False)[2].split(",")[4] == "C"
    assert sbs_lines(cells, levels=True)[2].startswith('"N",1,"Total",0,3.0')


def test_without_counts_and_shares_their_places_stay_empty(cells: ArgusCells) -> None:
    assert sbs_lines(replace(cells, counts=None), levels=False)[0] == '"Total","Total",10.5,,V,'


def test_intermediate_lines_carry_all_that_is_needed(cells: ArgusCells) -> None:
    whole = replace(
        cells, top=np.array([[5.0, 2.0]] * 6), lower=np.full(6, 0.25), upper=np.full(6, 0.75),
        attack_low=np.array([1.0, -np.inf, 0, 0, 0, 0]), attack_high=np.array([2.0, np.inf, 0, 0, 0, 0]),
    )  # fmt: skip
    lines = intermediate_lines(whole, skip_empty=True, status_only=False, quotes=False)
    assert lines[0] == "Total;Total;10.5;9;5.0;2.0;S;0.250;0.750;1.0;2.0"
    assert lines[1] == "Total;1;4.0;4;5.0;2.0;M;0.250;0.750;;"  # open ends stay blank
    assert [line.split(";")[6] for line in lines] == ["S", "M", "U", "U", "P"]


def test_status_only_leaves_contributions_and_levels_out(cells: ArgusCells) -> None:
    lines = intermediate_lines(cells, skip_empty=False, status_only=True, quotes=True)
    assert lines[2] == '"N";"Total";3.0;U'
    assert lines[-1] == '"S";"1";0.0;S'


def test_the_metadata_names_each_column_in_order(cells: ArgusCells) -> None:
    whole = replace(
        cells, top=np.zeros((6, 2)), lower=np.zeros(6), upper=np.zeros(6), holdings=np.zeros(6, int),
        holding_top=np.zeros((6, 1)), attack_low=np.zeros(6), attack_high=np.zeros(6),
    )  # fmt: skip
    lines = intermediate_rda(whole, ["region.hrc", None], status_only=False)
    names = [line for line in lines if not line.startswith((" ", "<"))]
    assert names == [
        "region", "size", "turnover", "Freq", "Top1", "Top2", "HoldFreq", "HoldTop1", "Status", "LowerPL", "UpperPL",
        "AttackLow", "AttackHigh",
    ]  # fmt: skip
    assert '  <HIERCODELIST> "region.hrc"' in lines
    assert lines.count("  <HIERARCHICAL>") == 1
    first = intermediate_lines(whole, skip_empty=False, status_only=False, quotes=False)[0]
    assert len(first.split(";")) == len(names)


@pytest.mark.parametrize("counted", [True, False])
def test_a_frequency_table_names_its_count(cells: ArgusCells, counted: bool) -> None:
    counts = replace(cells, response="Freq", counts=cells.counts if counted else None)
    lines = intermediate_rda(counts, [None, None], status_only=False)
    assert ("Count" in lines) == counted
    assert "Freq" in lines
