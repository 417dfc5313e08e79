"""Counting against the slow obvious way, on every path: dense table, hash partitions, compressed prefixes, threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reticent.kernels import grouping


def _reference(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Group numbers by first appearance and frequencies, with a dictionary."""
    seen: dict[tuple[int, ...], int] = {}
    group = np.array([seen.setdefault(tuple(row), len(seen)) for row in codes.tolist()], np.int64)
    return group, np.bincount(group, minlength=1)[group] if len(group) else np.zeros(0, np.int64)


CODES = st.integers(0, 6).flatmap(
    lambda q: hnp.arrays(np.int32, st.tuples(st.integers(0, 40), st.just(q)), elements=st.integers(-1, 3))
)


@pytest.mark.parametrize("path", ["dense", "hash", "threads", "compressed"])
@given(codes=CODES)
def test_grouping_equals_dictionary(path: str, codes: np.ndarray) -> None:
    group, frequency = _reference(codes)
    with pytest.MonkeyPatch.context() as patch:
        if path != "dense":
            patch.setattr(grouping, "DENSE_ALWAYS", 0)
            patch.setattr(grouping, "DENSE_PER_RECORD", 0)
        if path == "threads":
            patch.setattr(grouping, "SMALL", 2)
        if path == "compressed":
            patch.setattr(grouping, "MAX_SPACE", 200)
        cards = [4] * codes.shape[1]
        found, n_groups = grouping.group_rows(codes, cards)
        assert found.tolist() == group.tolist()
        assert n_groups == len(set(group.tolist()))
        assert grouping.frequencies(codes, cards).tolist() == frequency.tolist()


@given(codes=CODES, scale=st.integers(1, 5))
def test_pattern_table_is_consistent(codes: np.ndarray, scale: int) -> None:
    weights = np.arange(1, len(codes) + 1, dtype=np.float64) * scale
    first, counts, sums, group = grouping.pattern_table(codes, [4] * codes.shape[1], weights)
    assert counts.sum() == len(codes)
    assert (np.diff(first) > 0).all()
    assert (codes[first][group] == codes).all()
    assert sums is not None
    assert sums.tolist() == [weights[group == g].sum() for g in range(len(first))]


def test_wide_keys_do_not_overflow() -> None:
    """Twelve variables of a million codes each: 10^72 combinations, told apart exactly."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 10**6, (2_000, 12)).astype(np.int32)
    codes[1_000:] = codes[:1_000]
    codes[1_500:, 11] ^= 1
    assert grouping.frequencies(codes, [2**20] * 12).tolist() == _reference(codes)[1].tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int64, np.uint32])
def test_columns_of_small_types(dtype: type) -> None:
    """Separate columns of any integer type, also the whole range of a byte."""
    rng = np.random.default_rng(1)
    low = -1 if np.issubdtype(dtype, np.signedinteger) else 0
    high = min(np.iinfo(dtype).max, 300)
    columns = [rng.integers(low, high, 500, endpoint=True).astype(dtype) for _ in range(2)]
    columns[1] //= dtype(50)
    codes = np.column_stack([c.astype(np.int64) for c in columns])
    found = grouping.frequencies_of_columns(columns, [high + 1, high + 1])
    assert found.tolist() == _reference(codes)[1].tolist()


def test_codes_outside_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match="codes must be"):
        grouping.frequencies(np.array([[4]], np.int32), [4])
    with pytest.raises(ValueError, match="codes must be"):
        grouping.frequencies(np.array([[-2]], np.int32), [4])
