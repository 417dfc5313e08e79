# SPDX-License-Identifier: Apache-2.0
"""A snapshot of what a program has worked out from a ledger, so that a long one need not be worked through again.

It is only a short cut: the ledger decides. A snapshot is signed with the data set's secret and says which entry it stands
after; one that is missing, damaged, forged, of another data set or ahead of the ledger is not used, and the work is done
again. That of the query auditor holds which record sets were released, never a value; that of releases judged together is
confidential, like the ledger's contents: it says how far values could be other than they are.
"""

import hashlib
import hmac
import io
import json
import os
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.randomness import Secret
from reticent.ledger.chain import HASH_BYTES

Arrays = Mapping[str, NDArray[Any]]
FACTS = "facts"


class Snapshots:
    """The one snapshot file of a data set."""

    def __init__(self, path: Path, secret: Secret) -> None:
        self.path = path
        self._key = secret.digest("snapshot", size=HASH_BYTES)

    def beside(self, name: str) -> "Snapshots":
        """Another snapshot of the same data set, in a file of its own."""
        other = copy(self)
        other.path = self.path.with_name(f"{self.path.name}.{name}")
        return other

    def write(self, facts: Mapping[str, Any], arrays: Arrays) -> None:
        """Replace the snapshot; a disk that cannot take it is not a reason to fail."""
        packed = io.BytesIO()
        plain = np.frombuffer(json.dumps(facts).encode("ascii"), dtype=np.uint8)
        np.savez(packed, allow_pickle=False, **{FACTS: plain, **arrays})
        content = packed.getbuffer()
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as out:
                out.write(self._sign(content))
                out.write(content)
            os.replace(fresh, self.path)
        except OSError:
            fresh.unlink(missing_ok=True)

    def read(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """Facts and arrays as they were written, or None if there is nothing to be trusted."""
        try:
            whole = self.path.read_bytes()
        except OSError:
            return None
        content = memoryview(whole)[HASH_BYTES:]
        if not hmac.compare_digest(self._sign(content), whole[:HASH_BYTES]):
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        return json.loads(arrays.pop(FACTS).tobytes()), arrays

    def _sign(self, content: memoryview) -> bytes:
        return hashlib.blake2b(content, key=self._key, digest_size=HASH_BYTES).digest()
