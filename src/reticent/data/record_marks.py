# SPDX-License-Identifier: Apache-2.0
"""The mark of a record: one keyed name for it in tables, files and queries, and one fingerprint for a version of the data.

Marks are sums of words, so that the mark of a set does not depend on how it is put together. They are keyed by the secret
and the record's id, never by its place: another order of the file gives the same marks.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reticent.base.arrays import Codes, Floats, Words
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema
from reticent.kernels.draws import record_hashes

_NO_VALUES = 0


def record_words(data: Microdata, secret: Secret) -> Words:
    """128 bits per record, shape (n, 2), for one secret.

    Two sets of records with the same sums are the same set, except for one chance in 2^128.
    """
    ids = data.record_ids()
    words = secret.words("record marks")
    return record_hashes(*words, ids, np.zeros((len(ids), _NO_VALUES), dtype=np.uint64))


def version_fingerprint(name: str, data: Microdata) -> str:
    """A hash of everything that releases depend on: another file under the same version name is noticed."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((name, data.schema.names, data.n_records)).encode())
    digest.update(np.ascontiguousarray(data.record_ids()).tobytes())
    entity = data.entity()
    if entity is not None:
        digest.update(entity.tobytes())
    for variable in data.schema.variables:
        if variable.kind is Kind.NUMERIC:
            digest.update(data.numbers((variable.name,)).tobytes())
        else:
            digest.update("\x1f".join(data.categories(variable.name)).encode())
            digest.update(data.codes((variable.name,)).tobytes())
    return digest.hexdigest()


def version_marks(name: str, data: Microdata) -> dict[str, str]:
    """What a ledger keeps of a version: the fingerprint, and one that any order of the records gives if they have ids."""
    marks = {"name": name, "data": version_fingerprint(name, data)}
    return {**marks, "ids": fingerprint_by_ids(name, data)} if data.has_ids else marks


def is_version(taken: Mapping[str, Any], marks: Mapping[str, str]) -> bool:
    """Whether a ledger's mark of a version is that of these data: in an engine, which knows no order, by their ids."""
    by = "data" if "data" in taken and "data" in marks else "ids"
    return by in taken and taken[by] == marks.get(by)


def fingerprint_by_ids(name: str, data: Microdata) -> str:
    """A hash of everything that releases depend on, whatever the order of the records."""
    numeric, coded = marked_variables(data.schema)
    sums = marks_sum(data.record_ids(), data.codes(coded), data.numbers(numeric))
    return named_sum(name, data.n_records, data.schema, [data.categories(one) for one in coded], sums)


def marked_variables(schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The numbers and the codes that a fingerprint by ids is made of; names of records are in the ids."""
    own = [v for v in schema.variables if v.role is not Role.IDENTIFIER]
    numeric = tuple(v.name for v in own if v.kind is Kind.NUMERIC)
    return numeric, tuple(v.name for v in own if v.kind is not Kind.NUMERIC)


def marks_sum(ids: Words, codes: Codes, numbers: Floats) -> Words:
    """The sum, modulo 2^64, of a hash of each record: of its id, its codes and its numbers."""
    plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one way to write 0, and one for what is missing
    words = np.hstack((codes.astype(np.int64).view(np.uint64), np.ascontiguousarray(plain).view(np.uint64)))
    return np.asarray(record_hashes(0, 0, ids, words).sum(axis=0, dtype=np.uint64))


def named_sum(name: str, n_records: int, schema: Schema, categories: Sequence[Sequence[str]], sums: Words) -> str:
    """The fingerprint by ids from the sum over all records."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((name, schema.names, n_records)).encode())
    for texts in categories:
        digest.update("\x1f".join(texts).encode())
    digest.update(sums.astype("<u8").tobytes())
    return digest.hexdigest()
