"""Small-count rounding beside SmallCountRounding's published figures (its ties are drawn, so quality is compared)."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from reticent.tables.perturb.small_counts import round_small_counts


def _membership(shape: tuple[int, int], *, crossed: bool) -> sparse.csr_array:
    """Columns: total, rows, columns and (crossed) the cells themselves."""
    rows, columns = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    parts = [np.ones((rows.size, 1)), rows[:, None] == np.arange(shape[0]), columns[:, None] == np.arange(shape[1])]
    if crossed:
        parts.append(np.eye(rows.size))
    return sparse.csr_array(np.concatenate(parts, axis=1).astype(np.int64))


def test_expsd_is_no_worse_than_the_peer(shared_data: Path) -> None:
    """PLSrounding: rows × cols maxdiff 4, mean 1.3333, RMS 1.6833; rows + cols maxdiff 2, mean 1, RMS 1.2019."""
    frame = pl.read_csv(shared_data / "tables" / "smallcount_exPSD.csv")
    inner = frame.pivot("cols", index="rows", values="freq").drop("rows").to_numpy().astype(np.int64)
    crossed = round_small_counts(inner.ravel(), _membership(inner.shape, crossed=True), base=5)
    assert crossed.root_mean_square <= 1.6833 + 1e-4
    assert not ((crossed.published > 0) & (crossed.published < 5)).any()
    margins = round_small_counts(inner.ravel(), _membership(inner.shape, crossed=False), base=5)
    assert margins.root_mean_square <= 1.2019 + 1e-4
    assert not ((margins.published > 0) & (margins.published < 5)).any()


@given(arrays(np.int64, (3, 4), elements=st.integers(0, 9)), st.sampled_from([3, 5]))
def test_no_small_count_is_left_and_sums_are_consistent(inner: np.ndarray, base: int) -> None:
    membership = _membership(inner.shape, crossed=True)
    found = round_small_counts(inner.ravel(), membership, base=base)
    assert np.array_equal(found.published, found.inner @ membership)
    assert not ((found.published > 0) & (found.published < base)).any()
    untouched = inner.ravel() >= base
    assert np.array_equal(found.inner[untouched], inner.ravel()[untouched]) or base > inner.max()


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        round_small_counts(np.array([-1]), sparse.csr_array(np.ones((1, 1))), base=3)
