"""Movements that are kept from release to release: put together, thinned out, and tried against bounds and rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from reticent.releases.pool import Movement, Pool, alive, still_true

UPPER, LOWER = (0, True), (0, False)


def moved(*change: int) -> Movement:
    return Movement.of(np.array(change, dtype=np.int64))


@dataclass
class Classes:
    n: int


@dataclass
class Small:
    """As much of a system as movements are tried against: rows over classes, their ends, a center, bounds of classes."""

    rows: sparse.csr_array
    row_low: np.ndarray
    row_high: np.ndarray
    center: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def classes(self) -> Classes:
        return Classes(len(self.center))

    def class_center(self) -> np.ndarray:
        return self.center

    def class_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self.low, self.high


def system() -> Any:
    """Three classes that add up to 10, each from 0 to 6; the center is (3, 3, 4)."""
    rows = sparse.csr_array(np.array([[1, 1, 1]]))
    ends = np.array([10])
    return Small(rows, ends, ends, np.array([3, 3, 4]), np.zeros(3, dtype=np.int64), np.full(3, 6))


@pytest.mark.parametrize("change", [(0, 0, 0), (1, 0, -1), (5, -2, -3)])
def test_a_movement_holds_what_changes(change: tuple[int, ...]) -> None:
    made = moved(*change)
    assert len(made.classes) == sum(step != 0 for step in change)
    assert made.full(3).tolist() == list(change)


def test_a_row_per_movement() -> None:
    pool = Pool()
    assert pool.matrix(3).shape == (0, 3)
    assert [pool.add(moved(1, 0, -1)), pool.add(moved(0, 2, -2))] == [0, 1]
    assert pool.matrix(3).toarray().tolist() == [[1, 0, -1], [0, 2, -2]]


def test_movements_are_put_together() -> None:
    pool = Pool([moved(1, 0, -1)])
    assert pool.plus(0, moved(0, 1, -1), 2).full(3).tolist() == [1, 2, -3]
    gone = pool.plus(0, moved(1, 0, -1), -1)
    assert len(gone.classes) == 0, "steps that cancel are no steps"


def test_what_shows_nothing_or_is_dead_goes_and_the_rest_is_numbered_anew() -> None:
    pool = Pool(
        [moved(1, -1, 0), moved(0, 1, -1), moved(1, 0, -1), moved(2, 0, -2)],
        {UPPER: (0, 2), LOWER: (1,)},
        {0: (2,), 1: (1,)},
    )
    left = pool.kept(np.array([True, False, True, True]))
    assert [m.full(3).tolist() for m in left.movements] == [[1, -1, 0], [1, 0, -1]]
    assert left.shows == {UPPER: (0, 1)}, "a side without a movement is no longer shown"
    assert left.doubts == {0: (1,)}


def test_other_movements_have_the_same_uses() -> None:
    pool = Pool([moved(1, -1, 0)], {UPPER: (0,)}, {3: (0,)})
    other = pool.with_movements([moved(2, -2, 0)])
    assert (other.shows, other.doubts) == (pool.shows, pool.doubts)
    other.shows[LOWER] = (0,)
    assert LOWER not in pool.shows, "uses are copied"


@pytest.mark.parametrize(("change", "fine"), [
    ((0, 0, 0), True),
    ((3, -3, 0), True),
    ((3, -3, 1), False),
    ((4, -4, 0), False),
    ((-3, 1, 2), True),
    ((-4, 2, 2), False),
])  # fmt: skip
def test_a_movement_is_alive_within_all_bounds_and_rows(change: tuple[int, ...], fine: bool) -> None:
    one = system()
    down, up = one.low - one.center, one.high - one.center
    assert alive(Pool([moved(*change)]), one, down, up).tolist() == [fine]


def test_rows_that_were_judged_before_are_not_judged_again() -> None:
    one = system()
    down, up = one.low - one.center, one.high - one.center
    pool = Pool([moved(1, 1, 1)])
    assert alive(pool, one, down, up).tolist() == [False]
    assert alive(pool, one, down, up, first_row=1).tolist() == [True]


def test_only_what_satisfies_a_system_is_still_true() -> None:
    pool = Pool([moved(1, -1, 0), moved(1, 1, 1)], {UPPER: (0,), LOWER: (1,)})
    left = still_true(pool, system())
    assert left.shows == {UPPER: (0,)}
    empty = Pool()
    assert still_true(empty, system()) is empty
