"""One mark for a record in tables, files and queries: keyed by the secret and the id, whatever the order."""

import numpy as np
import polars as pl

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.record_marks import record_words, version_fingerprint
from reticent.data.schema import Role, Schema, Variable
from reticent.kernels import draws

SCHEMA = Schema((Variable("id", role=Role.IDENTIFIER), Variable("a")))


def _data(order: list[int]) -> Microdata:
    frame = pl.DataFrame({"id": ["p", "q", "r", "s"], "a": ["x", "y", "x", "y"]})
    return Microdata.of(frame[order], SCHEMA)


def test_marks_follow_the_record_and_not_its_place() -> None:
    secret = as_secret(5)
    straight, turned = record_words(_data([0, 1, 2, 3]), secret), record_words(_data([3, 2, 1, 0]), secret)
    assert np.array_equal(straight, turned[::-1])
    assert np.array_equal(straight[:2].sum(axis=0), turned[2:].sum(axis=0))
    assert not np.array_equal(straight[:2].sum(axis=0), straight[1:3].sum(axis=0))


def test_a_fingerprint_is_the_sum_of_the_hashes_whatever_the_order_and_the_blocks() -> None:
    rng = np.random.default_rng(1)
    ids, values = np.arange(70_000, dtype=np.uint64), rng.integers(0, 2**60, (70_000, 2)).astype(np.uint64)
    hashes = draws.record_hashes(3, 4, ids, values)
    mark = draws.fingerprint(3, 4, ids, values)
    assert mark == hashes.sum(axis=0, dtype=np.uint64).astype("<u8").tobytes()
    assert mark == draws.fingerprint(3, 4, ids[::-1], values[::-1])
    assert mark != draws.fingerprint(3, 4, ids[1:], values[1:])
    assert np.array_equal(draws.record_keys(3, 4, ids, values), hashes[:, 0])


def test_marks_belong_to_the_secret() -> None:
    data = _data([0, 1, 2, 3])
    assert not np.array_equal(record_words(data, as_secret(5)), record_words(data, as_secret(6)))


def test_a_fingerprint_notices_other_data_and_another_name() -> None:
    data = _data([0, 1, 2, 3])
    changed = data.with_codes("a", np.array([0, 0, 0, 1], dtype=np.int32), ("x", "y"))
    names = {version_fingerprint("2024", data), version_fingerprint("2025", data), version_fingerprint("2024", changed)}
    assert len(names) == 3
