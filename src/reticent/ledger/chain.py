# SPDX-License-Identifier: Apache-2.0
"""Entries of a ledger and the keyed chain that ties each to all before it.

The hash of an entry is BLAKE2b over the hash before, the entry's number and its bytes, keyed by the data set's secret:
who lacks the secret can neither change, drop, insert nor reorder entries unnoticed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reticent.base.errors import ReticentError
from reticent.base.randomness import Secret

HASH_BYTES = 32
START = bytes(HASH_BYTES)


class LedgerError(ReticentError):
    """The ledger cannot be trusted or used; the data set stays closed. `entry` is the first bad one, if known."""

    exit_code = 8

    def __init__(self, message: str, *, entry: int | None = None) -> None:
        super().__init__(message)
        self.entry = entry


@dataclass(frozen=True)
class Entry:
    """One decision: its number (from 1), its kind, what it says, and its place in the chain."""

    number: int
    kind: str
    payload: Mapping[str, Any]
    digest: bytes


@dataclass(frozen=True)
class StoredEntry:
    """An entry as it lies in the store."""

    number: int
    body: bytes
    digest: bytes


def as_stored(row: Sequence[Any]) -> StoredEntry:
    """A row of a store as an entry; what is not a number and two byte strings is damage."""
    number, body, digest = row
    if type(number) is not int or not isinstance(body, bytes) or not isinstance(digest, bytes):
        raise LedgerError("ledger: it holds something that is not an entry; the data set stays closed. Restore it.")
    return StoredEntry(number, body, digest)


class Chain:
    """Computes and verifies the hashes of a ledger."""

    def __init__(self, secret: Secret) -> None:
        self._key = secret.digest("ledger", size=HASH_BYTES)

    def link(self, before: bytes, number: int, body: bytes) -> bytes:
        """The hash of an entry."""
        digest = hashlib.blake2b(before, key=self._key, digest_size=HASH_BYTES)
        digest.update(number.to_bytes(8, "big"))
        digest.update(body)
        return digest.digest()

    def verify(self, before: bytes, number: int, stored: list[StoredEntry]) -> bytes:
        """Check entries that follow entry `number` (with hash `before`); returns the last hash."""
        for entry in stored:
            number += 1
            if entry.number != number:
                raise LedgerError(
                    f"ledger: entry {number} is missing although later ones are there; the data set stays closed. "
                    "Restore the complete ledger.",
                    entry=number,
                )
            before = self.link(before, number, entry.body)
            if before != entry.digest:
                raise LedgerError(
                    f"ledger: entry {number} does not fit the chain: its bytes were changed, or the secret is another "
                    "one; the data set stays closed. Restore an intact copy, or give the right secret.",
                    entry=number,
                )
        return before


def encode(kind: str, payload: Mapping[str, Any]) -> bytes:
    """The bytes of an entry: JSON in a fixed form."""
    text = json.dumps({"kind": kind, **payload}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def decode(stored: StoredEntry) -> Entry:
    """The entry of stored bytes that the chain has verified."""
    try:
        payload = json.loads(stored.body)
        return Entry(stored.number, str(payload.pop("kind")), payload, stored.digest)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as err:
        raise LedgerError(
            f"ledger: entry {stored.number} was written by a version of the program that this one cannot read; "
            "open it with that version.",
            entry=stored.number,
        ) from err
