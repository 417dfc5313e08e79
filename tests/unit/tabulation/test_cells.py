"""Cells of a table, against sums by hand: counts, totals, the largest contributions, and subtotals of all dimensions."""

import itertools

import numpy as np
import pytest

from reticent.data.table import Dimension
from reticent.tabulation.cells import Cells, Lists, base_cells, regroup, roll_up

REGION = Dimension("region", ("Total", "north", "n1", "n2", "south"), (np.array([-1, 0, 1, 1, 0], dtype=np.int32),))
SIZE = Dimension("size", ("Total", "small", "large"), (np.array([-1, 0, 0], dtype=np.int32),))
LEAVES = (np.array([2, 3, 4]), np.array([1, 2]))
ABOVE = ({2: {2, 1, 0}, 3: {3, 1, 0}, 4: {4, 0}}, {1: {1, 0}, 2: {2, 0}})


def units(seed: int, n: int = 40) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    columns = [rng.choice(leaves, n).astype(np.int32) for leaves in LEAVES]
    return columns, rng.integers(1, 100, n).astype(float), rng.integers(1, 4, n).astype(float)


def made(seed: int, *, weighted: bool = False, top: int = 2) -> tuple[Cells, list[np.ndarray], np.ndarray, np.ndarray]:
    columns, pay, weight = units(seed)
    cells = base_cells(
        columns, [5, 3], {"pay": pay}, weights=weight if weighted else None, units=None, tops={"pay": top}
    )
    return cells, columns, pay, weight


def by_hand(columns: list[np.ndarray], place: tuple[int, int]) -> np.ndarray:
    """The units of a cell, subtotals included."""
    return np.array(
        [all(node in ABOVE[at][int(column[i])] for at, (node, column) in enumerate(zip(place, columns)))
         for i in range(len(columns[0]))]
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_the_finest_cells_are_those_of_the_units(seed: int) -> None:
    cells, columns, pay, _ = made(seed)
    places = list(zip(*(column.tolist() for column in cells.columns)))
    assert len(set(places)) == len(cells) == len(set(zip(*(column.tolist() for column in columns))))
    for at, place in enumerate(places):
        mine = (columns[0] == place[0]) & (columns[1] == place[1])
        assert cells.counts[at].tolist() == [mine.sum(), mine.sum()]
        assert cells.lists["pay"].sums[at, 0] == pay[mine].sum()
        largest = np.sort(pay[mine])[::-1][:2]
        assert cells.lists["pay"].top[at, : len(largest)].tolist() == largest.tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_totals_and_subtotals_are_sums_of_their_units(seed: int, weighted: bool) -> None:
    cells, columns, pay, weight = made(seed, weighted=weighted)
    rolled = roll_up(cells, (REGION, SIZE))
    places = {place: at for at, place in enumerate(zip(*(column.tolist() for column in rolled.columns)))}
    for place in itertools.product(range(5), range(3)):
        mine = by_hand(columns, place)
        assert (place in places) == bool(mine.any()), "cells without a unit are left out"
        if mine.any():
            at = places[place]
            assert rolled.counts[at, 0] == mine.sum()
            assert rolled.counts[at, 1] == (weight[mine].sum() if weighted else mine.sum())
            expected = (pay * weight)[mine].sum() if weighted else pay[mine].sum()
            assert rolled.lists["pay"].sums[at, 0] == pytest.approx(expected)


def test_the_largest_contributions_of_a_total_are_the_largest_of_all() -> None:
    cells, _, pay, _ = made(4, top=3)
    rolled = roll_up(cells, (REGION, SIZE))
    total = next(at for at, place in enumerate(zip(*rolled.columns)) if tuple(place) == (0, 0))
    assert rolled.lists["pay"].top[total].tolist() == np.sort(pay)[::-1][:3].tolist()
    assert rolled.lists["pay"].sums[total, 2:].tolist() == [pay.min(), pay.max()]


def test_parts_of_a_file_are_joined_to_the_cells_of_the_whole() -> None:
    columns, pay, _ = units(5)
    whole, *parts = (
        base_cells([c[rows] for c in columns], [5, 3], {"pay": pay[rows]}, weights=None, units=None, tops={"pay": 2})
        for rows in (slice(None), slice(0, 15), slice(15, None))
    )
    joined = parts[0].joined(parts[1])
    order = [np.lexsort(tuple(reversed(one.columns))) for one in (whole, joined)]
    for mine, theirs in zip(whole.columns, joined.columns, strict=True):
        assert mine[order[0]].tolist() == theirs[order[1]].tolist()
    assert whole.counts[order[0]].tolist() == joined.counts[order[1]].tolist()
    assert whole.lists["pay"].sums[order[0]].tolist() == joined.lists["pay"].sums[order[1]].tolist()
    assert whole.lists["pay"].top[order[0]].tolist() == joined.lists["pay"].top[order[1]].tolist()


def test_cells_can_be_put_together_by_other_codes() -> None:
    cells, _, pay, _ = made(6)
    one = [np.zeros(len(cells), dtype=np.int32)]
    together = regroup(cells, np.arange(len(cells)), one, [1])
    assert len(together) == 1
    assert together.lists["pay"].sums[0, 0] == pay.sum()


def test_a_measure_is_in_the_unit_of_the_data_and_empty_lists_are_0() -> None:
    cells, _, pay, _ = made(7)
    measure = cells.lists["pay"].measure("pay", scale=10.0, weight_scale=1.0, decimals=1)
    assert measure.magnitudes.sum() == pytest.approx(np.abs(pay).sum() / 10)
    blank = Lists.blank(2, 2, weighted=False).measure("pay", scale=1.0, weight_scale=1.0, decimals=0)
    assert not blank.magnitudes.any()
    assert not blank.top.any()
