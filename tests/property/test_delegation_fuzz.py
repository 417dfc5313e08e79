"""Keys, requests and responses of arbitrary bytes, sealed as if they were right: one sentence each, or the right result."""

import random

import numpy as np
import pytest

from reticent.base.errors import DataError
from reticent.delegation.columns import Column
from reticent.delegation.frames import Message, read_message
from reticent.delegation.handler import evaluate_request
from reticent.delegation.owner import Job, Keys, make_keys, make_request, open_response

pytest.importorskip("tenseal", reason="delegation: tenseal is not installed")

FEW, MANY = 34, 3000
JOB = Job({"x": Column(-1000, 1000), "y": Column(0, 500)}, {"s": "sum(x)", "p": "sum(x*y)", "e": "sum(x) == sum(y)"})
VALUES = {"x": np.arange(50) - 20, "y": np.arange(50)}


class Sent:
    """One delegation: what each file holds."""

    def __init__(self) -> None:
        self.keys = make_keys(JOB, 50)
        request, self.receipt = make_request(JOB, self.keys, VALUES)
        self.raw = {"keys": self.keys.to_bytes(), "request": request, "response": evaluate_request(request)}

    def use(self, kind: str, raw: bytes) -> None:
        """What a program does with such a file; a response that is taken must have the right results."""
        if kind == "keys":
            Keys.from_bytes(raw)
        elif kind == "request":
            evaluate_request(raw)
        else:
            found = open_response(JOB, self.keys, self.receipt, raw, VALUES).results
            assert found == {"s": 225, "p": 15925, "e": False}


@pytest.fixture(scope="module")
def sent() -> Sent:
    return Sent()


def damaged(raw: bytes, rng: random.Random) -> bytes:
    """Random bytes, a part, bits or bytes changed (often near the beginning, where sizes stand), two parts joined."""
    kind, place = rng.randrange(6), rng.randrange(len(raw))
    near = rng.randrange(min(200, len(raw)))
    flipped = bytes([raw[place] ^ 1 << rng.randrange(8)])
    return (
        rng.randbytes(rng.choice([0, 1, 7, 16, 64, 300, len(raw)])),
        raw[:place],
        raw[:place] + flipped + raw[place + 1 :],
        raw[:near] + bytes([raw[near] ^ 1 << rng.randrange(8)]) + raw[near + 1 :],
        raw[:near] + rng.randbytes(8) + raw[near + 8 :],
        raw[:place] + raw[rng.randrange(len(raw)) :],
    )[kind]


def check_one(sent: Sent, number: int) -> None:
    rng = random.Random(number)
    kind = rng.choice(["keys", "request", "request", "response"])
    raw = sent.raw[kind]
    if number % 4 == 0:
        raw = damaged(raw, rng)
    else:  # contexts and ciphertexts, in a message whose digest fits
        message = read_message(raw, kind)
        payloads = list(message.payloads)
        at = rng.randrange(len(payloads))
        other = read_message(sent.raw[source := rng.choice(list(sent.raw))], source).payloads
        payloads[at] = rng.choice(other) if number % 4 == 1 else damaged(payloads[at], rng)
        raw = Message(kind, message.header, tuple(payloads)).to_bytes()
    said = "delegate: fine"
    try:
        sent.use(kind, raw)
    except DataError as err:
        said = str(err)
    assert said.startswith("delegate: ")
    assert "\n" not in said


@pytest.mark.parametrize("number", range(FEW))
def test_arbitrary_bytes_give_one_sentence(sent: Sent, number: int) -> None:
    check_one(sent, number)


@pytest.mark.deep
def test_thousands_of_arbitrary_bytes(sent: Sent) -> None:
    for number in range(FEW, FEW + MANY):
        check_one(sent, number)
