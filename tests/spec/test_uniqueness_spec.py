"""Uniques of sample and population: every probability by hand on a handful of cells."""

import numpy as np
import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import as_secret
from reticent.microdata.risk.uniqueness import (
    aligned_counts,
    simulate_intrusion,
    skinner_carter,
    skinner_elliot,
    uniqueness_in_population,
)


def test_with_the_population_at_hand() -> None:
    """Cells (f, F): (1,1) (1,4) (2,5) (0,1) (0,3): N = 14, two population uniques, one of two sample uniques is one."""
    result = uniqueness_in_population([1, 1, 2, 0, 0], [1, 4, 5, 1, 3])
    assert result.population_unique_share == pytest.approx(2 / 14)
    assert result.population_unique_given_sample_unique == 0.5
    assert result.correct_given_unique_match == pytest.approx(2 / 5)
    assert result.summary()["both"] == 1


def test_no_sample_unique_gives_no_probability() -> None:
    result = uniqueness_in_population([2, 0], [2, 1])
    assert result.population_unique_given_sample_unique is None
    assert result.correct_given_unique_match is None


def test_alignment() -> None:
    f, F = aligned_counts(np.array([0, 0, 3]), np.array([0, 0, 1, 3, 3]))
    assert f.tolist() == [2, 0, 0, 1]
    assert F.tolist() == [2, 1, 0, 2]


def test_skinner_elliot_by_hand() -> None:
    """n1 = 3, n2 = 2, π = 0.1: 0.3 / (0.3 + 2·0.9·2) = 0.3 / 3.9."""
    assert skinner_elliot([1, 1, 1, 2, 2, 7], fraction=0.1) == pytest.approx(0.3 / 3.9)
    assert skinner_elliot([1, 2], fraction=1.0) == 1.0
    assert skinner_elliot([3, 4], fraction=0.5) is None


def test_unequal_probabilities() -> None:
    """One unique; a pair with weights 3 and 11: 1 / (1 + 2 + 10). Equal weights give Skinner and Elliot's value."""
    assert skinner_carter([0, 1, 1], [5.0, 3.0, 11.0]) == pytest.approx(1 / 13)
    group = [0, 1, 2, 3, 3, 4, 4, 5, 5, 5]
    assert skinner_carter(group, [20.0] * 10) == pytest.approx(skinner_elliot(np.bincount(group), fraction=0.05))


def test_simulation_has_the_expected_outcomes() -> None:
    """3 uniques, 2 pairs, a triple; the share of correct unique matches tends to θ̂."""
    group = [0, 1, 2, 3, 3, 4, 4, 5, 5, 5]
    result = simulate_intrusion(group, fraction=0.4, secret=as_secret(7), trials=200_000)
    outcomes = dict(result.outcomes)
    assert sum(outcomes.values()) == 200_000
    assert outcomes["correct unique match"] / 200_000 == pytest.approx(0.3 * 0.4, abs=0.004)
    assert outcomes["non-match"] / 200_000 == pytest.approx(0.3 * 0.6, abs=0.004)
    assert outcomes["false unique match"] / 200_000 == pytest.approx(0.4 * 0.6, abs=0.004)
    assert outcomes["false multiple match"] / 200_000 == pytest.approx(0.3 * 0.6, abs=0.004)
    assert result.expected == pytest.approx(1.2 / (1.2 + 2 * 0.6 * 2))
    assert result.correct_given_unique_match == pytest.approx(result.expected, abs=0.01)


def test_theta_is_unbiased_over_samples() -> None:
    """Mean of numerator and denominator over Bernoulli samples: E[n1] and E[Σ F·I(f=1)] agree with the estimate's."""
    rng = np.random.default_rng(3)
    F = rng.geometric(0.4, 2000)
    true, estimated = [], []
    for _ in range(60):
        f = rng.binomial(F, 0.2)
        true.append(F[f == 1].sum() - (f == 1).sum())
        estimated.append(2 * (f == 2).sum() * 0.8 / 0.2)
    assert np.mean(estimated) == pytest.approx(np.mean(true), rel=0.03)


def test_bad_input() -> None:
    with pytest.raises(DataError, match="1 cells have more records"):
        uniqueness_in_population([2], [1])
    with pytest.raises(ParameterError, match="fraction must be between 0 and 1"):
        skinner_elliot([1], fraction=1.5)
    with pytest.raises(DataError, match="every weight must be a number above 0"):
        skinner_carter([0], [0.0])
