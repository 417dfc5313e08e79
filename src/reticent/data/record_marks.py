# SPDX-License-Identifier: Apache-2.0
"""The mark of a record: one keyed name for it in tables, files and queries, and one fingerprint for a version of the data.

Marks are sums of words, so that the mark of a set does not depend on how it is put together. They are keyed by the secret
and the record's id, never by its place: another order of the file gives the same marks.
"""

import hashlib

import numpy as np

from reticent.base.arrays import Words
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind
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
