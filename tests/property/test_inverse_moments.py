"""The individual-risk kernels against decimals, over the whole range of counts and shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import inverse_moments as reference
from reticent.kernels.inverse_moments import negative_binomial_inverse, poisson_inverse
from reticent.microdata.risk.individual import record_risk

SHARES = [1e-12, 1e-6, 1e-3, 0.1, 0.32, 0.499, 0.5, 0.501, 0.7, 0.9, 0.999, 1 - 1e-12]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 15, 16, 17, 40, 100])
def test_negative_binomial_agrees_to_13_digits(count: int) -> None:
    got = negative_binomial_inverse(np.full(len(SHARES), count), np.array(SHARES))
    np.testing.assert_allclose(got, [reference.negative_binomial_inverse(count, p) for p in SHARES], rtol=1e-13)


@given(st.integers(1, 60), st.floats(1e-9, 1.0))
def test_negative_binomial_agrees(count: int, share: float) -> None:
    got = negative_binomial_inverse(np.array([count]), np.array([share]))[0]
    assert got == pytest.approx(reference.negative_binomial_inverse(count, share), rel=1e-12)


@given(st.integers(1, 60), st.floats(0.0, 200.0))
def test_poisson_agrees(count: int, mean: float) -> None:
    got = poisson_inverse(np.array([count]), np.array([mean]))[0]
    assert got == pytest.approx(reference.poisson_inverse(count, mean), rel=1e-11)


@given(st.integers(1, 10**6), st.floats(1.0, 1e9))
def test_bounds_and_order(count: int, factor: float) -> None:
    """1/F̂ ≤ r ≤ 1/f (Jensen), more population means less risk, one more record means less risk."""
    population = count * factor
    risk = record_risk([count, count, count + 1], [population, 2 * population, population + factor])
    assert 1 / population * (1 - 1e-12) <= risk[0] <= 1 / count * (1 + 1e-12)
    assert risk[1] < risk[0]
    assert risk[2] < risk[0]
