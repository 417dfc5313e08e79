"""Keyed draws: known answers of Philox, agreement with the plain reference, distribution, independence of order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reference import draws_reference as reference
from reticent.base.randomness import as_secret
from reticent.kernels import draws

WORDS = st.integers(0, 2**64 - 1)
PI_COUNTER = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)


@pytest.mark.parametrize(
    "counter, key, answer",
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (PI_COUNTER, (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
    ],
)
def test_philox_known_answers_of_random123(counter, key, answer) -> None:
    assert reference.philox(counter, key) == answer
    got = draws.philox(*(np.uint64(c) for c in counter), *(np.uint64(k) for k in key))
    assert tuple(int(g) for g in got) == answer


@given(
    word0=WORDS,
    word1=WORDS,
    ids=st.lists(WORDS, min_size=1, max_size=5),
    start=st.integers(0, 7),
    width=st.integers(1, 5),
)
def test_draws_agree_with_the_plain_reference(word0, word1, ids, start, width) -> None:
    records = np.array(ids, dtype=np.uint64)
    uniform = draws.uniform_matrix(word0, word1, records, width, start=start)
    normal = draws.normal_matrix(word0, word1, records, width, start=start)
    for i, record in enumerate(ids):
        for j in range(width):
            assert uniform[i, j] == reference.uniform(word0, word1, record, start + j)
            assert normal[i, j] == pytest.approx(
                reference.normal(word0, word1, record, start + j), rel=1e-12, abs=1e-12
            )
    one = draws.record_uniform(np.uint64(word0), np.uint64(word1), records[0], np.uint64(start))
    assert one == uniform[0, 0]


def test_draws_follow_their_distributions_and_are_not_correlated() -> None:
    words = as_secret(1).words("test")
    ids = np.arange(200_000, dtype=np.uint64)
    uniform = draws.uniform_matrix(*words, ids, 4)
    normal = draws.normal_matrix(*words, ids, 4, start=8)
    for j in range(4):
        assert stats.kstest(uniform[:, j], "uniform").pvalue > 1e-4
        assert stats.kstest(normal[:, j], "norm").pvalue > 1e-4
    table = np.histogram2d(uniform[:, 0], uniform[:, 1], bins=16)[0]
    assert stats.chisquare(table.ravel()).pvalue > 1e-4
    correlation = np.corrcoef(np.column_stack([uniform, normal, np.roll(uniform[:, :1], 1)]), rowvar=False)
    assert np.abs(correlation - np.eye(9)).max() < 4.5 / np.sqrt(ids.size)


def test_a_draw_depends_on_secret_step_and_record_only() -> None:
    ids = np.random.default_rng(3).permutation(1000).astype(np.uint64)
    words = as_secret(1).words("noise")
    whole = draws.normals(*words, ids)
    order = np.argsort(ids)
    assert np.array_equal(draws.normals(*words, ids[order]), whole[order])
    assert np.array_equal(np.concatenate([draws.normals(*words, ids[:300]), draws.normals(*words, ids[300:])]), whole)
    assert not np.array_equal(draws.normals(*as_secret(2).words("noise"), ids), whole)
    assert not np.array_equal(draws.normals(*as_secret(1).words("other"), ids), whole)
    assert not np.array_equal(draws.normals(*words, ids, 1), whole)
