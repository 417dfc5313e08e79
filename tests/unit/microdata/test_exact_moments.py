"""Moments without rounding on the way, against Python's fractions."""

from fractions import Fraction

import numpy as np
import pytest

from reticent.base.errors import DataError
from reticent.microdata.perturb.covariance import moments
from reticent.microdata.perturb.exact_moments import exact_moments, exact_sums


def by_fractions(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The definition: n, Σx and Σxy as fractions, rounded once."""
    columns = [[Fraction(x) for x in column] for column in values.T.tolist()]
    n = len(values)
    means = [sum(column) / n for column in columns]
    covariance = [
        [float(sum(x * y for x, y in zip(a, b, strict=True)) / n - m * k) for b, k in zip(columns, means, strict=True)]
        for a, m in zip(columns, means, strict=True)
    ]
    return np.array([float(mean) for mean in means]), np.array(covariance)


@pytest.mark.parametrize("seed", range(12))
def test_every_entry_is_the_fraction_rounded_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(int(rng.integers(1, 300)), int(rng.integers(1, 4))))
    values *= 10.0 ** rng.integers(-3 * seed, 3 * seed + 1, size=values.shape)
    if seed % 3 == 0:
        values = np.round(values, 2)
    for found, wanted in zip(exact_moments(values), by_fractions(values), strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("shrink", [False, True])
def test_no_order_of_the_records_changes_a_bit(shrink: bool) -> None:
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(size=(20_000, 3)) * 4)
    values[rng.random(values.shape) < 0.01] = np.nan
    first = moments(values, shrink=shrink)
    for _ in range(3):
        again = moments(values[rng.permutation(len(values))], shrink=shrink)
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def test_a_large_mean_does_not_eat_the_variance() -> None:
    values = 1e15 + np.array([[0.0], [0.125], [0.25]])
    mean, covariance = exact_moments(values)
    assert mean[0] == 1e15 + 0.125
    assert covariance[0, 0] == float(Fraction(1, 96))


def test_extreme_numbers() -> None:
    sums, products = exact_sums(np.array([[2.0**1000], [5e-324], [-(2.0**1000)]]))
    assert sums[0] == Fraction(5e-324)
    assert products[0][0] == 2 * Fraction(2) ** 2000 + Fraction(5e-324) ** 2
    with pytest.raises(DataError, match="too large"):
        exact_moments(np.array([[1e300], [-1e300]]))
    with pytest.raises(DataError, match="infinite"):
        exact_moments(np.array([[np.inf], [1.0]]))
