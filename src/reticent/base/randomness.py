# SPDX-License-Identifier: Apache-2.0
"""Randomness from one secret: a named stream per step, so that adding a step never shifts another's draws.

Whoever knows the secret can undo noise, swaps and PRAM; so it never appears in a repr, a log or a public report.
"""

import hashlib
import re
import secrets
import zlib
from collections import Counter
from itertools import groupby, pairwise
from math import log2
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import ParameterError

STREAM_VERSION = 2
"""Version of the random streams. Whatever gives other draws for the same secret and input raises it, because two draws of one
value can be averaged: releases drawn before are never continued without a word from their owner (see `check_streams`)."""
FIRST_STREAMS = 1
"""What version 0.1.0 drew; records that name no version are of it."""
SECRET_BYTES = 32
LEAST_BITS = 128
"""A whole number or a byte string below this size can be guessed, or could be one day."""
LEAST_SPREAD = 0.7
"""Share of the largest possible spread that the bytes of a key must have; random bytes have about 0.97."""
SMALLEST_PACKED = 0.95
"""Share of its length below which no random key is packed; packing adds some bytes to those."""
MOST_JUDGED = 1024
"""This many bytes are searched for a rule; whoever guesses a longer key needs these too."""
MOST_ORDER = 4
"""Steps between bytes, steps between these steps, and so on up to here, are looked at."""
LEAST_ALIKE = 7
"""This many equal steps, and a quarter of all, are a pattern: below one in ten million for 16 random bytes."""
NEAR = 2**32
"""A whole number so near to a power of another can be guessed."""
LONGEST_RUN = 12
"""This many equal steps in a row between the decimal digits of a number are a pattern."""
MOST_BITS = 4096
"""Larger numbers are not judged, and refused."""
WRITTEN_OUT = re.compile(r"[0-9A-Za-z+/_=-]{22,}")
"""Sixteen bytes or more as digits or as base64: if there is no such file, it is a secret, which no message may repeat."""


class Secret:
    """Thirty-two bytes that no repr shows; the source of every random draw of a run.

    `weakness` says in words why the bytes it was made of can be guessed (None: they cannot); see `release_secret`. It is
    found from the bytes themselves and cannot be set.
    """

    __slots__ = ("_given", "_key", "_weakness")

    def __init__(self, key: bytes) -> None:
        self._make(key, weakness_of(key))

    def _make(self, key: bytes, weakness: str | None) -> None:
        self._given = key
        self._key = hashlib.blake2b(key, digest_size=SECRET_BYTES, person=b"reticent").digest()
        self._weakness = weakness

    @property
    def weakness(self) -> str | None:
        """Why the secret can be guessed, in words; None if it cannot."""
        return self._weakness

    def __repr__(self) -> str:
        return "<Secret>"

    def digest(self, name: str, *, size: int = 32) -> bytes:
        """A keyed hash of a name: what everything random is derived from."""
        return hashlib.blake2b(name.encode(), key=self._key, digest_size=size).digest()

    def child(self, name: str) -> "Secret":
        """The secret of one step or one part of the work; it is as weak as this one."""
        return _with_weakness(self.digest("child:" + name), self.weakness)

    def stream(self, name: str) -> np.random.Generator:
        """Independent draws for one named purpose (counter-based, the same on every machine)."""
        key = np.frombuffer(self.digest("stream:" + name, size=16), dtype="<u8").astype(np.uint64)
        return np.random.Generator(np.random.Philox(key=key))

    def words(self, name: str) -> tuple[int, int]:
        """Two 64-bit words that key the per-record draws of `kernels.draws`."""
        raw = self.digest("words:" + name, size=16)
        return int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little")

    def to_hex(self) -> str:
        """What a key file holds for this secret; for the confidential record of a run only."""
        return self._given.hex()


def _with_weakness(key: bytes, weakness: str | None) -> Secret:
    """A secret whose weakness is that of what its bytes were made of."""
    secret = Secret.__new__(Secret)
    secret._make(key, weakness)
    return secret


Source = Secret | int | bytes | Path | str | None
"""What a secret can be given as."""


def as_secret(source: Source) -> Secret:
    """Make a secret of a file of hex digits, of bytes, of an integer (for tests), or of the system's entropy.

    Weak sources are taken here, so that tests are easy to write; every door that makes something publishable asks
    `release_secret`.
    """
    if source is None:
        return Secret(secrets.token_bytes(SECRET_BYTES))
    if isinstance(source, Secret):
        return source
    if isinstance(source, bytes | bytearray):
        return Secret(bytes(source))
    if isinstance(source, bool | np.bool_):
        raise ParameterError("secret: must be a key file, bytes or a whole number, got a truth value.")
    if isinstance(source, int | np.integer):
        number = int(source)
        return _with_weakness(b"integer:%d" % number, weakness_of_number(number))
    if isinstance(source, str | Path):
        return Secret(_read_key_file(Path(source)))
    raise ParameterError("secret: must be a key file, bytes or a whole number.")


def release_secret(source: Source, *, test: bool = False, owner: str) -> Secret:
    """The secret of something that may be released: one that can be guessed is refused, unless it is said to be a test.

    Whoever guesses the secret can undo the draws; trying all small numbers takes a moment.
    """
    if not isinstance(test, bool):
        raise ParameterError(f"{owner}: test_secret must be true or false.")
    secret = as_secret(source)
    if secret.weakness is not None and not test:
        raise ParameterError(
            f"{owner}: the secret {secret.weakness}, so that everybody could undo the draws. Give a key file "
            "(`reticent new-secret` makes one), or test_secret = true for a test that is never released."
        )
    return secret


def check_streams(named: int | None, *, owner: str) -> None:
    """Refuse to continue what another version of the streams has drawn; `named` is what the plan says, if anything."""
    if named is not None and named != STREAM_VERSION:
        raise ParameterError(
            f"streams = {named} are not what this version of the program draws ({STREAM_VERSION}), and a second draw "
            f"beside an earlier release could be averaged with it. Use the version that drew it, or write streams = "
            f"{STREAM_VERSION} to draw again.",
            option="streams",
        ).at(owner)


def secret_note(secret: Secret) -> str | None:
    """What a report must say of a test secret."""
    if secret.weakness is None:
        return None
    return f"Test only, do not release: the secret {secret.weakness} (test_secret = true)."


def weakness_of(key: bytes) -> str | None:
    """Why some bytes can be guessed, in words; None for bytes that look random.

    Random bytes practically never are refused. Words that people choose are not recognised: take a key file.
    """
    if len(key) >= SECRET_BYTES and all(byte in b"0123456789abcdefABCDEF" for byte in key):
        key = bytes.fromhex(key[: len(key) // 2 * 2].decode())  # digits written out: what counts is what they say
    if len(key) * 8 < LEAST_BITS:
        return f"has fewer than {LEAST_BITS // 8} bytes and can be guessed"
    if len(key) * log2(_alphabet(key)) < LEAST_BITS:
        return f"is a text with fewer than {LEAST_BITS} bits and can be guessed"
    packed = len(zlib.compress(key, 9)) < SMALLEST_PACKED * len(key)
    if packed or key == key[::-1] or _spread(key) < LEAST_SPREAD or _follows_a_rule(key[:MOST_JUDGED]):
        return "follows a pattern (repeated, counted or few different bytes) and can be guessed"
    return None


def weakness_of_number(number: int) -> str | None:
    """Why a whole number can be guessed, in words; None for one that looks like a random one of at least 128 bits."""
    size = abs(number)
    if size < 2**LEAST_BITS:
        return "is a whole number that can be guessed"
    digits = [int(digit) for digit in str(size)] if size.bit_length() <= MOST_BITS else []
    steps = [(b - a) % 10 for a, b in pairwise(digits)]
    even = any(len(list(run)) >= LONGEST_RUN for _, run in groupby(steps))
    near = any(abs(size - _root(size, power) ** power) < NEAR for power in range(2, size.bit_length()))
    if not digits or even or near or weakness_of(size.to_bytes((size.bit_length() + 7) // 8, "big")) is not None:
        return "is a whole number that follows a pattern and can be guessed"
    return None


def _alphabet(key: bytes) -> int:
    """This many characters there are of the kinds that a text has; 256 for what is not a text."""
    if not all(32 <= byte < 127 for byte in key):
        return 256
    text = key.decode("ascii")
    kinds = (str.isdigit, 10), (str.islower, 26), (str.isupper, 26), (lambda char: not char.isalnum(), 33)
    return sum(size for is_kind, size in kinds if any(map(is_kind, text)))


def _follows_a_rule(key: bytes) -> bool:
    """Whether bytes mostly follow from those before: by steps that repeat, at any distance, or by a fixed rule."""
    values = np.frombuffer(key, dtype=np.uint8).astype(np.int64)
    n = len(values)
    first, second = np.triu_indices(n, 1)
    lag = second - first
    near = lag <= n // 2
    alike = [_most_alike(values[second[near]] - values[first[near]], lag[near])]
    alike += [_most_alike(np.diff(values, order), np.zeros(n - order, np.int64)) for order in range(2, MOST_ORDER + 1)]
    if max(alike) >= max(LEAST_ALIKE, n // 4):
        return True
    products = values[1:] - np.arange(256)[:, None] * values[:-1]
    sums = values[2:] - values[1:-1] - values[:-2]
    by_rule = _most_alike(products.ravel(), np.repeat(np.arange(256), n - 1)), _most_alike(sums, np.zeros_like(sums))
    return max(by_rule) >= max(LEAST_ALIKE, n // 2)


def _most_alike(values: NDArray[np.int64], group: NDArray[np.int64]) -> int:
    """How often the most frequent value (of a byte) is in the group where it is most frequent."""
    return int(np.bincount(values % 256 + 256 * group).max())


def _root(number: int, power: int) -> int:
    """The whole number whose power is nearest to a number, by halving."""
    low, high = 1, 1 << (number.bit_length() // power + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**power <= number else (low, middle)
    return low if number - low**power <= high**power - number else high


def _spread(key: bytes) -> float:
    """The entropy of the byte frequencies over that of 32 different bytes (of n, if n is less): 0 for equal bytes."""
    n = len(key)
    bits = sum(count * log2(n / count) for count in Counter(key).values())
    return bits / (min(n, SECRET_BYTES) * log2(min(n, SECRET_BYTES)))


def _read_key_file(path: Path) -> bytes:
    try:
        text = path.read_text(encoding="ascii").strip()
        key = bytes.fromhex(text)
    except OSError as err:
        if WRITTEN_OUT.fullmatch(str(path)):
            raise ParameterError(
                "secret: this is a secret written out, not the name of a key file. Keep it as the only line of a file that "
                "others cannot read, and give the name of that file."
            ) from None
        raise ParameterError(
            f"secret: the key file {path.name!r} cannot be read. Make one with `reticent new-secret`."
        ) from err
    except ValueError as err:
        raise ParameterError(f"secret: the key file {path.name!r} must hold 64 hexadecimal digits.") from err
    if len(key) < SECRET_BYTES:
        raise ParameterError(f"secret: the key file {path.name!r} must hold 64 hexadecimal digits, it has {len(text)}.")
    return key
