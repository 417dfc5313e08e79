"""Records lend themselves: after lending every true record fits as many published ones as it needs, and no blank is left over."""

import numpy as np
import pytest

from reticent.kernels.lending import lend_last, trim_lent

COSTS = np.array([1.0, 1.0, 1.0])


def fits(truth: np.ndarray, published: np.ndarray) -> np.ndarray:
    """How many published records each true one fits, pair by pair."""
    same = (published[None, :, :] < 0) | (published[None, :, :] == truth[:, None, :])
    return same.all(axis=2).sum(axis=1).astype(np.int64)


def people(seed: int, n: int = 24) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 3, (n, 3)).astype(np.int32)


def lend(
    truth: np.ndarray, k: int, *, frozen: int = 0, cap: int = -1, costs: np.ndarray = COSTS
) -> tuple[np.ndarray, np.ndarray, int]:
    published = truth.copy()
    found, need = fits(truth, published), np.full(len(truth), k, dtype=np.int64)
    spent = np.zeros(len(truth), dtype=np.int64)
    failed = lend_last(published, truth, found, need, costs, frozen, cap, spent)
    assert (spent == (published < 0).sum(axis=1)).all(), "what is spent is what is blank"
    return published, found, failed


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [2, 3])
def test_everybody_fits_enough_records(seed: int, k: int) -> None:
    truth = people(seed)
    published, found, failed = lend(truth, k)
    assert failed == 0
    assert (found == fits(truth, published)).all(), "counts are kept up to date"
    assert (found >= k).all()
    assert ((published == truth) | (published < 0)).all(), "values are blanked, never changed"


def test_nobody_in_need_costs_nothing() -> None:
    truth = np.zeros((4, 3), dtype=np.int32)
    published, _, failed = lend(truth, 4)
    assert failed == 0
    assert (published == truth).all()


def test_frozen_variables_stay() -> None:
    truth = people(1)
    published, found, failed = lend(truth, 3, frozen=0b001)
    assert (published[:, 0] == truth[:, 0]).all()
    assert failed == int((found < 3).sum())


def test_what_cannot_be_done_is_counted() -> None:
    truth = np.array([[0, 0, 0], [1, 1, 1]], dtype=np.int32)
    assert lend(truth, 2, frozen=0b111)[2] == 2
    assert lend(truth, 3)[2] == 2, "there are two records only"


@pytest.mark.parametrize("cap", [1, 2])
def test_no_record_gives_more_than_the_cap(cap: int) -> None:
    truth = people(3)
    published, found, failed = lend(truth, 3, cap=cap)
    assert (published < 0).sum(axis=1).max() <= cap
    assert failed == int((found < 3).sum())


def test_the_cheapest_blanks_are_taken() -> None:
    """Two records may help the third: one differs in the cheap variable, the other in the dear one."""
    truth = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.int32)
    need = np.array([2, 1, 1], dtype=np.int64)
    for costs, helper in ((np.array([1.0, 5.0, 1.0]), 1), (np.array([5.0, 1.0, 1.0]), 2)):
        published = truth.copy()
        spent = np.zeros(3, dtype=np.int64)
        assert lend_last(published, truth, fits(truth, published), need, costs, 0, -1, spent) == 0
        assert spent.tolist() == [int(at == helper) for at in range(3)]


@pytest.mark.parametrize("seed", range(5))
def test_trimming_leaves_no_blank_that_nobody_needs(seed: int) -> None:
    truth, k = people(seed), 3
    published, found, _ = lend(truth, k)
    need = np.full(len(truth), k, dtype=np.int64)
    before = int((published < 0).sum())
    trim_lent(published, truth, found, need, np.arange(len(truth)), np.zeros(len(truth), dtype=np.int64))
    assert (found == fits(truth, published)).all()
    assert (found >= k).all()
    assert int((published < 0).sum()) <= before
    for i, v in zip(*np.nonzero(published < 0)):
        shown = published.copy()
        shown[i, v] = truth[i, v]
        assert (fits(truth, shown) < k).any(), "each blank that is left serves somebody"


def test_trimming_keeps_blanks_that_are_asked_for_and_values_that_were_missing() -> None:
    truth = np.array([[0, -1, 0], [0, -1, 0], [0, 1, 0]], dtype=np.int32)
    published = np.array([[-1, -1, 0], [0, -1, 0], [0, 1, 0]], dtype=np.int32)
    need = np.zeros(3, dtype=np.int64)
    floor = np.array([0b001, 0, 0], dtype=np.int64)
    trim_lent(published, truth, fits(truth, published), need, np.arange(3), floor)
    assert published.tolist() == [[-1, -1, 0], [0, -1, 0], [0, 1, 0]]
    trim_lent(published, truth, fits(truth, published), need, np.arange(3), np.zeros(3, dtype=np.int64))
    assert published[0].tolist() == [0, -1, 0]
