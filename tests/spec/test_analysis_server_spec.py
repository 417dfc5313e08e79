"""The analysis server's worked figures: cutpoints of SORT table 3, ξ against simulation, its bounds."""

import numpy as np
import pytest

from reticent.queries.analysis.cutpoints import fixed_width, increasing_width, minimum_width, partitioned
from reticent.queries.analysis.drop_q import disclosure_bounds, disclosure_probability

DATA = [1, 1, 2, 2, 4, 4, 5, 6]


def _ends(bins) -> list[tuple[float, float]]:
    return [(b.low, b.high) for b in bins]


def test_cutpoints_of_table_3() -> None:
    assert _ends(fixed_width(DATA, 2)) == [(1, 2), (3, 4), (5, 6)]
    assert _ends(minimum_width(DATA, 2)) == [(1, 1), (2, 2), (4, 4), (5, 6)]
    assert _ends(increasing_width(DATA, 2)) == [(1, 2), (3, 6)]
    tree = partitioned(DATA, 2)
    assert _ends(tree.leaves()) == [(1, 1), (2, 2), (4, 4), (5, 6)]
    assert _ends(part.bin for part in tree.parts) == [(1, 2), (4, 6)]


@pytest.mark.parametrize("least", [2, 5, 20])
def test_every_bin_has_enough_records(least: int) -> None:
    values = np.random.default_rng(1).normal(size=400)
    trees = partitioned(values, least).leaves()
    for bins in (fixed_width(values, least), minimum_width(values, least), increasing_width(values, least), trees):
        assert all(b.count >= least for b in bins)
        assert sum(b.count for b in bins) == 400


@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_disclosure_probability_against_simulation(k: int) -> None:
    """Two universes of about 1,000 records that differ by one: how often the same is dropped from every cell."""
    rng = np.random.default_rng(k)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    sizes = np.array([391, 293, 196, 98])  # n = 978, as in the paper
    smaller = sizes - np.array([1, 0, 0, 0])
    trials = 40_000
    q1, q2 = rng.integers(2, k + 1, trials), rng.integers(2, k + 1, trials)
    same = q1 == q2
    first = np.array([rng.multivariate_hypergeometric(sizes, q) for q in q1[same]])
    second = np.array([rng.multivariate_hypergeometric(smaller, q) for q in q2[same]])
    found = (first == second).all(axis=1).sum() / trials
    assert found == pytest.approx(disclosure_probability(shares / shares.sum(), k), abs=0.005)


@pytest.mark.parametrize("k", [3, 5, 7])
def test_bounds(k: int) -> None:
    low, high = disclosure_bounds(4, k)
    for shares in ([0.25] * 4, [0.7, 0.1, 0.1, 0.1], [1.0, 0.0, 0.0, 0.0]):
        assert low - 1e-12 <= disclosure_probability(shares, k) <= high + 1e-12
    assert disclosure_probability([1.0, 0, 0, 0], k) == pytest.approx(high)
    assert disclosure_probability([0.25] * 4, k) == pytest.approx(low)
