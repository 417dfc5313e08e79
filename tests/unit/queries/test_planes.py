"""Equations that hold for most records are found, and no values end the search in an error."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from reticent.base.arrays import Floats
from reticent.queries.planes import Relation, by_free, planes_in

N = 60


def parts(*, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Two parts, and what every fifth record has besides."""
    rng = np.random.default_rng(seed)
    one, other, more = (rng.integers(1000, 9000, N).astype(float) for _ in range(3))
    return one, other, np.where(np.arange(N) % 5 == 0, more, 0)


def followers(*columns: Floats, n_public: int = 0) -> list[tuple[int, list[float]]]:
    """How many records follow each equation, and its factors."""
    found = planes_in(np.column_stack(columns), [], n_public)
    return [(len(plane.rows), [float(factor) for factor in plane.factors]) for plane in found]


@pytest.mark.parametrize("size", [1e-250, 1e-3, 1.0, 1e200])
def test_an_equation_is_found_at_any_size(size: float) -> None:
    one, other, more = parts()
    assert followers(*(size * column for column in (one, other, one + other + more))) == [(48, [1.0, 1.0])]


@pytest.mark.parametrize("far", [1e9, 1e13, 1e15])
def test_a_far_value_does_not_hide_an_equation(far: float) -> None:
    one, other, more = parts()
    one[1] = far
    assert followers(one, other, one + other + more) == [(48, [1.0, 1.0])]


def test_a_far_value_that_does_not_follow_is_left_out() -> None:
    one, other, more = parts()
    one[1], total = 1e300, one + other + more
    assert followers(one, other, total) == [(47, [1.0, 1.0])]


def test_a_far_value_follows_exactly_or_not_at_all() -> None:
    one, other, more = parts()
    one[1], one[2], more[2] = 3e13, 2e13, 2000
    assert followers(one, other, one + other + more) == [(47, [1.0, 1.0])]


def test_what_is_left_of_one_equation_may_follow_another() -> None:
    one, other, _ = parts()
    total = np.where(np.arange(N) % 3 == 0, 3 * one + 2 * other, one + other)
    assert followers(one, other, total) == [(40, [1.0, 1.0]), (20, [3.0, 2.0])]


def test_factors_of_public_numbers_are_not_among_those_of_responses() -> None:
    one, other, more = parts()
    assert followers(one, other, 12 * one + 3 * other + more, n_public=1) == [(48, [3.0])]


def test_an_equation_that_all_follow_is_a_tie() -> None:
    one, other, _ = parts()
    values = np.column_stack((one, other, one + other))
    assert Relation.of((), ("pay", "rent", "income"), values, []).tie


def test_a_line_is_an_equation_of_two() -> None:
    one, _, more = parts()
    assert followers(one, 2 * one + more) == [(48, [2.0])]


def test_responses_are_told_by_those_that_are_left_free() -> None:
    half = Fraction(1, 2)
    income, tax = [Fraction(1), Fraction(1), Fraction(-1), Fraction(0)], [Fraction(0), Fraction(0), half, Fraction(-1)]
    assert by_free([income, tax], 4) == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [half, half, 0, 0]]
    assert by_free([tax, income, income], 4) == by_free([income, tax], 4)


@pytest.mark.parametrize("column", [np.zeros(N), np.full(N, np.nan), np.where(np.arange(N) == 7, 1.0, 0.0)])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_columns_without_an_equation(column: Any, place: int) -> None:
    columns = list(parts())
    columns[place] = column
    assert followers(*columns) == []


@pytest.mark.parametrize("n", range(6))
def test_too_few_records_have_no_equation(n: int) -> None:
    one, other, more = parts()
    assert planes_in(np.column_stack((one, other, one + other + more))[:n], [np.zeros(n, dtype=np.int32)]) == []


@pytest.mark.parametrize("seed", range(20))
def test_no_values_end_in_an_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = (
        rng.choice([-1e308, 1e308, 0], 700),
        rng.random(700) * 1e-300,
        rng.random(700) * 1e300,
        rng.integers(0, 2, 700).astype(float),
        rng.integers(0, 9000, 700).astype(float),
    )
    for n in (7, 20, 700):
        columns = [kinds[k][:n] for k in rng.permutation(5)[:3]]
        planes_in(
            np.column_stack((*columns, columns[0] / 8 + columns[1] / 4)), [rng.integers(0, 3, n).astype(np.int32)]
        )
