# SPDX-License-Identifier: Apache-2.0
"""The handler: evaluates a request without any key, in a process of its own, and returns encrypted totals."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from reticent.base.errors import DataError
from reticent.base.progress import Progress, silent
from reticent.delegation.expression import MAX_DEGREE, Monomial, Row, row
from reticent.delegation.frames import Message, hash_of, read_message
from reticent.delegation.scheme import Evaluator, cipher_from, key_from

MAX_ITEMS = 10_000


def evaluate_request(raw: bytes, *, progress: Progress = silent) -> bytes:
    """The response to a request: for each modulus the encrypted total of each part, in the order of the request."""
    message = read_message(raw, "request")
    shape = RequestShape.of(message)
    payloads: list[bytes] = []
    for number, modulus in enumerate(shape.moduli):
        progress(number / len(shape.moduli), "evaluating")
        key = key_from(message.payloads[number], "public context")
        if key.is_private():
            raise DataError("delegate: the request carries a secret key; it was not used, make new keys.")
        columns: dict[str, Sequence[Any]] = {
            name: [cipher_from(key, message.payloads[at], "request") for at in shape.places(number, name)]
            for name in shape.columns
        }
        payloads += _totals(Evaluator(columns, modulus), shape, modulus)
    header = {
        "request": hash_of(raw),
        "nonce": message.header["nonce"],
        "parts": [part.text() for part in shape.parts],
        "zeros": [part.text() for part in shape.zeros],
        "moduli": list(shape.moduli),
    }
    return Message("response", header, tuple(payloads)).to_bytes()


def _totals(evaluator: Evaluator, shape: "RequestShape", modulus: int) -> list[bytes]:
    """The encrypted totals under one modulus; differences to be tested for zero are masked by a random factor."""
    try:
        found = [evaluator.total(part).serialize() for part in shape.parts]
        found += [evaluator.total(part, 1 + secrets.randbelow(modulus - 1)).serialize() for part in shape.zeros]
    except (ValueError, RuntimeError):
        raise DataError("delegate: the ciphertexts of the request cannot be computed with; make it again.") from None
    return found


class RequestShape:
    """What a request asks for, checked: columns, blocks, moduli, parts, and where each ciphertext is."""

    def __init__(
        self, columns: Sequence[str], blocks: int, moduli: Sequence[int], parts: Sequence[Row], zeros: Sequence[Row]
    ) -> None:  # fmt: skip
        self.columns, self.blocks, self.moduli = tuple(columns), blocks, tuple(moduli)
        self.parts, self.zeros = tuple(parts), tuple(zeros)

    @property
    def n_payloads(self) -> int:
        """Contexts first, then ciphertexts by modulus, column and block."""
        return len(self.moduli) * (1 + len(self.columns) * self.blocks)

    def places(self, modulus: int, name: str) -> range:
        """Where the ciphertexts of a column under a modulus are among the payloads."""
        column = self.columns.index(name)
        start = len(self.moduli) + (modulus * len(self.columns) + column) * self.blocks
        return range(start, start + self.blocks)

    def header(self, nonce: str, key: str) -> dict[str, Any]:
        """As it travels in a request."""
        return {
            "nonce": nonce, "key": key, "columns": list(self.columns), "blocks": self.blocks, "moduli": list(self.moduli),
            "parts": [_plain(part) for part in self.parts], "zeros": [_plain(part) for part in self.zeros],
        }  # fmt: skip

    @classmethod
    def of(cls, message: Message) -> "RequestShape":
        """The shape in a request; a request that asks for too much, or does not fit itself, is refused before any work."""
        header = message.header
        try:
            columns = [str(name) for name in header["columns"]]
            moduli = [int(modulus) for modulus in header["moduli"]]
            parts, zeros = ([_row(part) for part in header[name]] for name in ("parts", "zeros"))
            shape = cls(columns, int(header["blocks"]), moduli, parts, zeros)
            nonce = str(header["nonce"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise DataError("delegate: the request is malformed; make it again.") from None
        known = set(columns)
        fits = (
            nonce and columns and moduli and (parts or zeros) and shape.blocks > 0 and min(moduli) > 1
            and len(set(columns)) == len(columns)
            and shape.n_payloads == len(message.payloads) and len(parts) + len(zeros) <= MAX_ITEMS
            and all(part.columns and part.columns <= known for part in (*parts, *zeros))
        )  # fmt: skip
        if not fits:
            raise DataError("delegate: the request does not fit together; make it again.")
        deepest = max(part.degree for part in (*parts, *zeros))
        if deepest > MAX_DEGREE:
            raise DataError(
                f"delegate: the request multiplies {deepest} columns with one another; at most {MAX_DEGREE} come out exact."
            )
        return shape


def _plain(part: Row) -> list[list[Any]]:
    return [[list(names), factor] for names, factor in part.terms]


def _row(plain: Any) -> Row:
    terms: Mapping[Monomial, int] = {tuple(map(str, names)): int(factor) for names, factor in plain}
    return row(terms)
