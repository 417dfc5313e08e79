"""Sums over all cells of a log-linear model, against the cells one by one, and the terms of Skinner and Shlomo (2008)."""

from itertools import product

import numpy as np
import pytest

from reticent.kernels.loglinear import bias_terms, log_means, sum_over_cells, sum_over_observed


def model(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Three variables, blocks (0, 1) and (1, 2): tables of logs, where they start, how a cell finds its entries."""
    rng = np.random.default_rng(seed)
    cards = np.array([2, 3, 4], dtype=np.int64)
    first, second = rng.normal(0, 0.5, (2, 3)), rng.normal(0, 0.5, (3, 4))
    tables = np.concatenate([first.ravel(), second.ravel()])
    strides = np.array([[3, 1, 0], [0, 4, 1]], dtype=np.int64)
    return cards, tables, np.array([0, 6], dtype=np.int64), strides, 1.5


def cells(cards: np.ndarray) -> np.ndarray:
    return np.array(list(product(*(range(int(c)) for c in cards))), dtype=np.int32)


def test_log_means_add_one_entry_of_each_block() -> None:
    cards, tables, offsets, strides, constant = model(1)
    found = log_means(cells(cards), tables, offsets, strides, constant)
    for (a, b, c), value in zip(cells(cards).tolist(), found, strict=True):
        assert value == pytest.approx(constant + tables[a * 3 + b] + tables[6 + b * 4 + c])


@pytest.mark.parametrize("fraction", [0.05, 0.5, 0.99])
@pytest.mark.parametrize("mean", [0.01, 1.0, 8.0])
def test_terms_are_derivatives_of_the_two_risks(mean: float, fraction: float) -> None:
    """τ1 = πλ·e^(−λ) and τ2 = e^(−πλ)(1 − e^(−(1−π)λ))/((1−π)λ)·πλ for one cell: a's follow from their formulas."""
    rest, whole, sampled = (1 - fraction) * mean, np.exp(-mean), np.exp(-fraction * mean)
    a1, b1, a2, b2 = bias_terms(mean, fraction)
    ratio = -np.expm1(-rest) / rest
    assert a1 == pytest.approx(rest * whole)
    assert b1 == pytest.approx((1 - fraction) * rest * whole / (2 * fraction))
    assert a2 == pytest.approx(sampled * ratio - whole, rel=1e-6)
    assert b2 == pytest.approx((sampled * ratio - whole * (1 + rest / 2)) / (fraction * mean), rel=1e-5)


def test_the_series_meets_the_formula_where_they_change_over() -> None:
    """At (1−π)λ = 1e-5 both must agree, or a sum over many small cells would jump."""
    for fraction in (0.1, 0.9):
        mean = 1e-5 / (1 - fraction)
        below, above = bias_terms(mean * 0.999, fraction), bias_terms(mean * 1.001, fraction)
        assert below == pytest.approx(above, rel=5e-3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fraction", [0.1, 0.6])
def test_the_sum_over_cells_is_that_of_each_cell(seed: int, fraction: float) -> None:
    cards, tables, offsets, strides, constant = model(seed)
    means = np.exp(log_means(cells(cards), tables, offsets, strides, constant))
    expected = np.zeros(4)
    for mean in means:
        a1, b1, a2, b2 = bias_terms(float(mean), fraction)
        e = fraction * mean
        expected += [
            -a1 * e + b1 * e * e, a1 * a1 * e + 2 * b1 * b1 * e * e, -a2 * e + b2 * e * e, a2 * a2 * e + 2 * b2 * b2 * e * e,
        ]  # fmt: skip
    np.testing.assert_allclose(sum_over_cells(cards, tables, offsets, strides, constant, fraction), expected)


def test_impossible_cells_add_nothing() -> None:
    cards, tables, offsets, strides, constant = model(2)
    shut = tables.copy()
    shut[:3] = -np.inf  # nobody has the first code of the first variable
    found = sum_over_cells(cards, shut, offsets, strides, constant, 0.3)
    smaller = np.array([1, 3, 4], dtype=np.int64)
    moved = np.concatenate([tables[3:6], tables[6:]])
    expected = sum_over_cells(smaller, moved, np.array([0, 3], dtype=np.int64), strides, constant, 0.3)
    np.testing.assert_allclose(found, expected)


def test_observed_counts_add_what_they_differ_by() -> None:
    counts, means, fraction = np.array([1, 3, 2], dtype=np.int64), np.array([2.0, 5.0, 0.0]), 0.25
    expected = np.zeros(2)
    for count, mean in zip(counts[:2], means[:2], strict=True):  # a cell of mean 0 cannot be observed
        a1, b1, a2, b2 = bias_terms(float(mean), fraction)
        e = fraction * mean
        gap = (count - e) ** 2 - count - e * e
        expected += [a1 * count + b1 * gap, a2 * count + b2 * gap]
    np.testing.assert_allclose(sum_over_observed(counts, means, fraction), expected)
