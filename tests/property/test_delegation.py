"""A handler may do what it likes: whatever is not the answer to this request is refused; honest answers are exact."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.delegation.columns import Column
from reticent.delegation.expression import MAX_DEGREE
from reticent.delegation.frames import Message, read_message
from reticent.delegation.handler import RequestShape, evaluate_request
from reticent.delegation.owner import Job, Keys, Receipt, make_keys, make_request, open_response

pytest.importorskip("tenseal", reason="delegation: tenseal is not installed")

FEW, MANY = 48, 10_000
JOB = Job(
    {"x": Column(-1000, 1000), "y": Column(0, 500, decimals=2)},
    {"sum": "sum(x)", "product": "sum(x*y)", "squares": "sum(x*x) + 3", "same": "sum(x) == sum(y)"},
)


class Played:
    """One owner with two open requests and their honest answers."""

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        self.values = {"x": rng.integers(-1000, 1000, 50), "y": rng.integers(0, 50000, 50) / 100}
        self.keys = make_keys(JOB, 50)
        self.request, self.receipt = make_request(JOB, self.keys, self.values)
        self.other, self.other_receipt = make_request(JOB, self.keys, self.values)
        self.response, self.other_response = evaluate_request(self.request), evaluate_request(self.other)

    def take(self, raw: bytes, receipt: Receipt | None = None, **options: Any) -> dict[str, Any]:
        found = open_response(JOB, self.keys, receipt or self.receipt, raw, self.values, **options)
        return dict(found.results)


@pytest.fixture(scope="module")
def played() -> Played:
    return Played()


def test_an_honest_answer_is_exact(played: Played) -> None:
    x, y = played.values["x"], np.rint(played.values["y"] * 100).astype(int)
    expected = {
        "sum": Fraction(int(x.sum())), "product": Fraction(int((x * y).sum()), 100),
        "squares": Fraction(int((x * x).sum()) + 3), "same": False,
    }  # fmt: skip
    assert played.take(played.response) == expected
    assert played.take(played.response, check="both") == expected


def resealed(raw: bytes, change: Callable[[dict[str, Any], list[bytes]], None]) -> bytes:
    """A response changed by somebody who knows the format: the digest fits again."""
    message = read_message(raw, "response")
    header, payloads = dict(message.header), list(message.payloads)
    change(header, payloads)
    return Message("response", header, tuple(payloads)).to_bytes()


def tampered(played: Played, rng: random.Random) -> bytes:
    """A response that is wrong in a random way."""
    raw = played.response
    kind = rng.randrange(8)
    if kind == 0:  # cut off
        return raw[: rng.randrange(len(raw))]
    if kind == 1:  # a bit changed on the way
        place = rng.randrange(len(raw))
        return raw[:place] + bytes([raw[place] ^ 1 << rng.randrange(8)]) + raw[place + 1 :]
    if kind == 2:  # the answer to another request
        return played.other_response
    if kind == 3:  # bytes added
        return raw + rng.randbytes(rng.randrange(1, 50))

    def change(header: dict[str, Any], payloads: list[bytes]) -> None:
        if kind == 4:  # results in another order
            first, second = rng.sample(range(len(payloads)), 2)
            payloads[first], payloads[second] = payloads[second], payloads[first]
        elif kind == 5:  # a result of another request, under this one's header
            at = rng.randrange(3)
            payloads[at] = payloads[(at + 1) % 3]
        elif kind == 6:  # a ciphertext changed by the handler itself
            at = rng.randrange(len(payloads))
            place = rng.randrange(len(payloads[at]))
            changed = bytes([payloads[at][place] ^ 1 << rng.randrange(8)])
            payloads[at] = payloads[at][:place] + changed + payloads[at][place + 1 :]
        else:  # a claim, a result or a number missing or changed
            what = rng.choice(["parts", "zeros", "moduli", "nonce", "request", "payload"])
            if what == "payload":
                payloads.pop(rng.randrange(len(payloads)))
            elif isinstance(header[what], list):
                header[what] = header[what][1:] + header[what][:1] if len(header[what]) > 1 else []
            else:
                header[what] = header[what][::-1]

    return resealed(raw, change)


def check_refused(played: Played, number: int) -> None:
    raw = tampered(played, random.Random(number))
    assert raw != played.response
    try:
        found = played.take(raw)
    except DataError:
        return
    # a bit in an unused part of a ciphertext's encoding may leave the same numbers: then nothing was changed
    assert found == played.take(played.response)


@pytest.mark.parametrize("number", range(FEW))
def test_what_was_not_asked_for_is_refused(played: Played, number: int) -> None:
    check_refused(played, number)


@pytest.mark.deep
def test_ten_thousand_wrong_messages(played: Played) -> None:
    for number in range(FEW, FEW + MANY):
        check_refused(played, number)


def test_a_response_is_taken_once(played: Played) -> None:
    with pytest.raises(DataError, match="has had its answer"):
        played.take(played.response, replace(played.receipt, used=True))


def test_other_keys_do_not_open_it(played: Played) -> None:
    keys = make_keys(JOB, 50)
    with pytest.raises(DataError, match="made with other keys"):
        open_response(JOB, keys, played.receipt, played.response, played.values)
    pretending = Keys(keys.moduli, keys.contexts, played.keys.fingerprint)
    with pytest.raises(DataError, match="not what was asked for|larger than its bound|cannot be"):
        open_response(JOB, pretending, played.receipt, played.response, played.values)


def test_decimals_that_are_not_declared_are_refused_however_large_the_number() -> None:
    job = Job({"x": Column(0, 10**7)}, {"sum": "sum(x)"})
    with pytest.raises(DataError, match="more than 0 decimals"):
        make_request(job, make_keys(job, 2), {"x": np.array([600000.4, 1000.0])})
    fine = Job({"x": Column(0.29, 10**7, decimals=2)}, {"sum": "sum(x)"})
    with pytest.raises(DataError, match="outside its declared bounds"):
        make_request(fine, make_keys(fine, 1), {"x": np.array([0.28])})
    assert make_request(fine, make_keys(fine, 2), {"x": np.array([0.29, 9999999.99])})


def test_a_check_that_proves_nothing_is_refused_before_any_work(played: Played) -> None:
    with pytest.raises(ParameterError, match="needs residues"):
        played.take(played.response, check="parity")
    even = Job({"x": Column(0, 9)}, {"e": "sum(x*x + x)"})
    with pytest.raises(ParameterError, match="even whatever the data are"):
        even.refuse_check("both")


def test_a_factor_that_vanishes_under_a_modulus_is_still_exact() -> None:
    modulus = make_keys(JOB, 50).moduli[0]
    high, low = divmod(modulus, 1000)
    job = Job({"x": Column(0, 9)}, {"e": f"sum(({high // 1000}*1000*1000 + {high % 1000}*1000 + {low})*x)"})
    keys = make_keys(job, 3)
    request, receipt = make_request(job, keys, {"x": np.array([1, 2, 3])})
    found = open_response(job, keys, receipt, evaluate_request(request), {"x": np.array([1, 2, 3])})
    assert found.results["e"] == 6 * modulus


@pytest.mark.parametrize("change", [
    {"blocks": float("inf")}, {"moduli": [0, 1]}, {"moduli": [-5, 7]}, {"columns": ["x", "x"]}, {"parts": [[[["x"], 1e400]]]},
    {"parts": [], "zeros": []}, {"parts": "x"},
])  # fmt: skip
def test_odd_requests_get_one_sentence(played: Played, change: dict[str, Any]) -> None:
    message = read_message(played.request, "request")
    with pytest.raises(DataError, match="delegate: "):
        evaluate_request(Message("request", {**message.header, **change}, message.payloads).to_bytes())


def test_empty_ciphertexts_get_one_sentence(played: Played) -> None:
    message = read_message(played.request, "request")
    payloads = (*message.payloads[:-1], b"")
    with pytest.raises(DataError, match="delegate: "):
        evaluate_request(Message("request", message.header, payloads).to_bytes())


def test_keys_survive_their_file(played: Played) -> None:
    again = Keys.from_bytes(played.keys.to_bytes())
    assert open_response(JOB, again, played.receipt, played.response, played.values).results["same"] is False
    with pytest.raises(DataError, match="no secret key|is needed here"):
        Keys.from_bytes(played.request)


def test_the_request_holds_no_secret_key(played: Played) -> None:
    import tenseal

    message = read_message(played.request, "request")
    for number in range(len(played.keys.moduli)):
        assert not tenseal.context_from(message.payloads[number]).is_private()


def cheating_response(played: Played, claimed_by: int) -> bytes:
    """The honest totals, but `claimed_by` added to the first one: what a handler without any key can do."""
    import tenseal

    request = read_message(played.request, "request")
    shape = RequestShape.of(request)

    def change(header: dict[str, Any], payloads: list[bytes]) -> None:
        per_modulus = len(shape.parts) + len(shape.zeros)
        for number in range(len(shape.moduli)):
            context = tenseal.context_from(request.payloads[number])
            cipher = tenseal.bfv_vector_from(context, payloads[number * per_modulus])
            payloads[number * per_modulus] = (cipher + [claimed_by, *[0] * 8191]).serialize()

    return resealed(played.response, change)


def test_a_cheating_handler_passes_small_primes_at_the_predicted_rate(played: Played) -> None:
    """A result off by 6 passes with one prime from {2, 3, 5, 7, 11, 13} exactly when it is 2 or 3; two fresh ones find it."""
    wrong = cheating_response(played, 6)
    passed = 0
    for prime in (2, 3, 5, 7, 11, 13):
        try:
            played.take(wrong, draw=lambda _, prime=prime: (prime,))
            passed += 1
        except DataError:
            pass
    assert passed == 2
    with pytest.raises(DataError, match="not what was asked for"):
        played.take(wrong)


def test_parity_finds_odd_changes_and_misses_even_ones(played: Played) -> None:
    import tenseal

    job = Job({"x": JOB.columns["x"]}, {"sum": "sum(x)"})
    values = {"x": played.values["x"]}
    keys = make_keys(job, 50)
    request, receipt = make_request(job, keys, values)
    honest = read_message(evaluate_request(request), "response")

    def changed(by: int) -> bytes:
        payloads = []
        for number, raw in enumerate(honest.payloads):
            cipher = tenseal.bfv_vector_from(
                tenseal.context_from(read_message(request, "request").payloads[number]), raw
            )
            payloads.append((cipher + [by, *[0] * 8191]).serialize())
        return Message("response", honest.header, tuple(payloads)).to_bytes()

    with pytest.raises(DataError, match="parity"):
        open_response(job, keys, receipt, changed(7), values, check="parity")
    found = open_response(job, keys, receipt, changed(6), values, check="parity")  # why residues are the default
    assert found.passing is None


def test_products_of_four_columns_are_exact_and_of_five_refused() -> None:
    rng = np.random.default_rng(8)
    values = {name: rng.integers(-30, 30, 9000) for name in "abcd"}
    columns = {name: Column(-30, 30) for name in "abcd"}
    job = Job(columns, {"deep": "sum(a*b*c*d - 7*a*a*b*b)"})
    keys = make_keys(job, 9000)
    request, receipt = make_request(job, keys, values)
    found = open_response(job, keys, receipt, evaluate_request(request), values).results["deep"]
    a, b, c, d = (values[name].astype(object) for name in "abcd")
    assert found == int((a * b * c * d - 7 * a * a * b * b).sum())
    message = read_message(request, "request")
    header = {**message.header, "parts": [[[["a"] * (MAX_DEGREE + 1), 1]]]}
    with pytest.raises(DataError, match="multiplies 5 columns"):
        evaluate_request(Message("request", header, message.payloads).to_bytes())
