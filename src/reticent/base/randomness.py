"""Randomness from one secret: a named stream per step, so that adding a step never shifts another's draws.

Whoever knows the secret can undo noise, swaps and PRAM; so it never appears in a repr, a log or a public report.
"""

import hashlib
import secrets
from pathlib import Path

import numpy as np

from reticent.base.errors import ParameterError

SECRET_BYTES = 32


class Secret:
    """Thirty-two bytes that no repr shows; the source of every random draw of a run."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.blake2b(key, digest_size=SECRET_BYTES, person=b"reticent").digest()

    def __repr__(self) -> str:
        return "<Secret>"

    def digest(self, name: str, *, size: int = 32) -> bytes:
        """A keyed hash of a name: what everything random is derived from."""
        return hashlib.blake2b(name.encode(), key=self._key, digest_size=size).digest()

    def child(self, name: str) -> "Secret":
        """The secret of one step or one part of the work."""
        return Secret(self.digest("child:" + name))

    def stream(self, name: str) -> np.random.Generator:
        """Independent draws for one named purpose (counter-based, the same on every machine)."""
        key = np.frombuffer(self.digest("stream:" + name, size=16), dtype="<u8").astype(np.uint64)
        return np.random.Generator(np.random.Philox(key=key))

    def words(self, name: str) -> tuple[int, int]:
        """Two 64-bit words that key the per-record draws of `kernels.draws`."""
        raw = self.digest("words:" + name, size=16)
        return int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little")

    def to_hex(self) -> str:
        """For the confidential record of a run only; `as_secret` of these bytes is another secret (see `from_hex`)."""
        return self._key.hex()

    @classmethod
    def from_hex(cls, text: str) -> "Secret":
        """Restore a secret that `to_hex` wrote."""
        secret = cls(b"")
        secret._key = bytes.fromhex(text)
        return secret


def as_secret(source: "Secret | int | bytes | Path | str | None") -> Secret:
    """Make a secret of a file of hex digits, of bytes, of an integer (for tests), or of the system's entropy."""
    if source is None:
        return Secret(secrets.token_bytes(SECRET_BYTES))
    if isinstance(source, Secret):
        return source
    if isinstance(source, bytes):
        return Secret(source)
    if isinstance(source, bool):
        raise ParameterError("secret: must be a file, bytes or a whole number, got a truth value.")
    if isinstance(source, int):
        return Secret(b"integer:%d" % source)
    return Secret(_read_key_file(Path(source)))


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
