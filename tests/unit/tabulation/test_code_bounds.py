"""Limits of codes that go together in part: with the sums of classes they say all that follows from two variables."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from reticent.tabulation.code_bounds import Limit, limits_of


def keeps(limit: Limit, left: np.ndarray, right: np.ndarray) -> bool:
    mine, its = (right, left) if limit.turned else (left, right)
    return bool(mine[list(limit.within)].sum() <= its[list(limit.of)].sum())


@pytest.mark.parametrize("number", range(12))
def test_numbers_within_all_limits_are_those_of_some_people(number: int) -> None:
    rng = np.random.default_rng(number)
    n, m = (int(size) for size in rng.integers(2, 5, 2))
    pairs = np.array([pair for pair in itertools.product(range(n), range(m)) if rng.random() < 0.5] or [(0, 0)])
    limits = list(limits_of(pairs, (n, m)))
    rows = np.zeros((n + m, len(pairs)))
    for at, (one, other) in enumerate(pairs):
        rows[one, at] = rows[n + other, at] = 1
    for _ in range(30):
        people = rng.integers(0, 4, len(pairs)) - rng.integers(0, 3, len(pairs))
        margins = rows @ people  # some are of nobody: they add up, and may break a limit
        if (margins < 0).any():
            continue
        found = linprog(np.zeros(len(pairs)), A_eq=rows, b_eq=margins, bounds=(0, None))
        assert (found.status == 0) == all(keeps(limit, margins[:n], margins[n:]) for limit in limits)


def test_of_many_codes_those_that_lie_within_one_are_limited() -> None:
    pairs = [(at, at % 12) for at in range(24)] + [(at, (at + 1) % 12) for at in range(12)]
    limits = list(limits_of(np.array(sorted(pairs)), (24, 12)))
    assert all(Limit((at,), (at % 12,)) in limits for at in range(12, 24))


def test_of_many_codes_those_that_a_single_combination_ties_to_the_rest_are_limited() -> None:
    pairs = [(0, 0), *((at, to) for at in range(1, 12) for to in (at - 1, at))]  # bands, and bands that end later
    limits = list(limits_of(np.array(pairs), (12, 12)))
    assert Limit((0, 1, 2), (0, 1, 2)) in limits
    assert Limit((9, 10, 11), (9, 10, 11), turned=True) in limits


def test_codes_that_all_go_with_all_have_no_limits() -> None:
    assert not list(limits_of(np.array(list(itertools.product(range(3), range(4)))), (3, 4)))
