"""Regression attacks (SORT 35, 2011): they work on an open regression and are refused or blunted by the rules."""

import numpy as np
import pytest

from reticent.queries.analysis.regression import RegressionRules
from reticent.queries.attacks.regression import (
    by_size_quantile,
    dummy_attack,
    generated_firms,
    outlier_attack,
    sweep_dummy,
    sweep_outlier,
    uniquely_identified,
)

RULES = RegressionRules(least=10, r_squared=0.99, leverage=0.5)


def test_outlier_recovers_values_of_unique_sizes_on_an_open_regression() -> None:
    firms = generated_firms(800, unique_sizes=True)
    errors = []
    for row in range(0, 800, 8):
        found = outlier_attack(firms.size, firms.turnover, guess=firms.size[row], epsilon=1e-4)
        assert found is not None
        errors.append(abs(found - firms.turnover[row]) / firms.turnover[row])
    assert np.mean(errors) < 0.002


def test_dummy_recovers_the_value_exactly() -> None:
    firms = generated_firms(800, unique_sizes=True)
    for row in range(0, 800, 40):
        found = dummy_attack(firms.columns, firms.turnover, guess=firms.columns[row], width=np.zeros(3))
        assert found == pytest.approx(firms.turnover[row], rel=1e-9)


def test_outliers_are_refused_or_blunted_over_the_sweep() -> None:
    firms = generated_firms(800, unique_sizes=True)
    lines = sweep_outlier(
        firms, RULES, epsilons=(10.0, 1.0, 0.1, 1e-2, 1e-4, 1e-6), knowledge=(0.0, 0.001, 0.01, 0.05), targets=30
    )
    assert min(line.open_error for line in lines) < 0.002
    for line in lines:
        # leverage at most one half: what is answered is nearer to the mean than to the target
        assert line.refused == 1.0 or (line.protected_error is not None and line.protected_error > 0.03), line
        if line.open_error < 0.02:
            assert line.refused == 1.0, line


def test_dummies_are_absorbed_over_the_sweep() -> None:
    firms = generated_firms(800)
    lines = sweep_dummy(firms, RULES, widths=(0.0, 0.01, 0.05, 0.2, 1.0), targets=40)
    assert lines[0].open_error < lines[-1].open_error
    for line in lines:
        assert line.refused == 1.0 or (line.protected_error is not None and line.protected_error > 0.1), line


def test_large_firms_are_the_ones_identified() -> None:
    firms = generated_firms(1500)
    alone = uniquely_identified(firms.columns, np.zeros((1500, 3)))
    shares = [share for _, share in by_size_quantile(firms.size, alone)]
    assert shares[-1] > 0.9 > shares[0]
