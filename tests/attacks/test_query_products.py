"""Attacks by products and squares of confidential values over several groups; each succeeds on what 0.1.0 answered."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from attacks.product_scenarios import FAMILIES, rounds, told
from attacks.transcripts import stored

Public = dict[str, Any]
FEW = 2
"""Databases of each family; all of them are a deep test."""


def products(values: Sequence[float]) -> float:
    """Σ pay · d from number, means, deviations and correlation."""
    n, pay, d, pay_spread, d_spread, both = values
    return both * pay_spread * d_spread * (n - 1) + n * pay * d


def squares(values: Sequence[float]) -> float:
    """Σ pay² from number, mean and deviation."""
    return values[3] ** 2 * (values[0] - 1) + values[0] * values[1] ** 2


def by_whole(public: Public) -> float:
    """The whole less three groups: one person has d = 1 there."""
    return products(public["told"][2]) - products(public["told"][3])


def by_crossed(public: Public) -> float:
    """Two sums less a third."""
    one, two, _, three = map(products_or_none, public["told"])
    return one + two - three


def products_or_none(values: Sequence[Any]) -> Any:
    """The products where all of them are answered (the third set is not needed)."""
    return None if None in values else products(values)


def by_values(public: Public) -> float:
    """Σ pay · (d − 1) is the target's pay and twice the insider's."""
    values = public["told"][0]
    return products(values) - values[0] * values[1] - 2 * public["own"]


def by_base(public: Public) -> float:
    """Σ pay · d less each group's pay times its own hours."""
    whole, *groups = public["told"]
    return products(whole) - sum(b * own[0] * own[1] for b, own in zip(public["base"], groups)) - public["own"]


def by_spread(public: Public) -> float:
    """The mean of three groups, if the sum of squares says that nobody differs from it."""
    whole, less = public["told"][2], public["told"][3]
    n, total = whole[0] - less[0], whole[0] * whole[1] - less[0] * less[1]
    left = squares(whole) - squares(less) - total**2 / n
    return total / n if abs(left) < 1.0 else float("nan")


ATTACKS: dict[str, Callable[[Public], float]] = dict(
    zip((make.__name__ for make in FAMILIES), (by_whole, by_crossed, by_values, by_base, by_spread))
)


def rate(name: str, found: dict[str, list[Public]]) -> float:
    """The share of databases in which the attack gives the target's pay to the unit."""

    def hit(public: Public) -> bool:
        try:
            return abs(ATTACKS[name](public) - public["truth"]) < 1
        except TypeError:  # something that it needs is not told
            return False

    return sum(map(hit, found[name])) / len(found[name])


@pytest.fixture(scope="module")
def today() -> dict[str, list[Public]]:
    return rounds(FEW)


def before_of(number: int) -> dict[str, list[Public]]:
    """What version 0.1.0 answered about as many of the databases."""
    return {name: found[:number] for name, found in stored("products").items()}


@pytest.mark.deep
def test_nor_in_any_of_the_databases() -> None:
    found, before = rounds(), stored("products")
    assert all(rate(name, found) == 0.0 and rate(name, before) == 1.0 for name in ATTACKS)


@pytest.mark.parametrize("name", list(ATTACKS))
def test_products_and_squares_of_several_groups_tell_nobody(name: str, today: dict[str, list[Public]]) -> None:
    before = before_of(FEW)
    assert rate(name, before) == 1.0
    assert [one["truth"] for one in before[name]] == [one["truth"] for one in today[name]], "the same records"
    assert rate(name, today) == 0.0


def test_sums_are_still_told(today: dict[str, list[Public]]) -> None:
    """Refused are products and squares, or after a product the sums that would complete the attack.

    With squares everybody knows that d is 0 or 1: that one of three groups has a 1 would tell this one about all others there.
    Where whole groups have one pay, no search finds other pays that fit, so one sum is refused.
    """
    few_differ(today)


@pytest.mark.deep
def test_nor_are_sums_of_more_databases_kept() -> None:
    few_differ(rounds(2 * FEW))


def few_differ(now: dict[str, list[Public]]) -> None:
    before, most = stored("products"), {"values_by_group": 2, "three_groups": 1, "crossed_groups": 1, "equal_values": 1}
    for name in ATTACKS:
        for old, new in zip(before[name], now[name]):
            differ = [then[:3] != again[:3] for then, again in zip(old["told"], new["told"])]
            assert sum(differ) <= most.get(name, 0)


def test_a_correlation_with_two_values_is_told_where_many_have_each() -> None:
    """Sixty persons in as many cells of the filters, half of them with d = 1: nothing is wrong with a correlation."""
    rng = np.random.default_rng(1)
    groups = [f"g{i:02}" for i in range(60)]
    pay, d = rng.integers(20000, 90000, 60), np.arange(60) % 2
    assert None not in told(groups, pay, d, (tuple(groups),))[0]
