"""Randomness from one secret: a named stream per step, so that adding a step never shifts another's draws.

Whoever knows the secret can undo noise, swaps and PRAM; so it never appears in a repr, a log or a public report.
"""

import hashlib
import secrets
from collections import Counter
from itertools import pairwise
from math import log2
from pathlib import Path

import numpy as np

from reticent.base.errors import ParameterError

SECRET_BYTES = 32
LEAST_BITS = 128
"""A whole number or a byte string below this size can be guessed, or could be one day."""
LEAST_SPREAD = 0.7
"""Share of the largest possible spread that the bytes of a key must have; random bytes have about 0.97."""


class Secret:
    """Thirty-two bytes that no repr shows; the source of every random draw of a run.

    `weakness` says in words why the bytes it was made of can be guessed (None: they cannot); see `release_secret`.
    """

    __slots__ = ("_given", "_key", "weakness")

    def __init__(self, key: bytes, *, weakness: str | None = None, derived: bool = False) -> None:
        self._given = key
        self._key = hashlib.blake2b(key, digest_size=SECRET_BYTES, person=b"reticent").digest()
        self.weakness = weakness if derived else weakness or weakness_of(key)

    def __repr__(self) -> str:
        return "<Secret>"

    def digest(self, name: str, *, size: int = 32) -> bytes:
        """A keyed hash of a name: what everything random is derived from."""
        return hashlib.blake2b(name.encode(), key=self._key, digest_size=size).digest()

    def child(self, name: str) -> "Secret":
        """The secret of one step or one part of the work; it is as weak as this one."""
        return Secret(self.digest("child:" + name), weakness=self.weakness, derived=True)

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
        small = "is a whole number that can be guessed" if abs(number) < 2**LEAST_BITS else None
        return Secret(b"integer:%d" % number, weakness=small)
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


def secret_note(secret: Secret) -> str | None:
    """What a report must say of a test secret."""
    if secret.weakness is None:
        return None
    return f"Test only, do not release: the secret {secret.weakness} (test_secret = true)."


def weakness_of(key: bytes) -> str | None:
    """Why some bytes can be guessed, in words; None for bytes that look random.

    Random bytes practically never are refused. Words that people choose are not recognised: take a key file.
    """
    if len(key) * 8 < LEAST_BITS:
        return f"has fewer than {LEAST_BITS // 8} bytes and can be guessed"
    if len(key) >= SECRET_BYTES and all(byte in b"0123456789abcdefABCDEF" for byte in key):
        key = bytes.fromhex(key[: len(key) // 2 * 2].decode())  # digits written out: what counts is what they say
    steps = {(b - a) % 256 for a, b in pairwise(key)}
    repeats = any(key[period:] == key[:-period] for period in range(1, len(key) // 2 + 1))
    if len(steps) == 1 or repeats or _spread(key) < LEAST_SPREAD:
        return "follows a pattern (repeated or few different bytes) and can be guessed"
    return None


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
        raise ParameterError(
            f"secret: the key file {path.name!r} cannot be read. Make one with `reticent new-secret`."
        ) from err
    except ValueError as err:
        raise ParameterError(f"secret: the key file {path.name!r} must hold 64 hexadecimal digits.") from err
    if len(key) < SECRET_BYTES:
        raise ParameterError(f"secret: the key file {path.name!r} must hold 64 hexadecimal digits, it has {len(text)}.")
    return key
