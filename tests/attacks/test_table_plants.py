"""A hidden cell of a finished table of plants has a plant, as a hidden count has somebody: the attack needs the CSV file only."""

from pathlib import Path

import pytest

from attacks.plant_families import attacked, rates

SMALLEST = {
    ("p", "x"): (1, 1), ("p", "y"): (1, 1), ("p", "z"): (1, 1), ("p", "Total"): (3, 3),
    ("q", "x"): (7, 4), ("q", "y"): (8, 5), ("q", "z"): (9, 6), ("q", "Total"): (24, 15),
    ("Total", "x"): (8, 5), ("Total", "y"): (9, 6), ("Total", "z"): (10, 7), ("Total", "Total"): (27, 18),
}  # fmt: skip


@pytest.mark.parametrize("known", [False, True])
def test_a_row_of_three_plants_gave_each_of_them_away(known: bool, tmp_path: Path) -> None:
    found = attacked(SMALLEST, tmp_path, known=known)
    assert found is not None
    assert found[:2] == (3, 0 if known else 3)


def test_generated_tables_of_plants_give_nothing_away() -> None:
    assert rates(30, known=False)[0] > 0
    given, refused, _, exactly, _ = rates(30, known=True)
    assert (given, refused, exactly) == (0, 0, 0)
