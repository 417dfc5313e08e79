"""Agreement patterns without pairs, against all pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference import linkage as reference
from reticent.kernels import agreement


@st.composite
def two_files(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    q = draw(st.integers(1, 4))
    left = draw(hnp.arrays(np.int32, (draw(st.integers(1, 15)), q), elements=st.integers(-1, 3)))
    right = draw(hnp.arrays(np.int32, (draw(st.integers(1, 15)), q), elements=st.integers(-1, 3)))
    return left, right


@given(two_files())
def test_counts(files: tuple[np.ndarray, np.ndarray]) -> None:
    expected = reference.agreement_counts(*(f.tolist() for f in files))
    assert agreement.agreement_counts(*files).tolist() == expected


@given(two_files())
def test_counts_when_codes_do_not_fit_in_a_word(files: tuple[np.ndarray, np.ndarray]) -> None:
    wide = [np.where(f >= 0, f * 500_000_000, -1).astype(np.int32) for f in files]
    wide = [np.hstack([f, f[:, :1], f[:, :1]]) for f in wide]
    assert agreement._packed(np.vstack(wide)) is None or wide[0].shape[1] < 3 or max(w.max() for w in wide) < 2
    expected = reference.agreement_counts(*(f.tolist() for f in wide))
    assert agreement.agreement_counts(*wide).tolist() == expected


@given(two_files())
def test_best_agreement(files: tuple[np.ndarray, np.ndarray]) -> None:
    left, right = files
    order = sorted(range(1 << left.shape[1]), key=lambda mask: (-mask.bit_count(), mask))
    best, ties = agreement.best_agreement(left, right, order)
    assert list(zip(best.tolist(), ties.tolist())) == reference.best_masks(left.tolist(), right.tolist(), order)


@given(two_files())
def test_pairs_agreeing(files: tuple[np.ndarray, np.ndarray]) -> None:
    left, right = files
    a, b = agreement.pairs_agreeing(left, right, [0])
    expected = {(i, j) for i in range(len(left)) for j in range(len(right)) if left[i, 0] == right[j, 0] >= 0}
    assert len(a) == len(expected)
    assert set(zip(a.tolist(), b.tolist())) == expected
