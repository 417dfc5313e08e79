"""Rivals by hashes of fitting codes are those that a comparison of all pairs finds."""

import numpy as np
import pytest

from reticent.kernels.rivals import Candidates, Targets, check_pairs, find_rivals, matching_rows


@pytest.mark.parametrize("blank_fits", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_with_fitting_codes_hold_all_rivals_of_near_targets(blank_fits: bool, seed: int) -> None:
    draw = np.random.default_rng(seed)
    asked = draw.integers(-1, 3, (40, 4)).astype(np.int32)
    codes = draw.integers(-1, 3, (5000, 4)).astype(np.int32)
    wanted, numbers = draw.normal(size=(40, 2)), draw.normal(size=(5000, 2))
    numbers[draw.random((5000, 2)) < 0.05] = np.nan
    own = draw.random(40) * 0.2
    ids, block_ids = np.arange(40, dtype=np.uint64), np.arange(5000, dtype=np.uint64)
    exact, which = np.zeros(2, dtype=np.bool_), np.flatnonzero(draw.random(40) < 0.8)
    slow, fast = np.zeros(40, dtype=np.bool_), np.zeros(40, dtype=np.bool_)
    targets, block = Targets(asked, wanted, own, ids), Candidates(codes, numbers, block_ids)
    find_rivals(targets, block, exact, blank_fits, which, slow)
    pairs = matching_rows(asked, which, codes, blank_fits)
    check_pairs(targets, block, exact, blank_fits, pairs, fast)
    assert slow.tolist() == fast.tolist()
    assert 0 < slow.sum() < len(which)
    assert len(pairs[0]) < len(which) * len(codes) / 2


def test_nobody_who_is_looked_for_has_no_pairs() -> None:
    codes = np.zeros((5, 2), dtype=np.int32)
    for blank_fits in (False, True):
        found, _ = matching_rows(codes, np.zeros(0, dtype=np.int64), codes, blank_fits)
        assert found.size == 0
