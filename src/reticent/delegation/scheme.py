# SPDX-License-Identifier: Apache-2.0
"""The only file that knows TenSEAL: BFV over several plain moduli, vectors of 8,192 slots, totals kept slot by slot.

Each column is encrypted once per modulus; results are put together by the Chinese remainder theorem. The handler adds up
ciphertexts only, slot by slot: the owner adds the slots after decryption, so no rotation keys are needed. Products of up to
four columns take two levels of multiplication, of which the parameters carry three.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError
from reticent.base.optional import need
from reticent.delegation.columns import Whole
from reticent.delegation.expression import Monomial, Row
from reticent.delegation.residues import is_prime

SLOTS = 8192
MODULUS_BITS = 30

Cipher = Any


def _tenseal() -> Any:
    return need("tenseal", extra="delegation", purpose="computing on encrypted data")


def moduli_for(bound: int, factors: Sequence[int] = ()) -> tuple[int, ...]:
    """Primes t ≡ 1 modulo 2·SLOTS whose product exceeds every result between −bound and bound.

    None of them divides one of the `factors`: a ciphertext times 0 would no longer be one.
    """
    found: list[int] = []
    candidate = (1 << MODULUS_BITS) // (2 * SLOTS) * (2 * SLOTS) + 1
    while math.prod(found) <= 2 * bound + 1:
        candidate -= 2 * SLOTS
        if is_prime(candidate) and all(factor % candidate for factor in factors):
            found.append(candidate)
    return tuple(found)


def new_key(modulus: int) -> Any:
    """A context with a secret key for one plain modulus; encryption is symmetric: only the owner encrypts."""
    tenseal = _tenseal()
    return tenseal.context(
        tenseal.SCHEME_TYPE.BFV, poly_modulus_degree=SLOTS, plain_modulus=modulus,
        encryption_type=tenseal.ENCRYPTION_TYPE.SYMMETRIC,
    )  # fmt: skip


def key_bytes(key: Any, *, secret: bool) -> bytes:
    """The context, with its secret key for the owner's own file, without it for the handler."""
    raw: bytes = key.serialize(
        save_public_key=True, save_secret_key=secret, save_galois_keys=False, save_relin_keys=True
    )  # fmt: skip
    return raw


def key_from(raw: bytes, what: str) -> Any:
    """A context from its bytes."""
    try:
        return _tenseal().context_from(raw)
    except (ValueError, RuntimeError, IndexError, TypeError):
        raise DataError(f"delegate: the {what} cannot be read; make it again.") from None


def encrypt(key: Any, values: Whole, modulus: int) -> list[bytes]:
    """A column as ciphertexts of SLOTS values each, the last one filled up with zeros."""
    tenseal = _tenseal()
    reduced = _centred(values % modulus, modulus)
    found = []
    for start in range(0, len(reduced), SLOTS):
        block = np.zeros(SLOTS, dtype=np.int64)
        part = reduced[start : start + SLOTS]
        block[: len(part)] = part
        found.append(tenseal.bfv_vector(key, block.tolist()).serialize())
    return found


def _centred(residues: NDArray[np.int64], modulus: int) -> NDArray[np.int64]:
    centred: NDArray[np.int64] = np.where(residues > modulus // 2, residues - modulus, residues)
    return centred


def cipher_from(key: Any, raw: bytes, what: str) -> Cipher:
    """A ciphertext of SLOTS values from its bytes."""
    try:
        found = _tenseal().bfv_vector_from(key, raw)
        if found.size() != SLOTS or len(found.ciphertext()) != 1:
            raise ValueError("shape")
        return found
    except (ValueError, RuntimeError, IndexError, TypeError):
        raise DataError(f"delegate: the {what} cannot be read; ask for it again.") from None


class Evaluator:
    """Totals of polynomials, slot by slot, under one modulus; each product of columns is computed once."""

    def __init__(self, columns: dict[str, Sequence[Cipher]], modulus: int) -> None:
        self._columns, self._modulus = columns, modulus
        self._totals: dict[Monomial, Cipher] = {}

    def total(self, part: Row, factor: int = 1) -> Cipher:
        """The total of a polynomial without its constant term (which needs no data), times a factor."""
        found: Cipher = None
        for names, coefficient in part.terms:
            if names:
                term = self._scaled(self._monomial(names), coefficient * factor)
                found = term if found is None else found + term
        if found is None:
            raise ValueError("a total of nothing")
        return found

    def _monomial(self, names: Monomial) -> Cipher:
        if names not in self._totals:
            found: Cipher = None
            for number in range(len(self._columns[names[0]])):
                term = _product([self._columns[name][number] for name in names])
                found = term if found is None else found + term
            self._totals[names] = found
        return self._totals[names]

    def _scaled(self, cipher: Cipher, coefficient: int) -> Cipher:
        reduced = coefficient % self._modulus
        if reduced == 1:
            return cipher
        centred = reduced - self._modulus if reduced > self._modulus // 2 else reduced
        return cipher * ([centred] * SLOTS)


def _product(ciphers: list[Cipher]) -> Cipher:
    """A product in pairs, so that four factors take two levels and not three."""
    while len(ciphers) > 1:
        pairs = [ciphers[at] * ciphers[at + 1] for at in range(0, len(ciphers) - 1, 2)]
        ciphers = pairs + ([ciphers[-1]] if len(ciphers) % 2 else [])
    return ciphers[0]


def decrypt(cipher: Cipher, modulus: int) -> NDArray[np.int64]:
    """The slots as residues."""
    try:
        slots = np.asarray(cipher.decrypt(), dtype=np.int64)
    except (ValueError, RuntimeError):
        raise DataError(
            "delegate: the response cannot be decrypted with this key; give the key file that the request was made with."
        ) from None
    if len(slots) != SLOTS:
        raise DataError("delegate: the response does not have the shape that was asked for; get it again.")
    residues: NDArray[np.int64] = slots % modulus
    return residues


def combine(residues: Sequence[int], moduli: Sequence[int]) -> int:
    """The number between −M/2 and M/2 with these residues (Chinese remainder theorem), M the product of the moduli."""
    whole = math.prod(moduli)
    total = 0
    for residue, modulus in zip(residues, moduli, strict=True):
        rest = whole // modulus
        total += residue * rest * pow(rest, -1, modulus)
    total %= whole
    return total - whole if total > whole // 2 else total
