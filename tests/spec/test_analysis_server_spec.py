"""The analysis server's worked figures: cutpoints of SORT table 3, ξ against simulation, its bounds."""

import numpy as np
import pytest

from reticent.base.randomness import as_secret
from reticent.queries.analysis.cutpoints import fixed_width, increasing_width, minimum_width, partitioned
from reticent.queries.analysis.drop_q import disclosure_bounds, disclosure_probability, kept_rows

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


def _dropped_alike(k: int, pairs: int) -> float:
    """How often the mode's own dropping takes the same from every cell of two universes that differ by one record."""
    sizes = (391, 293, 196, 98)
    cell = np.repeat(np.arange(4), sizes)
    ids, stratum, whole = np.arange(978, dtype=np.uint64), np.zeros(978, dtype=np.int64), np.arange(978)
    alike = 0
    for number in range(pairs):
        secret, lost = as_secret(1000 * number + k), []
        for rows in (whole, whole[1:]):
            kept = kept_rows(rows, ids, stratum, most=k, secret=secret)
            lost.append(np.bincount(cell[rows], minlength=4) - np.bincount(cell[kept], minlength=4))
        alike += bool((lost[0] == lost[1]).all())
    return alike / pairs


SHARES = [391 / 978, 293 / 978, 196 / 978, 98 / 978]


def test_disclosure_probability_against_the_modes_own_dropping() -> None:
    """3,000 pairs: three standard deviations are 0.013."""
    assert _dropped_alike(3, 3_000) == pytest.approx(disclosure_probability(SHARES, 3), abs=0.013)


@pytest.mark.deep
@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_disclosure_probability_against_many_draws_of_the_mode(k: int) -> None:
    assert _dropped_alike(k, 20_000) == pytest.approx(disclosure_probability(SHARES, k), abs=0.005)


@pytest.mark.parametrize("k", [3, 5, 7])
def test_bounds(k: int) -> None:
    low, high = disclosure_bounds(4, k)
    for shares in ([0.25] * 4, [0.7, 0.1, 0.1, 0.1], [1.0, 0.0, 0.0, 0.0]):
        assert low - 1e-12 <= disclosure_probability(shares, k) <= high + 1e-12
    assert disclosure_probability([1.0, 0, 0, 0], k) == pytest.approx(high)
    assert disclosure_probability([0.25] * 4, k) == pytest.approx(low)
