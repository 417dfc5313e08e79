"""Factorized fits and sums over unseen cells, against the whole table."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reference import loglinear as reference
from reticent.microdata.risk.loglinear import CellTable, _blocks, fit_model

SHAPE = (3, 2, 3, 2, 2)
PAIRS = list(combinations(range(5), 2))


def table_of(dense: np.ndarray, pi: float) -> tuple[CellTable, np.ndarray]:
    cells = np.argwhere(dense > 0).astype(np.int32)
    return CellTable.of(tuple("abcde"), cells, dense[dense > 0], fraction=pi), cells


@given(st.integers(0, 10**6), st.sets(st.sampled_from(PAIRS), max_size=7), st.sampled_from([0.05, 0.3]))
def test_fit_and_bias(seed: int, edges: set[tuple[int, int]], pi: float) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.poisson(rng.gamma(1.0, 2.0, SHAPE))
    assume(all((dense.sum(axis=tuple(a for a in range(5) if a != v)) > 0).all() for v in range(5)))
    table, cells = table_of(dense, pi)
    ordered = sorted(edges)
    model = fit_model(table, ordered)
    whole = reference.fit(dense / pi, ordered)
    np.testing.assert_allclose(model.means, whole[tuple(cells.T)], rtol=2e-4, atol=1e-6 * whole.sum())
    expected = reference.standardized_bias(dense, whole, pi)
    assert model.bias1 == pytest.approx(expected[0], rel=2e-2, abs=2e-2)
    assert model.bias2 == pytest.approx(expected[1], rel=2e-2, abs=2e-2)


def test_blocks() -> None:
    assert _blocks(5, []) == [(0,), (1,), (2,), (3,), (4,)]
    assert _blocks(5, [(0, 1), (1, 2)]) == [(0, 1), (1, 2), (3,), (4,)]
    assert _blocks(5, [(0, 1), (1, 2), (0, 2), (2, 3)]) == [(0, 1, 2), (2, 3), (4,)]
    assert _blocks(5, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (3, 4)]) == [(0, 1, 2, 3), (3, 4)]
    assert _blocks(5, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)]) == [(0, 1, 2), (2, 3, 4)]
