"""Radix order and ranks against numpy and scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reticent.kernels import ranking

FLOATS = st.floats(allow_nan=False, width=64)


@given(st.lists(FLOATS, max_size=30), st.integers(0, 1000))
def test_radix_order_is_the_stable_order(values, seed) -> None:
    rng = np.random.default_rng(seed)
    column = rng.choice(np.array([*values, 0.0, -0.0, 1.0, -1.0, np.inf, -np.inf]), 5000)
    assert np.array_equal(ranking.stable_order(column), np.argsort(column, kind="stable"))


@given(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=40))
def test_mean_ranks_agree_with_scipy(values) -> None:
    assert ranking.mean_ranks(np.array(values)) == pytest.approx(stats.rankdata(values))


def test_missing_values_come_last() -> None:
    column = np.array([np.nan, 2.0, 1.0] * 2000)
    assert np.array_equal(ranking.stable_order(column), np.argsort(column, kind="stable"))


@pytest.mark.parametrize("decimals", [15, 5, 2, 0])
def test_distinct_and_nearly_distinct_values(decimals) -> None:
    column = np.round(np.random.default_rng(decimals).normal(size=20_000), decimals)
    assert np.array_equal(ranking.stable_order(column), np.argsort(column, kind="stable"))
    assert ranking.centered_ranks(column) == pytest.approx((stats.rankdata(column) - 10_000.5) / 20_000, abs=1e-12)
