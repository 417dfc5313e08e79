"""Encrypted columns: totals slot by slot under each modulus, put together again exactly."""

import math

import numpy as np
import pytest

from reticent.base.errors import DataError
from reticent.delegation.residues import is_prime
from reticent.delegation.scheme import (
    SLOTS,
    Evaluator,
    cipher_from,
    combine,
    decrypt,
    encrypt,
    key_bytes,
    key_from,
    moduli_for,
    new_key,
)


class Part:
    """A polynomial: coefficients by products of columns."""

    def __init__(self, *terms: tuple[tuple[str, ...], int]) -> None:
        self.terms = terms


@pytest.mark.parametrize("bound", [0, 10, 10**9, 10**20])
def test_moduli_hold_every_result(bound: int) -> None:
    found = moduli_for(bound)
    assert math.prod(found) > 2 * bound + 1
    assert len(set(found)) == len(found)
    assert all(is_prime(t) and t % (2 * SLOTS) == 1 for t in found)
    assert math.prod(found[:-1]) <= 2 * bound + 1, "no more of them than needed"


def test_no_modulus_divides_a_factor() -> None:
    first = moduli_for(10)[0]
    assert first not in moduli_for(10, [first * 7])
    assert moduli_for(10, [first + 1])[0] == first


@pytest.mark.parametrize("number", [0, 1, -1, 123456789, -(10**15), 10**17])
def test_residues_are_put_together_exactly(number: int) -> None:
    moduli = moduli_for(10**18)
    assert combine([number % t for t in moduli], moduli) == number


@pytest.mark.parametrize("bound", [6, 10**6])
def test_the_middle_of_all_results_is_the_border(bound: int) -> None:
    moduli = (3, 5)
    assert {combine([n % 3, n % 5], moduli) for n in range(-7, 8)} == set(range(-7, 8))
    assert math.prod(moduli_for(bound)) // 2 >= bound


@pytest.fixture(scope="module")
def key() -> tuple[object, int]:
    pytest.importorskip("tenseal")
    (modulus,) = moduli_for(1000)
    return new_key(modulus), modulus


def total(cipher: object, modulus: int) -> int:
    return combine([int(decrypt(cipher, modulus).sum()) % modulus], [modulus])


def test_totals_of_columns_and_their_products(key: tuple[object, int]) -> None:
    context, modulus = key
    x, y = np.arange(-20, 30, dtype=np.int64), np.arange(50, dtype=np.int64) % 7
    columns = {
        name: [cipher_from(context, raw, "column") for raw in encrypt(context, values, modulus)]
        for name, values in (("x", x), ("y", y))
    }
    evaluator = Evaluator(columns, modulus)
    assert total(evaluator.total(Part((("x",), 1))), modulus) == x.sum()
    assert total(evaluator.total(Part((("x",), -3))), modulus) == -3 * x.sum()
    assert total(evaluator.total(Part((("x", "y"), 1))), modulus) == (x * y).sum()
    both = Part((("x",), 2), (("y",), -1), ((), 5))
    assert total(evaluator.total(both), modulus) == 2 * x.sum() - y.sum(), "the constant needs no data"
    assert total(evaluator.total(both, factor=4), modulus) == 4 * (2 * x.sum() - y.sum())
    with pytest.raises(ValueError, match="a total of nothing"):
        evaluator.total(Part(((), 5)))


def test_a_column_fills_as_many_ciphertexts_as_it_needs(key: tuple[object, int]) -> None:
    context, modulus = key
    assert len(encrypt(context, np.ones(SLOTS, dtype=np.int64), modulus)) == 1
    raw = encrypt(context, np.ones(SLOTS + 3, dtype=np.int64), modulus)
    assert len(raw) == 2
    last = decrypt(cipher_from(context, raw[1], "column"), modulus)
    assert last.sum() == 3
    assert len(last) == SLOTS


def test_the_handler_gets_no_secret_key(key: tuple[object, int]) -> None:
    context, modulus = key
    cipher = encrypt(context, np.array([3], dtype=np.int64), modulus)[0]
    owner, handler = (key_from(key_bytes(context, secret=secret), "key") for secret in (True, False))
    assert decrypt(cipher_from(owner, cipher, "column"), modulus)[0] == 3
    assert not handler.has_secret_key()
    with pytest.raises(DataError, match="cannot be decrypted"):
        decrypt(cipher_from(handler, cipher, "column"), modulus)


@pytest.mark.parametrize("raw", [b"", b"nonsense", bytes(100)])
def test_damaged_bytes_are_one_sentence(key: tuple[object, int], raw: bytes) -> None:
    with pytest.raises(DataError, match="the column cannot be read"):
        cipher_from(key[0], raw, "column")
    with pytest.raises(DataError, match="the key file cannot be read"):
        key_from(raw, "key file")
