"""Responses tied by an equation are found, exactly or up to rounding; responses that are not tied are left alone."""

import numpy as np
import pytest

from reticent.queries.ties import ties_of


def random(n: int, columns: int, seed: int = 1) -> np.ndarray:
    return np.round(np.random.default_rng(seed).lognormal(5, 1, (n, columns)), 2)


def together(found: list[tuple[int, ...]], *columns: int) -> bool:
    return any(set(columns) <= set(tie) for tie in found)


def test_unrelated_responses_are_not_tied() -> None:
    assert ties_of(random(200, 3), []) == []


def test_a_total_is_tied_to_its_parts() -> None:
    parts = random(60, 2)
    assert together(ties_of(np.column_stack([parts, parts.sum(axis=1)]), []), 0, 1, 2)


@pytest.mark.parametrize("digits", [0, 2])
def test_an_amount_in_another_currency_is_tied_up_to_rounding(digits: int) -> None:
    euro = random(80, 1)[:, 0]
    found = ties_of(np.column_stack([euro, np.round(euro * 7.4603, digits)]), [])
    assert (0, 1) in found


def test_a_constant_is_part_of_an_equation() -> None:
    pay = random(50, 1)[:, 0]
    assert (0, 1) in ties_of(np.column_stack([pay, pay + 1000.0]), [])


def test_a_correlation_is_no_equation() -> None:
    rng = np.random.default_rng(4)
    pay = rng.lognormal(7, 0.4, 300)
    assert ties_of(np.column_stack([pay, pay * rng.normal(1, 0.05, 300)]), []) == []


def test_a_rate_for_each_country_is_found_by_the_filter() -> None:
    rng = np.random.default_rng(2)
    country = rng.integers(0, 3, 120).astype(np.int32)
    pay = np.round(rng.lognormal(7, 1, 120), 2)
    other = np.round(pay * np.array([1.1, 7.46, 0.2])[country], 2)
    responses = np.column_stack([pay, other])
    assert ties_of(responses, []) == []
    assert (0, 1) in ties_of(responses, [country])


def test_a_public_number_can_take_part() -> None:
    rng = np.random.default_rng(3)
    base = rng.integers(20, 60, 90).astype(float) * 100
    bonus = np.round(rng.lognormal(5, 1, 90), 2)
    responses = np.column_stack([bonus, base + bonus])
    assert ties_of(responses, []) == []
    assert (0, 1) in ties_of(responses, [], base[:, None])


def test_missing_values_do_not_hide_a_tie() -> None:
    rng = np.random.default_rng(5)
    values = random(150, 2, seed=5)
    responses = np.column_stack([values[:, 0], values[:, 0] * 2, values[:, 1]])
    responses[rng.random(150) < 0.3, 0] = np.nan
    responses[rng.random(150) < 0.3, 2] = np.nan
    assert (0, 1) in ties_of(responses, [])


def test_few_points_prove_nothing() -> None:
    """Two points always lie on a line; four records with two different values do not confirm one."""
    responses = np.array([[1.0, 7.0], [2.0, 9.0], [1.0, 7.0], [2.0, 9.0]])
    assert ties_of(responses, []) == []


def test_no_records_are_no_error() -> None:
    assert ties_of(np.zeros((0, 2)), [np.zeros(0, np.int32)]) == []
