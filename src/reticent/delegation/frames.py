# SPDX-License-Identifier: Apache-2.0
"""Messages between owner and handler: a header in JSON, payloads with their lengths, a digest over everything.

The digest finds accidents. What a handler does on purpose is found by the nonce, the request's hash, and the verification
of the result.
"""

import hashlib
import json
import struct
from dataclasses import dataclass, field
from typing import Any

from reticent.base.errors import DataError

MAGIC = b"reticent-delegation-1\n"
DIGEST = 32
MAX_HEADER = 1 << 20
_NAMES = {"request": "a request", "response": "a response", "keys": "the owner's key file"}


@dataclass(frozen=True)
class Message:
    """A header of plain data and the bytes that go with it."""

    kind: str
    header: dict[str, Any]
    payloads: tuple[bytes, ...] = field(repr=False)

    def to_bytes(self) -> bytes:
        """The message as it travels."""
        head = json.dumps({"kind": self.kind, **self.header}, sort_keys=True, separators=(",", ":")).encode()
        parts = [MAGIC, struct.pack("<I", len(head)), head, struct.pack("<I", len(self.payloads))]
        for payload in self.payloads:
            parts += [struct.pack("<Q", len(payload)), payload]
        body = b"".join(parts)
        return body + hashlib.blake2b(body, digest_size=DIGEST).digest()


def read_message(raw: bytes, kind: str) -> Message:
    """The message, or one sentence about what is wrong with it."""
    body, digest = raw[:-DIGEST], raw[-DIGEST:]
    if not raw.startswith(MAGIC):
        raise DataError(f"delegate: this is not {_NAMES[kind]} of reticent delegate.")
    if len(raw) < len(MAGIC) + DIGEST or hashlib.blake2b(body, digest_size=DIGEST).digest() != digest:
        raise DataError(f"delegate: {_NAMES[kind]} is damaged or cut off; get it again.")
    try:
        header, payloads = _parts(body)
    except (ValueError, struct.error, IndexError, RecursionError):
        raise DataError(f"delegate: {_NAMES[kind]} is malformed; get it again.") from None
    found = header.pop("kind", None)
    if found != kind:
        raise DataError(f"delegate: {_NAMES[kind]} is needed here, this message is something else.")
    return Message(kind, header, payloads)


def _parts(body: bytes) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    place = len(MAGIC)
    (length,) = struct.unpack_from("<I", body, place)
    place += 4
    if length > MAX_HEADER:
        raise ValueError("header")
    header = json.loads(body[place : place + length])
    place += length
    if not isinstance(header, dict):
        raise ValueError("header")
    (count,) = struct.unpack_from("<I", body, place)
    place += 4
    payloads = []
    for _ in range(count):
        (size,) = struct.unpack_from("<Q", body, place)
        place += 8
        if place + size > len(body):
            raise ValueError("payload")
        payloads.append(body[place : place + size])
        place += size
    if place != len(body):
        raise ValueError("trailing bytes")
    return header, tuple(payloads)


def hash_of(raw: bytes) -> str:
    """What a response must quote of the request it answers."""
    return hashlib.blake2b(raw, digest_size=DIGEST, person=b"request").hexdigest()
