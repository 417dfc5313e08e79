"""Worked examples of perturbation that can be checked by hand."""

import numpy as np
import pytest

from reference.perturb_files import file_of, run
from reticent.data.schema import Role
from reticent.kernels.swaps import rank_partners
from reticent.microdata.mask.massc import Massc
from reticent.microdata.mask.pram import Pram
from reticent.microdata.perturb import lognormal, transition_matrix
from reticent.microdata.perturb.covariance import moments
from reticent.microdata.perturb.moment_relation import masked_moment


def test_invariant_matrix_of_two_categories() -> None:
    """95 and 5 records, at least 0.8 stay. What may move, 19 and 1, is shared out as if independent: 19·1/20 = 0.95."""
    matrix = transition_matrix.invariant_matrix(np.array([95.0, 5.0]), np.ones((2, 2), dtype=bool), keep=0.8)
    assert matrix == pytest.approx(np.array([[0.99, 0.01], [0.19, 0.81]]))


def test_controlled_pram_moves_one_record_each_way() -> None:
    """Expected flows are 0.95 each way and margins are whole: either 0 or 1 record goes each way, never 1 and 0."""
    data = file_of({"c": np.array(["a"] * 95 + ["b"] * 5)})
    flows = set()
    for seed in range(60):
        after = run(Pram(("c",), keep=0.8), data, secret=seed).data.codes(("c",))[:, 0]
        flows.add((int((after[:95] == 1).sum()), int((after[95:] == 0).sum())))
    assert flows == {(0, 0), (1, 1)}


def test_uniform_matrix_with_bandwidth() -> None:
    """Stay with 0.6, else go to a neighbour in code order: the ends have one neighbour, the middle two."""
    allowed = transition_matrix.allowed_moves(3, bandwidth=1, forbidden=[], exempt=[])
    matrix = transition_matrix.uniform_matrix(allowed, keep=0.6)
    assert matrix == pytest.approx(np.array([[0.6, 0.4, 0.0], [0.2, 0.6, 0.2], [0.0, 0.4, 0.6]]))


def test_multiplicative_noise_without_draws() -> None:
    """X = 1, 3: mean 2, variance 1, E[X²] = 5. With k = 3 (s = 2) the noise variance is log(1 + 3/5)."""
    values = np.array([[1.0], [3.0]])
    spread = moments(values)
    assert lognormal.noise_ratio(spread, k=3.0, lag=1.0) == pytest.approx(1.6)
    assert lognormal.noise_ratio(spread, k=3.0, lag=2.0) == pytest.approx(4 * 5 / (5 + 3 * 4))
    masked = lognormal.mask_nonnegative(
        values, np.zeros((2, 1)), k=3.0, lag=1.0, spread=spread, names=("x",), nearest=False
    )
    # exp(E) = exp(−log(1.6)/2) = 1/√1.6; ((2 − 1)·2 + X/√1.6)/2
    assert masked[:, 0] == pytest.approx([(2 + 1 / np.sqrt(1.6)) / 2, (2 + 3 / np.sqrt(1.6)) / 2])


def test_moment_relation_of_order_two_is_the_promise() -> None:
    """First and second moments are kept, so (26) must give them back; the third grows."""
    original = {(0,): 1.0, (1,): 2.0, (2,): 5.0, (3,): 14.0}
    assert masked_moment((1,), original.__getitem__, k=3.0) == pytest.approx(2.0)
    assert masked_moment((2,), original.__getitem__, k=3.0) == pytest.approx(5.0)
    # A = (4·5/17)³; Σ C(3,i) E[X^i] 2^(3−i) = 8 + 3·2·4 + 3·5·2 + 14 = 76, each times (s − 1) = 1, over s³ = 8.
    assert masked_moment((3,), original.__getitem__, k=3.0) == pytest.approx((20 / 17) ** 3 * 76 / 8)


def test_two_ranks_in_a_window_of_one_exchange() -> None:
    partner = rank_partners(np.uint64(7), np.uint64(7), np.arange(5, dtype=np.uint64), 1)
    assert partner.tolist() == [1, 0, 3, 2, 4]


def test_massc_keeps_a_hand_computed_total() -> None:
    """Four a and four b of weight 1; with half of each stratum kept and calibration to the code, weights become 2."""
    data = file_of({"c": np.array(list("aaaabbbb")), "w": np.ones(8)}, roles={"w": Role.WEIGHT})
    method = Massc(("c",), limits=(1, 3), substitute=(0.0, 0.0, 0.0), sample=(50.0, 50.0, 50.0), calibrate=("c",))
    applied = run(method, data)
    assert applied.data.n_records == 4
    totals = np.bincount(applied.data.codes(("c",))[:, 0], weights=applied.data.weights())
    assert totals == pytest.approx([4.0, 4.0])
