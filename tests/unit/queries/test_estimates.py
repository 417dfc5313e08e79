"""What all answered universes tell of a respondent, against the formula written out."""

import numpy as np
import pytest

from reticent.queries.analysis.estimates import Alike, Estimates, pair_precision


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_is_what_the_covariance_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    owner, place = rng.integers(0, 25, 60), rng.integers(0, 6, 60)
    alike = Alike.of(owner, place)
    estimates = Estimates(alike, pair_precision(5))
    people = np.unique(owner)
    rows = []
    for _ in range(12):
        inside = np.isin(place, rng.permutation(6)[: rng.integers(1, 6)]).astype(float)
        estimates.add(inside)
        rows.append([inside[owner == person].sum() for person in people])
    table = np.array(rows)
    spread = table @ table.T + np.eye(len(table)) / (2 * pair_precision(5))
    told = np.einsum("ij,ij->j", table, np.linalg.solve(spread, table))
    assert sorted(np.repeat(estimates._told, alike.count.astype(int))) == pytest.approx(sorted(told))


def test_pairs_tell_as_much_as_is_allowed() -> None:
    """Each pair has pads of its own, so large that they tell nothing."""
    pads = 4000
    place = np.concatenate(([0], np.repeat(np.arange(1, 8), pads)))
    estimates = Estimates(Alike.of(np.arange(len(place)), place), pair_precision(5))
    answered = 0
    for pad in range(1, 8):
        with_, without = np.isin(place, (0, pad)).astype(float), (place == pad).astype(float)
        estimates.add(without)
        if not estimates.too_near(with_, 4):
            estimates.add(with_)
            answered += 1
    assert answered == 4


def test_beyond_the_limit_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reticent.queries.analysis.estimates.MOST_ENTRIES", 10)
    estimates = Estimates(Alike.of(np.arange(8), np.arange(8)), pair_precision(5))
    estimates.add(np.ones(8))
    estimates.add(np.ones(8))
    assert estimates._rows == 1
    assert not estimates.too_near(np.ones(8), 1)
