"""Rows of p-tables with given tails: each is a distribution with mean 0 and the variance that was asked for."""

import numpy as np
import pytest

from reticent.tables.perturb.ptable_tails import level_tails, normal_reference, raised_tails


def changes(low: int, high: int, *left_out: int) -> np.ndarray:
    return np.array([v for v in range(low, high + 1) if v not in left_out], dtype=float)


def check(own: np.ndarray, chances: np.ndarray | None, variance: float) -> np.ndarray:
    """A distribution with the moments that were asked for."""
    assert chances is not None
    assert (chances >= 0).all()
    assert chances.sum() == pytest.approx(1.0, abs=1e-10)
    assert chances @ own == pytest.approx(0.0, abs=1e-10)
    assert chances @ own**2 == pytest.approx(variance, abs=1e-9)
    return chances


@pytest.mark.parametrize("variance", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("low", [-1, -2, -3])
def test_levels_follow_from_the_three_equations(low: int, variance: float) -> None:
    own = changes(low, 3)
    chances = level_tails(own, variance)
    if chances is None:
        assert variance > 2 or low == -1
        return
    check(own, chances, variance)
    assert np.ptp(chances[own > 0]) < 1e-12, "one level above"
    used = chances[(own < 0) & (chances > 0)]
    assert np.ptp(used) < 1e-12, "one level below, but for changes that were given up"


def test_a_symmetric_row_has_the_same_level_on_both_sides() -> None:
    own = changes(-3, 3)
    chances = check(own, level_tails(own, 2.0), 2.0)
    assert chances[0] == pytest.approx(2.0 / 28)
    assert np.allclose(chances, chances[::-1])


def test_a_count_that_cannot_stay_has_its_next_higher_result_as_the_centre() -> None:
    own = changes(-1, 3, 0)
    chances = level_tails(own, 1.2)
    if chances is not None:
        check(own, chances, 1.2)
        assert chances[1] >= chances[2] - 1e-12


@pytest.mark.parametrize("own", [changes(0, 3), changes(-3, 0), np.array([0.0]), np.array([1.0])])
def test_a_row_without_a_tail_on_each_side_has_no_levels(own: np.ndarray) -> None:
    assert level_tails(own, 1.0) is None


@pytest.mark.parametrize("stay", [0.2, 0.3, 0.4])
def test_normal_tails_stand_on_levels(stay: float) -> None:
    own = changes(-5, 5)
    for variance in (2.0, 3.0, 4.0):
        chances = raised_tails(own, variance, stay)
        if chances is None:
            continue
        check(own, chances, variance)
        assert chances[own == 0] == pytest.approx(stay)
        above = chances[own > 0]
        assert (np.diff(above) <= 1e-12).all(), "a tail falls"


def test_some_row_has_normal_tails() -> None:
    own = changes(-5, 5)
    found = [raised_tails(own, variance, 0.3) for variance in np.arange(1.0, 6.0, 0.25)]
    assert any(row is not None for row in found)


def test_a_change_to_0_that_stands_apart_has_a_level_of_its_own() -> None:
    """Counts of 1 and 2 are never published: 4 may become 0, 3, 4, 5, …"""
    own = np.array([-4.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0])
    found = [(v, s, raised_tails(own, v, s)) for v in np.arange(0.5, 6.0, 0.25) for s in (0.2, 0.4, 0.6)]
    rows = [(v, s, row) for v, s, row in found if row is not None]
    for variance, stay, row in rows:
        check(own, row, variance)
        assert row[2] == pytest.approx(stay)
        assert row[1] == pytest.approx(row[3], abs=1e-9), "one more and one fewer are equally likely"


@pytest.mark.parametrize(
    "own", [changes(0, 4), np.array([-1.0, 0.0, 2.0, 3.0]), changes(-4, 2), np.array([-5.0, -3.0, 0.0, 1.0, 2.0, 3.0])]
)
def test_rows_with_other_gaps_are_left_to_the_search(own: np.ndarray) -> None:
    assert raised_tails(own, 2.0, 0.3) is None


@pytest.mark.parametrize("stay", [0.0, 0.25, 0.9])
def test_the_reference_keeps_the_centre_and_falls_to_both_sides(stay: float) -> None:
    own = changes(-4, 4)
    chances = normal_reference(own, 2.0, stay)
    assert chances.sum() == pytest.approx(1.0)
    assert chances[4] == pytest.approx(stay)
    assert np.allclose(chances, chances[::-1])
    assert (np.diff(chances[5:]) < 0).all()


def test_a_reference_without_a_centre_is_all_tails() -> None:
    own = changes(-2, 3, 0)
    chances = normal_reference(own, 1.5, 0.4)
    assert chances.sum() == pytest.approx(1.0)
    assert (chances > 0).all()
