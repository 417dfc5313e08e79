"""Checks with one pattern of sentence, plain data for JSON, numbers as people read them."""

import json
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import pytest

from reticent.base.checks import (
    check_between,
    check_choice,
    check_integer,
    check_options,
    check_reason,
    check_unique,
    did_you_mean,
)
from reticent.base.errors import ParameterError
from reticent.base.plain import as_plain, finite
from reticent.base.words import THIN, number


@pytest.mark.parametrize("value", [0.0, 0.5, 1, 1.0])
def test_numbers_within_their_ends(value: float) -> None:
    check_between(value, 0.0, 1.0, name="share", owner="noise")


@pytest.mark.parametrize("value", [-1e-9, 1.0000001, math.nan, math.inf, True, "0.5", None])
def test_numbers_outside_and_what_is_no_number(value: Any) -> None:
    with pytest.raises(ParameterError, match="^noise: share must be between 0 and 1, got "):
        check_between(value, 0.0, 1.0, name="share", owner="noise")


def test_an_open_end_is_said_as_such() -> None:
    check_between(1e300, 1.0, math.inf, name="time", owner="search")
    with pytest.raises(ParameterError, match="time must be at least 1, got 0"):
        check_between(0, 1.0, math.inf, name="time", owner="search")


@pytest.mark.parametrize("value", [2, 2.0, True, "3", None, 11])
def test_whole_numbers(value: Any) -> None:
    check_integer(3, minimum=3, maximum=10, name="k", owner="it")
    with pytest.raises(ParameterError, match="^it: k must be a whole number from 3 to 10, got "):
        check_integer(value, minimum=3, maximum=10, name="k", owner="it")
    if value in (2, None):
        with pytest.raises(ParameterError, match="of at least 3"):
            check_integer(value, minimum=3, name="k", owner="it")


def test_choices_options_and_lists_name_what_is_near() -> None:
    check_choice("l1", ("l1", "l2"), name="norm", owner="adjust")
    with pytest.raises(ParameterError, match=r"one of heuristic, optimal, got 'optimum'\. Did you mean 'optimal'\?"):
        check_choice("optimum", ("heuristic", "optimal"), name="method", owner="it")
    check_options({"rules": ()}, ("rules", "method"), owner="protect")
    with pytest.raises(ParameterError, match=r"^protect: unknown option 'rulse'\. Did you mean 'rules'\?$"):
        check_options({"rulse": ()}, {"rules": tuple, "method": str}, owner="protect")
    with pytest.raises(ParameterError, match=r"^protect: unknown option 'x'\.$"):
        check_options(["x"], ("rules", "method"), owner="protect")
    check_unique(["a", "b"], name="keys", owner="it")
    with pytest.raises(ParameterError, match="keys has 'a' twice"):
        check_unique(["a", "b", "a"], name="keys", owner="it")
    assert did_you_mean("zzz", ["rules"]) == ""


@pytest.mark.parametrize("reason", ["", " ", ".", "ok", "--- !!!", 7, "\u200b\u200b\u200b", ["a reason"]])
def test_a_reason_has_letters(reason: object) -> None:
    with pytest.raises(ParameterError, match="accept_risk must give the reason, in words"):
        check_reason(reason, owner="release")


@pytest.mark.parametrize("reason", [None, "test", "une décision du comité", "承認済みです"])
def test_nothing_or_words_in_any_script(reason: str | None) -> None:
    check_reason(reason, owner="release")


class State(StrEnum):
    HELD = "held"


@dataclass(frozen=True)
class Finding:
    cells: tuple[int, ...]
    state: State


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (State.HELD, "held"),
        (np.int64(3), 3),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        ({State.HELD: np.float64(0.5)}, {"held": 0.5}),
        ({1: (2, 3)}, {"1": [2, 3]}),
        ({"b", "a"}, ["a", "b"]),
        (Finding((1,), State.HELD), {"cells": [1], "state": "held"}),
        ([Finding((), State.HELD)], [{"cells": [], "state": "held"}]),
        (None, None),
        (True, True),
        (Finding, str(Finding)),
    ],
)
def test_plain_data_for_json(value: Any, plain: Any) -> None:
    assert as_plain(value) == plain
    json.dumps(as_plain(value))


def test_open_ends_and_the_noise_of_floats() -> None:
    assert finite(math.inf) is None
    assert finite(math.nan) is None
    assert finite(0.1 + 0.2) == 0.3
    assert str(finite(-1e-12)) == "0.0"
    assert finite(1.23456789, 2) == 1.23


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (True, "yes"), (False, "no"), (1234567, f"1{THIN}234{THIN}567"), (-1234, f"-1{THIN}234"),
        (0.0, "0"), (1e-12, "0"), (2.0, "2"), (0.123456789, "0.123"), (math.nan, "–"),
        (math.inf, "∞"), (-math.inf, "−∞"), ("text", "text"),
        (1234567.891, f"1{THIN}234{THIN}568"),
    ],
)  # fmt: skip
def test_numbers_for_people(value: object, text: str) -> None:
    assert number(value) == text
