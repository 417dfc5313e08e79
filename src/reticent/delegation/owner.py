# SPDX-License-Identifier: Apache-2.0
"""The owner: makes keys, encrypts declared columns, asks, and takes no result that does not verify.

Verification costs the owner one pass over the plain data per total, in 64-bit arithmetic: cheap beside the encrypted
evaluation, but not free; what it buys is that a handler cannot return anything else than what was asked for.
"""

import hmac
import json
import math
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_choice, check_options
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress, silent
from reticent.delegation.columns import (
    Column,
    Whole,
    as_fraction,
    as_whole,
    largest_total,
    scale_of,
    total_on_plain,
    whole_values,
)
from reticent.delegation.expression import Expression, Row, evaluate, parse
from reticent.delegation.frames import Message, hash_of, read_message
from reticent.delegation.handler import RequestShape
from reticent.delegation.parity import block_parities, refuse_always_even
from reticent.delegation.residues import chance_of_passing, fresh_primes, primes_needed
from reticent.delegation.scheme import (
    SLOTS,
    Cipher,
    cipher_from,
    combine,
    decrypt,
    encrypt,
    key_bytes,
    key_from,
    moduli_for,
    new_key,
)

CHECKS = ("residues", "parity", "both")


class WrongResultError(DataError):
    """A response to this request was decrypted and refused: its keys must not be used again.

    BFV does not withstand a handler who sends changed ciphertexts and learns each verdict: every verdict reveals something about
    the noise, and so about the key. One refusal per key tells next to nothing.
    """


@dataclass(frozen=True)
class Job:
    """What is delegated: columns with their bounds, expressions by name, and the largest result that is allowed."""

    columns: Mapping[str, Column]
    expressions: Mapping[str, str]
    bound: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping) or not self.columns or not self.expressions:
            raise ParameterError("delegate: needs at least one column and one expression.")
        for name in self.columns:
            if not name.isidentifier():
                raise ParameterError(f"delegate: the column {name!r} cannot be in an expression; rename it first.")

    def parsed(self) -> tuple[Expression, ...]:
        """The expressions, read and checked for depth before anything is encrypted."""
        found = tuple(parse(name, text, tuple(self.columns)) for name, text in self.expressions.items())
        if not any(item.zero is not None or any(total.columns for total in item.totals) for item in found):
            raise ParameterError("delegate: no expression needs a column; nothing would be delegated.")
        return found

    def refuse_check(self, check: str) -> None:
        """Refuse a check that proves nothing about these expressions, before anything is encrypted."""
        if check == "residues":
            return
        if check == "parity" and self.zeros():
            raise ParameterError("parity check: a masked difference has no parity to compare, so == needs residues.")
        for part in self.parts():
            refuse_always_even(_without_constant(as_whole(part, self.columns)))

    def parts(self) -> tuple[Row, ...]:
        """The different totals of all expressions that need data."""
        found = {total for item in self.parsed() for total in item.totals if total.columns}
        return tuple(sorted(found, key=Row.text))

    def largest(self, rows: int) -> int:
        """A bound on every total; refused if the declared bound is smaller."""
        wholes = [as_whole(part, self.columns) for part in (*self.parts(), *self.zeros())]
        largest = max((largest_total(part, self.columns, rows) for part in wholes), default=1)
        if self.bound is not None and largest > self.bound:
            raise ParameterError(
                f"delegate: a result may reach {largest} (whole numbers of the last decimal), more than the bound "
                f"{self.bound}; raise the bound or narrow the columns' bounds."
            )
        return max(largest, self.bound or 1)

    def zeros(self) -> tuple[Row, ...]:
        """The totals that are tested for zero (==)."""
        return tuple(item.zero for item in self.parsed() if item.zero is not None)


@dataclass(frozen=True)
class Keys:
    """The owner's keys for one job: a context with its secret key for each modulus. Never leaves the owner."""

    moduli: tuple[int, ...]
    contexts: tuple[Any, ...] = field(repr=False)
    fingerprint: str = field(default_factory=lambda: secrets.token_hex(16))
    """A random name of the keys, which reveals nothing about them."""

    def to_bytes(self) -> bytes:
        """For the owner's own file."""
        payloads = tuple(key_bytes(key, secret=True) for key in self.contexts)
        header = {"moduli": list(self.moduli), "fingerprint": self.fingerprint}
        return Message("keys", header, payloads).to_bytes()

    @classmethod
    def from_bytes(cls, raw: bytes) -> "Keys":
        """Keys from the owner's file."""
        message = read_message(raw, "keys")
        if message.header.get("spent"):
            raise DataError("delegate: these keys are spent, because a result under them was refused; make new keys.")
        moduli = message.header.get("moduli")
        fingerprint = message.header.get("fingerprint")
        if not isinstance(moduli, list) or len(moduli) != len(message.payloads) or not isinstance(fingerprint, str):
            raise DataError("delegate: the key file is malformed; make new keys.")
        contexts = tuple(key_from(payload, "key file") for payload in message.payloads)
        if not all(context.is_private() for context in contexts):
            raise DataError("delegate: the key file has no secret key; give the owner's own file.")
        return cls(tuple(int(modulus) for modulus in moduli), contexts, fingerprint)


def spent_keys() -> bytes:
    """What is in the place of keys after a refused result: no key, and a sentence about why."""
    return Message("keys", {"spent": True}, ()).to_bytes()


def make_keys(job: Job, rows: int) -> Keys:
    """Keys whose moduli together hold every result of the job over this many rows."""
    wholes = (*_wholes(job, job.parts()), *_wholes(job, job.zeros()))
    moduli = moduli_for(job.largest(rows), [factor for part in wholes for _, factor in part.terms])
    return Keys(moduli, tuple(new_key(modulus) for modulus in moduli))


@dataclass(frozen=True)
class Receipt:
    """What the owner keeps of a request: enough to take one response to it, once."""

    nonce: str
    request: str
    key: str
    used: bool = False

    def to_text(self) -> str:
        """For the owner's own file."""
        return json.dumps(vars(self), indent=2) + "\n"

    @classmethod
    def from_text(cls, text: str) -> "Receipt":
        """A receipt from the owner's file."""
        try:
            plain = json.loads(text)
            return cls(str(plain["nonce"]), str(plain["request"]), str(plain["key"]), plain["used"] is True)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise DataError("delegate: the receipt cannot be read; make a new request.") from None


def make_request(
    job: Job, keys: Keys, values: Mapping[str, Any], *, progress: Progress = silent
) -> tuple[bytes, Receipt]:
    """Encrypted columns with what is to be computed of them, and the receipt that the response will be checked against."""
    data = whole_values(values, job.columns)
    rows = len(next(iter(data.values())))
    _check_keys(job, keys, rows)
    used = {name for part in (*job.parts(), *job.zeros()) for name in part.columns}
    names = [name for name in job.columns if name in used]
    shape = RequestShape(
        names, math.ceil(rows / SLOTS), keys.moduli, _wholes(job, job.parts()), _wholes(job, job.zeros())
    )
    payloads = [key_bytes(key, secret=False) for key in keys.contexts]
    for number, (key, modulus) in enumerate(zip(keys.contexts, keys.moduli, strict=True)):
        progress(number / len(keys.moduli), "encrypting")
        for name in names:
            payloads += encrypt(key, data[name], modulus)
    nonce = secrets.token_hex(16)
    raw = Message("request", shape.header(nonce, keys.fingerprint), tuple(payloads)).to_bytes()
    return raw, Receipt(nonce, hash_of(raw), keys.fingerprint)


def _wholes(job: Job, parts: tuple[Row, ...]) -> list[Row]:
    return [_without_constant(as_whole(part, job.columns)) for part in parts]


def _without_constant(part: Row) -> Row:
    return Row(tuple((names, factor) for names, factor in part.terms if names))


def _check_keys(job: Job, keys: Keys, rows: int) -> None:
    if math.prod(keys.moduli) <= 2 * job.largest(rows) + 1:
        raise DataError("delegate: these keys are too small for the results of this job; make new keys for it.")


@dataclass(frozen=True, eq=False)
class Verified:
    """Results that verified, by name: a fraction, True or False for ==, None where a ratio has a zero denominator.

    `passing` bounds the probability that a wrong result is taken; None: there is no bound (parity alone).
    """

    results: Mapping[str, Fraction | bool | None]
    check: str
    primes: int
    passing: float | None
    rows: int

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "results": {name: _number(value) for name, value in self.results.items()},
            "check": self.check,
            "primes": self.primes,
            "a wrong result passes with probability at most": self.passing,
            "rows that the owner read to verify": self.rows,
        }


def _number(value: Fraction | bool | None) -> Any:
    if value is None or isinstance(value, bool):
        return value
    return int(value) if value.denominator == 1 else {"fraction": str(value), "about": float(value)}


class Verifying(TypedDict, total=False):
    """How a response is verified: by which check, with which primes, and what is called once it is taken."""

    check: str
    draw: Callable[[int], tuple[int, ...]] | None
    taken: Callable[[], None]
    progress: Progress


def open_response(
    job: Job, keys: Keys, receipt: Receipt, raw: bytes, values: Mapping[str, Any], **verifying: Unpack[Verifying]
) -> Verified:
    """Decrypt a response and verify every total; anything wrong is refused.

    `taken` is called once the message is whole and answers this request, before anything is decrypted: from there on the
    receipt must not be used again. After a `WrongResultError` the keys must not be used again either.
    """
    check_options(verifying, Verifying.__annotations__, owner="delegate")
    check = verifying.get("check", "residues")
    check_choice(check, CHECKS, name="check", owner="delegate")
    job.refuse_check(check)
    data = whole_values(values, job.columns)
    rows = len(next(iter(data.values())))
    _check_keys(job, keys, rows)
    message = read_message(raw, "response")
    _check_answer(job, keys, receipt, message)
    ciphers = _ciphers(keys, message)
    verifying.get("taken", lambda: None)()
    draw, progress = verifying.get("draw") or fresh_primes, verifying.get("progress", silent)
    try:
        return _verified(job, keys, ciphers, data, check=check, draw=draw, progress=progress)
    except DataError as err:
        raise err.as_kind(WrongResultError).advise("From now on these keys are spent: make new ones.") from err


def _verified(
    job: Job, keys: Keys, ciphers: list[list[Cipher]], data: Mapping[str, Whole], *,
    check: str, draw: Callable[[int], tuple[int, ...]], progress: Progress,
) -> Verified:  # fmt: skip
    """The results of a response, decrypted; every total must agree with the plain data."""
    rows = len(next(iter(data.values())))
    parts = job.parts()
    slots = _slots(keys, ciphers)
    bound = job.largest(rows)
    primes = draw(primes_needed(bound)) if check != "parity" else ()
    totals: dict[Row, Fraction] = {}
    for number, part in enumerate(parts):
        progress(number / max(1, len(parts)), "verifying")
        whole = as_whole(part, job.columns)
        total = _total(slots[number], keys.moduli) + _constant(whole) * rows
        _verify(part, whole, total, bound, data, primes)
        if check != "residues":
            _verify_parity(whole, slots[number], keys.moduli, data)
        totals[part] = as_fraction(total, scale_of(part, job.columns))
    results = _results(job, totals, rows, _zero_tests(job, slots[len(parts) :], keys.moduli, data, primes))
    passing = chance_of_passing(bound, len(primes)) if primes else None  # parity never finds an even change
    return Verified(results, check, len(primes), passing, rows)


def _check_answer(job: Job, keys: Keys, receipt: Receipt, message: Message) -> None:
    if receipt.used:
        raise DataError("delegate: this request has had its answer; a response is accepted once, make a new request.")
    if not hmac.compare_digest(receipt.key, keys.fingerprint):
        raise DataError("delegate: the request was made with other keys; give the file of those.")
    header = message.header
    if header.get("nonce") != receipt.nonce or header.get("request") != receipt.request:
        raise DataError("delegate: the response answers another request; it is not accepted.")
    claimed = [part.text() for part in _wholes(job, job.parts())], [part.text() for part in _wholes(job, job.zeros())]
    if (header.get("parts"), header.get("zeros")) != claimed or header.get("moduli") != list(keys.moduli):
        raise DataError("delegate: the response claims other expressions than were asked for; it is not accepted.")
    if len(message.payloads) != len(keys.moduli) * (len(claimed[0]) + len(claimed[1])):
        raise DataError("delegate: the response does not have a result for each expression; it is not accepted.")


def _ciphers(keys: Keys, message: Message) -> list[list[Cipher]]:
    """For each modulus, the encrypted totals; whether they can be read depends on no secret."""
    own = len(message.payloads) // len(keys.moduli)
    return [
        [cipher_from(key, raw, "response") for raw in message.payloads[number * own : (number + 1) * own]]
        for number, key in enumerate(keys.contexts)
    ]


def _slots(keys: Keys, ciphers: list[list[Cipher]]) -> list[list[NDArray[np.int64]]]:
    """For each part, the slots under each modulus."""
    decrypted = [
        [decrypt(cipher, modulus) for cipher in own] for own, modulus in zip(ciphers, keys.moduli, strict=True)
    ]
    return [list(slots) for slots in zip(*decrypted, strict=True)]


def _total(slots: list[NDArray[np.int64]], moduli: tuple[int, ...]) -> int:
    residues = [int(own.sum()) % modulus for own, modulus in zip(slots, moduli, strict=True)]
    return combine(residues, moduli)


def _constant(part: Row) -> int:
    return sum(factor for names, factor in part.terms if not names)


def _verify(part: Row, whole: Row, total: int, bound: int, data: Mapping[str, Whole], primes: tuple[int, ...]) -> None:
    if abs(total) > bound:
        raise DataError(f"delegate: the result for {part.text()} is larger than its bound; it is not accepted.")
    if any(total % prime != total_on_plain(whole, data, prime) for prime in primes):
        raise DataError(f"delegate: the result for {part.text()} is not what was asked for; it is not accepted.")


def _verify_parity(
    whole: Row, slots: list[NDArray[np.int64]], moduli: tuple[int, ...], data: Mapping[str, Whole]
) -> None:
    """The parity of each block of the total: as many intermediate results as there are slots."""
    varying = _without_constant(whole)
    found = [combine([int(own[slot]) for own in slots], moduli) & 1 for slot in range(SLOTS)]
    if (np.array(found) != block_parities(varying, data, SLOTS)).any():
        raise DataError(f"delegate: the parity of {whole.text()} is not what was claimed; the result is not accepted.")


def _zero_tests(
    job: Job, slots: list[list[NDArray[np.int64]]], moduli: tuple[int, ...], data: Mapping[str, Whole],
    primes: tuple[int, ...],
) -> list[bool]:  # fmt: skip
    """Whether each masked difference is zero, against the plain data modulo the primes."""
    found = []
    for zero, own in zip(job.zeros(), slots, strict=True):
        whole = as_whole(zero, job.columns)
        equal = _total(own, moduli) == 0
        if primes and any((total_on_plain(whole, data, prime) == 0) != equal for prime in primes):
            raise DataError("delegate: the result of an equality is not what was asked for; it is not accepted.")
        found.append(equal)
    return found


def _results(job: Job, totals: dict[Row, Fraction], rows: int, equal: list[bool]) -> dict[str, Fraction | bool | None]:
    results: dict[str, Fraction | bool | None] = {}
    answers = iter(equal)
    for item in job.parsed():
        if item.value is None:
            results[item.name] = next(answers)
            continue
        known = dict(totals)
        for total in item.totals:
            if not total.columns:  # count() and constants need no data
                known[total] = Fraction(_constant(total) * rows)
        results[item.name] = evaluate(item.value, known)
    return results
