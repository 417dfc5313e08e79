"""Counts under every semantics and cells of every combination against all pairs."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference.microdata_counts import count_all_pairs, sdcmicro_counts, unsafe_cells
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.risk.combinations import count_combinations
from reticent.microdata.risk.recount import recount, recount_as_it_is
from reticent.microdata.risk.semantics import Semantics, compare_semantics, count_codes
from reticent.microdata.trace import Trace

SHAPES = st.tuples(st.integers(1, 25), st.integers(1, 4))
FILES = SHAPES.flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.int32, shape, elements=st.integers(-1, 2)), hnp.arrays(np.bool_, shape), st.integers(1, 9)
    )
)


@pytest.mark.parametrize("semantics", list(Semantics))
@given(file=FILES)
def test_counts_equal_all_pairs(semantics: Semantics, file: tuple[np.ndarray, np.ndarray, int]) -> None:
    truth, hidden, scale = file
    published = np.where(hidden, -1, truth).astype(np.int32)
    for values in (np.ones(len(truth), np.int64), np.arange(1.0, len(truth) + 1) * scale):
        found = count_codes(published, truth, values, semantics)
        assert found.dtype == values.dtype
        assert found.tolist() == count_all_pairs(published, truth, semantics, values)


@given(file=FILES)
def test_order_of_strength(file: tuple[np.ndarray, np.ndarray, int]) -> None:
    """Own category is the hardest reading of a file, (k,k) lies below both of its parts, anything is the easiest."""
    truth, hidden, _ = file
    truth = np.abs(truth)
    published = np.where(hidden, -1, truth).astype(np.int32)
    ones = np.ones(len(truth), np.int64)
    c = {s: count_codes(published, truth, ones, s) for s in Semantics}
    assert (c[Semantics.NEVER_MATCH] <= c[Semantics.OWN_CATEGORY]).all()
    assert (c[Semantics.OWN_CATEGORY] <= c[Semantics.KK]).all()
    assert (c[Semantics.KK] <= c[Semantics.K1]).all()
    assert (c[Semantics.K1] <= c[Semantics.MATCH_ANYTHING]).all()
    assert (c[Semantics.ONE_K] <= c[Semantics.MATCH_ANYTHING]).all()


@given(file=FILES)
def test_sdcmicro_alpha_one_is_match_anything(file: tuple[np.ndarray, np.ndarray, int]) -> None:
    codes, _, _ = file
    ones = np.ones(len(codes), np.int64)
    expected = count_codes(codes, codes, ones, Semantics.MATCH_ANYTHING)
    assert sdcmicro_counts(codes, alpha=1.0).tolist() == expected.tolist()


@given(codes=hnp.arrays(np.int32, st.tuples(st.integers(1, 30), st.integers(1, 5)), elements=st.integers(-1, 3)))
def test_combination_cells_equal_dictionaries(codes: np.ndarray) -> None:
    q = codes.shape[1]
    chosen = [(c, float(1 + len(c))) for size in range(1, q + 1) for c in combinations(range(q), size)]
    ones = np.ones(len(codes), np.int64)
    found, tally = count_combinations(codes, ones, ones.astype(np.float64), chosen[::-1])
    expected = [unsafe_cells(codes, variables, threshold) for variables, threshold in chosen[::-1]]
    assert found == expected
    assert tally.sum() == sum(records for _, _, records in expected)


@given(file=FILES)
def test_counts_do_not_depend_on_the_word_size(file: tuple[np.ndarray, np.ndarray, int]) -> None:
    """Codes too many for one mixed-radix word, or for a table of all numbers, take a slower path; the answer is the same."""
    truth, hidden, _ = file
    published = np.where(hidden, -1, truth).astype(np.int32)
    ones = np.ones(len(truth), np.int64)
    found = {s: count_codes(published, truth, ones, s).tolist() for s in Semantics}
    for place, slow in (("_Digits.of", lambda a, b: None), ("DENSE_PER_ROW", 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"reticent.kernels.wildcards.{place}", slow)
            assert found == {s: count_codes(published, truth, ones, s).tolist() for s in Semantics}


def _as_file(codes: np.ndarray) -> Microdata:
    names = [f"v{at}" for at in range(codes.shape[1])]
    frame = pl.DataFrame({name: [None if c < 0 else f"c{c}" for c in codes[:, at]] for at, name in enumerate(names)})
    return Microdata.of(frame, Schema(tuple(Variable(name, role=Role.KEY) for name in names)))


@given(file=FILES)
def test_the_table_of_semantics_has_the_counts_of_each(file: tuple[np.ndarray, np.ndarray, int]) -> None:
    """Counted by different rows or by records, with a true file or without: the same numbers."""
    truth, hidden, _ = file
    published = np.where(hidden, -1, truth).astype(np.int32)
    shown, true = _as_file(published), _as_file(truth)
    for given_truth, codes in ((None, published), (true, truth)):
        table = compare_semantics(shown, k=2, truth=given_truth)
        for row in table.rows:
            counts = count_codes(published, codes, np.ones(len(truth), np.int64), row.semantics)
            if row.semantics is Semantics.NEVER_MATCH:
                counts = np.where((published < 0).any(axis=1), 1, counts)
            assert (row.smallest, row.violating_records, row.unique_records) == (
                counts.min(), (counts < 2).sum(), (counts <= 1).sum(),
            )  # fmt: skip


@given(file=FILES)
def test_a_file_as_it_is_is_recounted_without_a_trace(file: tuple[np.ndarray, np.ndarray, int]) -> None:
    data = _as_file(file[0])
    keys = data.schema.keys
    for blanks in (True, False):
        trace = replace(Trace.start(data, keys), blanked=frozenset(keys if blanks else ()))
        direct, traced = recount_as_it_is(data, keys, blanks=blanks), recount(trace, data, keys)
        assert direct.sample_counts.tolist() == traced.sample_counts.tolist()
