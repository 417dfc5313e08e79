"""Values as a field's type wants them: what fits is taken, what does not is one sentence that shows no long value."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

import numpy as np
import pytest

from reticent.base.errors import ParameterError
from reticent.data.conversion import check_allowed, convert, kind_of, shown


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


@dataclass(frozen=True)
class Point:
    x: float = 0.0


def made(value: Any, hint: Any, **meta: Any) -> Any:
    return convert(value, hint, "option", meta, lambda kind, table, where: kind(**table))


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        (3, int, 3),
        (3, float, 3.0),
        (np.int64(3), int, 3),
        (np.float64(0.5), float, 0.5),
        (np.str_("a"), str, "a"),
        (np.bool_(True), bool, True),
        ("red", Colour, Colour.RED),
        (Colour.GREEN, Colour, Colour.GREEN),
        (["a", "b"], tuple[str, ...], ("a", "b")),
        (range(3), tuple[int, ...], (0, 1, 2)),
        (np.array([1.5, 2.0]), tuple[float, ...], (1.5, 2.0)),
        ([1, "a"], tuple[int, str], (1, "a")),
        ({"a": 1}, Mapping[str, float], {"a": 1.0}),
        (None, int | None, None),
        (4, int | str, 4),
        ("4", int | str, "4"),
        ([1], int | tuple[int, ...], (1,)),
        ("low", Literal["low", "high"], "low"),
        ({"x": 2.0}, Point, Point(2.0)),
        (Point(3.0), Point, Point(3.0)),
        ([["a"]], tuple[tuple[str, ...], ...], (("a",),)),
        (object, Any, object),
    ],
)
def test_what_fits_is_taken(value: Any, hint: Any, expected: Any) -> None:
    found = made(value, hint)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "hint", "words"),
    [
        ("3", int, "must be a whole number, got a text"),
        (3.5, int, "must be a whole number, got a number"),
        (True, int, "got a truth value"),
        (1, bool, "must be true or false, got a whole number"),
        (True, float, "must be a number, got a truth value"),
        (float("nan"), float, "must be a finite number, got nan"),
        (float("inf"), float, "must be a finite number, got inf"),
        (10**400, float, "at most 308 digits"),
        ("rde", Colour, "must be one of red, green, got 'rde'. Did you mean 'red'?"),
        (1, Colour, "must be one of red, green, got 1"),
        ("lwo", Literal["low", "high"], "Did you mean 'low'?"),
        (1, Literal["low", "high"], "must be one of low, high, got 1"),
        ("abc", tuple[str, ...], "must be a list, got a text"),
        ([1, 2, 3], tuple[int, int], "must be a list of 2 items, got 3"),
        ([1, "a"], tuple[int, ...], "must be a whole number, got a text"),
        (["a"], Mapping[str, int], "must be a table of names and values, got a list"),
        ({"a": "b"}, Mapping[str, int], "option.a must be a whole number, got a text"),
        (2.5, int | str, "must be one of these kinds: a whole number, a text; got a number"),
        (None, int, "must be a whole number, got nothing"),
        ("x", Point, "must be a table of options, got a text"),
    ],
)
def test_what_does_not_fit_is_one_sentence(value: Any, hint: Any, words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        made(value, hint)
    said = str(caught.value)
    assert said.startswith("option")
    assert words in said
    assert "\n" not in said


def test_what_fits_already_is_the_same_object() -> None:
    """Frozen dataclasses share their tuples and tables with whoever made them; a copy would cost at every step."""
    names, table = ("a", "b"), {"a": 1.0}
    assert made(names, tuple[str, ...]) is names
    assert made(table, Mapping[str, float]) is table
    assert made(["a"], tuple[str, ...]) == ("a",)


def test_infinity_only_where_a_field_allows_it() -> None:
    assert made(float("inf"), float, infinite=True) == float("inf")
    with pytest.raises(ParameterError, match="finite"):
        made(float("nan"), float, infinite=True)


@pytest.mark.parametrize(
    ("value", "meta", "words"),
    [
        (0, {"min": 1}, "must be at least 1, got 0"),
        (11, {"max": 10}, "must be at most 10, got 11"),
        (11, {"min": 1, "max": 10}, "must be between 1 and 10, got 11"),
        (0.0, {"above": 0}, "must be above 0, got 0.0"),
        (1.0, {"below": 1}, "must be below 1, got 1.0"),
        (1.0, {"above": 0, "below": 1}, "must be above 0 and below 1, got 1.0"),
        (float("inf"), {"max": 10}, "must be at most 10"),
        ((5, 0), {"min": 1}, "must be at least 1, got 0"),
        ({"a": 0}, {"min": 1}, "option.a must be at least 1"),
        ("blue", {"choices": ("red", "green")}, "must be one of red, green"),
        (("red", "blue"), {"choices": ("red", "green")}, "got 'blue'"),
    ],
)
def test_ranges_and_choices(value: Any, meta: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check_allowed(value, meta, "option")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("value", "meta"),
    [(1, {"min": 1}), (None, {"min": 1}), (True, {"min": 5}), ((), {"min": 1}), ("red", {"choices": ("red",)}), ({}, {"max": 0})],
)  # fmt: skip
def test_ends_are_allowed_and_nothing_is_in_range(value: Any, meta: dict[str, Any]) -> None:
    check_allowed(value, meta, "option")


def test_long_texts_and_records_are_not_shown() -> None:
    assert shown("short") == "'short'"
    assert shown("x" * 100) == "a text"
    assert shown([1, 2]) == "a list"
    assert shown(3.5) == "3.5"
    assert kind_of({"a"}) == "a set"
    assert kind_of(Point()) == "a Point"
