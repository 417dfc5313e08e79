"""Fits by blocks of records against the textbook formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.queries.fitting import independent, least_squares, leverage, logistic, triangle


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(2, 6), st.sampled_from([20, 511, 512, 513, 1500]))
def test_least_squares_agrees_with_the_normal_equations(seed: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(n), rng.normal(size=(n, k - 1)) * 10.0 ** rng.integers(-3, 4, k - 1)])
    y = x @ rng.normal(size=k) + rng.normal(size=n)
    fit = least_squares(x, y)
    assert fit is not None
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    residual = y - x @ beta
    inverse = np.linalg.inv(x.T @ x)
    assert fit.beta == pytest.approx(beta, rel=1e-8, abs=1e-10)
    assert fit.left * fit.size**2 == pytest.approx(residual @ residual, rel=1e-9)
    assert fit.errors == pytest.approx(np.sqrt(residual @ residual / (n - k) * np.diag(inverse)), rel=1e-7)
    hat = np.einsum("ij,jk,ik->i", x, inverse, x)
    assert leverage(x, fit.r) == pytest.approx(hat, rel=1e-7, abs=1e-12)
    assert leverage(x).sum() == pytest.approx(k)


def test_columns_that_repeat_others_are_noticed() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(700, 3)) * [1e-6, 1.0, 1e6]
    double = np.column_stack([x, x[:, 0] * 5 - x[:, 1], np.zeros(700)])
    assert len(independent(triangle(double))) == 3
    assert least_squares(double, rng.normal(size=700)) is None
    assert leverage(double).sum() == pytest.approx(3)
    assert least_squares(x, np.full(700, np.inf)) is None
    assert least_squares(x[:3], np.ones(3)) is None


def test_digits_are_kept_where_squares_would_lose_them() -> None:
    """A year and its square: the normal equations have a condition number near 1e16."""
    year = np.tile(np.arange(1990.0, 2025.0), 60)
    x = np.column_stack([np.ones(len(year)), year, year**2])
    y = 3.0 - 0.002 * year + 1e-6 * year**2
    fit = least_squares(x, y + 1e-3 * np.cos(np.arange(len(year))))
    assert fit is not None
    assert x @ fit.beta == pytest.approx(y, abs=1e-3)


def test_logistic_regression_meets_its_equations() -> None:
    rng = np.random.default_rng(4)
    x = np.column_stack([np.ones(3000), rng.normal(size=3000), rng.integers(0, 2, 3000)])
    p = 1 / (1 + np.exp(-(x @ [0.3, -1.0, 0.5])))
    y = (rng.random(3000) < p).astype(float)
    found = logistic(x, y)
    assert found is not None
    fitted = 1 / (1 + np.exp(-(x @ found[0])))
    assert np.abs(x.T @ (y - fitted)).max() < 1e-6
    assert found[0] == pytest.approx([0.3, -1.0, 0.5], abs=5 * found[1].max())
    assert logistic(x, (x[:, 1] > 0).astype(float)) is None
