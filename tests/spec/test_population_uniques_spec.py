"""Population uniques: each model's defining equations, and populations drawn from the models."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from reticent.base.errors import DataError
from reticent.base.randomness import as_secret
from reticent.microdata.risk.population import population_uniques, snb_moments

SECRET = as_secret(5)


def test_zayatz_by_hand() -> None:
    """Counts 1, 1, 2 of N = 10, n = 4: prior 2/3, 1/3; P(one of k drawn) is hypergeometric."""
    result = population_uniques([1, 1, 2], population=10, secret=SECRET)
    one, two = Fraction(comb(9, 3), comb(10, 4)), Fraction(2 * comb(8, 3), comb(10, 4))
    given = Fraction(2, 3) * one / (Fraction(2, 3) * one + Fraction(1, 3) * two)
    assert result.estimate("zayatz").uniques == pytest.approx(float(2 * given / Fraction(4, 10)))


def test_pitman_solves_its_likelihood_equations() -> None:
    """Σ_i 1/(θ+iα) = Σ_i 1/(θ+i) and Σ_i i/(θ+iα) = Σ_k c_k Σ_j 1/(j−α) (Hoshino 2001)."""
    counts = np.repeat([1, 2, 3, 5, 9], [300, 80, 30, 12, 4])
    result = population_uniques(counts, population=10_000, secret=SECRET, repeats=0)
    words = result.estimate("pitman").note.replace(",", "").split()
    alpha, theta = float(words[1]), float(words[3])
    n, u = counts.sum(), counts.size
    i = np.arange(1, u)
    assert np.sum(1 / (theta + i * alpha)) == pytest.approx(np.sum(1 / (theta + np.arange(1, n))), rel=1e-3)
    inner = sum(np.sum(1 / (np.arange(1, c) - alpha)) for c in counts if c > 1)
    assert np.sum(i / (theta + i * alpha)) == pytest.approx(inner, rel=1e-3)


def test_snb_moments_are_those_of_its_distribution() -> None:
    """F − 1 ~ NB(a, b), thinned with probability f: P(1) and P(2) by summing over F."""
    a, b, f = 0.7, 0.3, 0.2
    F = np.arange(1, 2000)
    log_weight = np.cumsum(np.concatenate(([0.0], np.log((F[:-1] + a - 1) / F[:-1] * (1 - b)))))
    mass = b**a * np.exp(log_weight)
    ones = np.sum(mass * F * f * (1 - f) ** (F - 1))
    pairs = np.sum(mass * F * (F - 1) / 2 * f**2 * (1 - f) ** np.maximum(F - 2, 0))
    assert snb_moments(a, b, 50.0, f) == pytest.approx((50 * ones, 50 * pairs), rel=1e-9)


def test_snb_population_is_found() -> None:
    """A population drawn from the model: too high by Shlosser's number of cells, where ARX returns 0 (two errors)."""
    rng = np.random.default_rng(8)
    F = 1 + rng.negative_binomial(0.8, 0.4, 200_000)
    f = rng.binomial(F, 0.2)
    result = population_uniques(f[f > 0], population=int(F.sum()), secret=SECRET, repeats=1)
    assert 1.0 < result.estimate("snb").uniques / (F == 1).sum() < 2.0
    assert result.estimate("snb").uniques < result.estimate("zayatz").uniques
    assert result.estimate("dankar").note == "snb"


def test_the_check_shows_how_far_a_model_is_off() -> None:
    rng = np.random.default_rng(2)
    share = np.arange(1, 4001.0) ** -0.8
    F = rng.multinomial(100_000, share / share.sum())
    f = rng.binomial(F, 0.05)
    result = population_uniques(f[f > 0], population=int(F.sum()), secret=SECRET, repeats=4)
    rows = {row["model"]: row for row in result.rows()}
    assert result.check_fraction == pytest.approx(1000 / f.sum())
    assert rows["zayatz"]["uniques"] > 1.5 * (F == 1).sum()  # badly off here …
    assert rows["zayatz"]["ratio_in_check"] > 1.3  # … and the check says so


def test_whole_population_sampled() -> None:
    result = population_uniques([1, 1, 2, 3], population=7, secret=SECRET)
    assert result.estimate("zayatz").uniques == pytest.approx(2.0)
    assert result.estimate("dankar").uniques == pytest.approx(2.0)


def test_bad_input() -> None:
    with pytest.raises(DataError, match="at least as many units"):
        population_uniques([1, 2], population=2, secret=SECRET)
    with pytest.raises(DataError, match="at least one record"):
        population_uniques([0, 2], population=20, secret=SECRET)
