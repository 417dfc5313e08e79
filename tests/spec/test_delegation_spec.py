"""Parity checking as in the source, with its errata, and the residues that replace it; worked by hand."""

from fractions import Fraction

import numpy as np
import pytest

from reticent.base.errors import ParameterError
from reticent.delegation.expression import Row, parse
from reticent.delegation.parity import (
    block_parities,
    detection,
    normal_form,
    refuse_always_even,
    total_parity,
)
from reticent.delegation.residues import N_PRIMES, chance_of_passing, fresh_primes, is_prime, primes_needed

COLUMNS = ("x", "y", "z")


def poly(text: str) -> Row:
    (found,) = parse("e", f"sum({text})", COLUMNS).totals
    return found


def test_the_parity_of_a_sum_is_exclusive_or() -> None:
    """The source prints OR: two odd numbers have an even sum."""
    data = {"x": np.array([1]), "y": np.array([3])}
    assert total_parity(poly("x + y"), data) == 0
    assert total_parity(poly("x * y"), data) == 1


@pytest.mark.parametrize("claimed, computed, share", [
    ("x + y", "x - y", Fraction(0)),
    ("x*y", "x*y*z", Fraction(1, 8)),
    ("x*y", "x + y", Fraction(3, 4)),
    ("x", "y", Fraction(1, 2)),
])  # fmt: skip
def test_detection_on_random_parities(claimed: str, computed: str, share: Fraction) -> None:
    assert detection(poly(claimed), poly(computed)).rows == share


def test_the_formula_of_the_source_assumes_independence() -> None:
    """x·y is odd in 1/4 of the cases, x·y·z in 1/8: the formula gives 5/16, the truth is 1/8, below max(p, p')."""
    found = detection(poly("x*y"), poly("x*y*z"))
    assert found.independent == Fraction(1, 4) * Fraction(7, 8) + Fraction(1, 8) * Fraction(3, 4)
    assert found.rows == Fraction(1, 8) < Fraction(1, 4)


def test_an_expression_that_is_always_even_is_refused() -> None:
    """x² + x: with OR the complement test of the source would let it pass; its normal form is 0."""
    assert normal_form(poly("x*x + x")) == frozenset()
    assert normal_form(poly("2*x")) == frozenset()
    with pytest.raises(ParameterError, match="even whatever the data are"):
        refuse_always_even(poly("x*x + x"))
    refuse_always_even(poly("x*x + y"))


def test_detection_on_the_data_given() -> None:
    data = {"x": np.array([1, 2, 3, 4]), "y": np.array([1, 1, 2, 2]), "z": np.array([0, 0, 0, 0])}
    found = detection(poly("x + y"), poly("x*y"), data, blocks=2)
    # parities of x+y: 0 1 1 0; of x·y: 1 0 0 0; they differ in rows 1, 2, 3
    assert found.rows == Fraction(3, 4)
    assert found.total is True  # 3 differences: the totals' parities differ
    # blocks: rows 1 and 3 (two differences: even), rows 2 and 4 (one difference)
    assert found.blocks == Fraction(1, 2)
    assert block_parities(poly("x + y"), data, 2).tolist() == [1, 1]


def test_primes_are_counted_and_drawn_in_the_stated_range() -> None:
    assert N_PRIMES == 50_697_537
    assert [n for n in range(2, 60) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59]
    assert not is_prime(3_215_031_750)
    assert is_prime(2**31 - 1)
    assert not is_prime(25_326_001)  # a strong pseudoprime to the bases 2, 3, 5
    for prime in fresh_primes(3):
        assert 2**30 < prime < 2**31


def test_two_primes_are_enough_for_results_of_a_thousand_bits() -> None:
    assert primes_needed(2**63) == primes_needed(2**1000) == 2
    assert chance_of_passing(2**63, 2) < 2.0**-49
    assert chance_of_passing(2**1023, 2) < 2.0**-40
