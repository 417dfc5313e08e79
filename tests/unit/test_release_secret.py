"""Which secrets a release takes: files and bytes that look random; all others only where a test is declared."""

import secrets
from pathlib import Path

import numpy as np
import pytest

from reticent.base.errors import ParameterError
from reticent.base.randomness import Secret, as_secret, release_secret, secret_note, weakness_of, weakness_of_number

FIBONACCI = bytes([1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 121, 98, 219, 61, 24, 85, 109, 194, 47, 241, 32])
MIRRORED = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805") + bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805")[::-1]
WEAK = (
    0, 1, -1, 42, 2**64, 2**127, 10**60, np.int64(7), b"", b"secret", b"0123456789abcde", b"\0" * 32, b"\xff" * 64, b"ab" * 16,
    bytes(range(32)), bytes(range(200, 168, -1)), b"0123456789abcdef" * 2, b"0" * 63 + b"1", bytes([1] * 16 + [2] * 16),
    b"1234567890123456", b"abcdefghijklmnop", b"qwertyuiopasdfghjklzxcvbnm", b"0102030405060708091011121314151617",
    bytes(range(31)) + b"\xff", bytes(range(16)) * 2, bytes(range(16)) + bytes(range(15)) + b"\x10",
    bytes(range(16)) + bytes(range(15, -1, -1)), bytes(i * i % 256 for i in range(32)), bytes(i**3 % 256 for i in range(32)),
    bytes((3 * i + i % 2) % 256 for i in range(32)), bytes(pow(3, i, 256) for i in range(32)), FIBONACCI,
    b"".join(i.to_bytes(2, "big") for i in range(16)), MIRRORED,
    2**128, -(2**128), 2**128 + 2026, 2**256 - 189, 10**39, 10**39 + 7, 3**100, (2**70 + 12345) ** 2, (10**25 + 3) ** 2 + 1,
    int("1234567890" * 5), int("9876543210" * 4), 2**5000,
    Secret(b"x"), as_secret(5), as_secret(5).child("step"), bytearray(32),
)  # fmt: skip
WEAK_FILES = ("0" * 64, "01" * 32, "0123456789abcdef" * 4, "f" * 63 + "e", "00000000" + "11111111" * 7, "deadbeef" * 8)


@pytest.mark.parametrize("source", WEAK, ids=range(len(WEAK)))
def test_a_guessable_secret_is_for_tests_only(source: object) -> None:
    with pytest.raises(
        ParameterError, match=r"^here: the secret .*`reticent new-secret`.* test_secret = true"
    ) as caught:
        release_secret(source, owner="here")  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    taken = release_secret(source, test=True, owner="here")  # type: ignore[arg-type]
    assert (secret_note(taken) or "").startswith("Test only, do not release")


@pytest.mark.parametrize("text", WEAK_FILES)
def test_a_key_file_with_a_pattern_is_no_key_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    path.write_text(text + "\n")
    with pytest.raises(ParameterError, match="follows a pattern"):
        release_secret(path, owner="here")


@pytest.mark.slow
def test_random_keys_are_never_taken_for_a_pattern() -> None:
    assert sum(weakness_of(secrets.token_bytes(32)) is not None for _ in range(5_000)) == 0
    for bits in (160, 256, 512):
        assert all(weakness_of_number(secrets.randbits(bits) | 1 << (bits - 1)) is None for _ in range(50))


@pytest.mark.slow
def test_random_keys_are_taken_in_every_form(tmp_path: Path) -> None:
    for size in (16, 20, 32, 64):
        for _ in range(500):
            key = secrets.token_bytes(size)
            assert weakness_of(key) is None
            assert weakness_of(key.hex().encode()) is None
    path = tmp_path / "secret.key"
    path.write_text(secrets.token_hex(32))
    for source in (None, path, str(path), secrets.token_bytes(32), secrets.randbits(256) | 1 << 255, as_secret(None)):
        made = release_secret(source, owner="here")
        assert secret_note(made) is None


@pytest.mark.parametrize("source", [True, False, 1.5, ["a"], np.bool_(True)])
def test_what_is_no_secret_is_refused(source: object) -> None:
    with pytest.raises(ParameterError, match="secret: must be"):
        release_secret(source, owner="here")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="test_secret must be true or false"):
        release_secret(1, test=1, owner="here")  # type: ignore[arg-type]


def test_a_drawn_secret_comes_back_from_its_record(tmp_path: Path) -> None:
    drawn = as_secret(None)
    path = tmp_path / "kept.key"
    path.write_text(drawn.to_hex())
    assert as_secret(path).digest("x") == drawn.digest("x")
