"""Compatible records with missing values as wildcards: the hash join gives what all pairs give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.kernels.wildcards import compatible_sums


def all_pairs(asking: np.ndarray, answering: np.ndarray, values: np.ndarray, here: bool, there: bool) -> np.ndarray:
    out = np.zeros(len(asking), values.dtype)
    for i, row in enumerate(asking):
        for other, value in zip(answering, values, strict=True):
            fits = all(a == b or (here and a < 0) or (there and b < 0) for a, b in zip(row, other, strict=True))
            out[i] += value if fits else 0
    return out


tables = st.integers(1, 4).flatmap(
    lambda q: st.tuples(
        st.lists(st.lists(st.integers(-1, 3), min_size=q, max_size=q), min_size=1, max_size=8),
        st.lists(st.lists(st.integers(-1, 3), min_size=q, max_size=q), min_size=1, max_size=8),
    )
)


@given(tables, st.booleans(), st.booleans())
def test_sums_are_those_of_all_pairs(rows: tuple[list[list[int]], list[list[int]]], here: bool, there: bool) -> None:
    asking, answering = (np.array(part, dtype=np.int32) for part in rows)
    values = np.arange(1, len(answering) + 1)
    found = compatible_sums(asking, answering, values, asking_wild=here, answering_wild=there)
    assert found.tolist() == all_pairs(asking, answering, values, here, there).tolist()


def test_codes_too_large_for_one_word_are_joined_all_the_same() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(-1, 2, size=(40, 8)).astype(np.int32)
    codes[0] = 2**20  # eight digits of 21 bits do not fit 62 bits
    ones = np.ones(40, dtype=np.int64)
    found = compatible_sums(codes, codes, ones, asking_wild=True, answering_wild=True)
    assert found.tolist() == all_pairs(codes, codes, ones, True, True).tolist()


def test_a_row_of_blanks_fits_everything_and_nobody_answers_an_empty_file() -> None:
    answering = np.array([[0, 1], [1, 1]], dtype=np.int32)
    blank = np.array([[-1, -1]], dtype=np.int32)
    assert compatible_sums(blank, answering, np.array([2, 5]), asking_wild=True, answering_wild=False).tolist() == [7]
    assert compatible_sums(blank, answering, np.array([2, 5]), asking_wild=False, answering_wild=False).tolist() == [0]
    nobody = np.empty((0, 2), dtype=np.int32)
    empty = compatible_sums(answering, nobody, np.empty(0, np.int64), asking_wild=True, answering_wild=True)
    assert empty.tolist() == [0, 0]


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_sums_have_the_type_of_the_values(kind: type) -> None:
    rows = np.array([[1], [1], [-1]], dtype=np.int32)
    found = compatible_sums(rows, rows, np.array([1, 2, 4], dtype=kind), asking_wild=True, answering_wild=True)
    assert found.dtype == kind
    assert found.tolist() == [7, 7, 7]
