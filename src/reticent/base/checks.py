# SPDX-License-Identifier: Apache-2.0
"""Parameter checks with one message pattern: owner: name must be …, got …."""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reticent.base.errors import ParameterError

_KINDS = {str: "a text", bool: "a truth value", int: "a whole number", float: "a number", list: "a list",
          tuple: "a list", dict: "a table", set: "a set", frozenset: "a set", bytes: "bytes", type(None): "nothing"}  # fmt: skip
RANGES = {"min": "at least", "above": "above", "max": "at most", "below": "below"}
"""The limits that the metadata of an option may have, in words."""
LONGEST_NAME, LONGEST_PATH = 255, 4_095
"""The longest names and paths, in bytes, that Linux takes; other systems take less."""
LEAST_REASON = 3
"""Letters that a reason for accepting a risk must have: a dot or an invisible character is none."""


def check_between(value: float, low: float, high: float, *, name: str, owner: str) -> None:
    """Refuse a number outside [low, high] (and any that is not a number)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        allowed = f"at least {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"
        raise ParameterError(f"{name} must be {allowed}, got {value!r}.", option=name).at(owner)


def check_integer(value: int, *, minimum: int, name: str, owner: str, maximum: int | None = None) -> None:
    """Refuse anything but an integer in [minimum, maximum]."""
    wrong = isinstance(value, bool) or not isinstance(value, int)
    if wrong or value < minimum or (maximum is not None and value > maximum):
        allowed = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise ParameterError(f"{name} must be a whole number {allowed}, got {value!r}.", option=name).at(owner)


def check_choice(value: str, allowed: Sequence[str], *, name: str, owner: str) -> None:
    """Refuse a word that is not one of the allowed ones; suggest the nearest."""
    if value not in allowed:
        words = listed(allowed)
        raise ParameterError(
            f"{name} must be one of {words}, got {value!r}.{did_you_mean(value, allowed)}", option=name
        ).at(owner)


def listed(words: Iterable[str]) -> str:
    """Words one after another; marks such as a comma in quotes."""
    return ", ".join(word if any(letter.isalnum() for letter in word) else repr(word) for word in words)


def check_options(given: Iterable[str], known: Iterable[str], *, owner: str) -> None:
    """Refuse the name of an option that nobody has declared; suggest the nearest."""
    for name in given:
        if name not in known:
            raise ParameterError(f"unknown option {name!r}.{did_you_mean(name, known)}", option=name).at(owner)


def check_unique(values: Iterable[str], *, name: str, owner: str) -> None:
    """Refuse a list in which something occurs twice."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise ParameterError(f"{name} has {value!r} twice; each may occur once.", option=name).at(owner)
        seen.add(value)


def check_reason(reason: object, *, owner: str, name: str = "accept_risk") -> None:
    """Refuse a reason for accepting a risk that says nothing; every door asks for the same."""
    if reason is not None and (not isinstance(reason, str) or sum(map(str.isalpha, reason)) < LEAST_REASON):
        raise ParameterError(f"{name} must give the reason, in words; leave it out to accept nothing.", option=name).at(
            owner
        )


def check_place(place: Path | str, *, owner: str) -> None:
    """Refuse a path that no operating system takes: a name of more than 255 bytes, or all of it of more than 4,095."""
    parts = [len(part.encode("utf-8", "replace")) for part in Path(place).parts]
    if max(parts, default=0) > LONGEST_NAME or sum(parts) + len(parts) > LONGEST_PATH:
        raise ParameterError(f"a path is too long (a name has at most {LONGEST_NAME} bytes); shorten it.").at(owner)


def check_names_file(place: Path | str, *, owner: str) -> None:
    """Refuse a path without a last part, such as `.` or `/`: nothing can be written beside it."""
    if not Path(place).name:
        raise ParameterError("this must be the path of a file, got that of a folder.").at(owner)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """' Did you mean …?' where something near is known, else an empty string."""
    near = difflib.get_close_matches(str(word), [str(k) for k in known], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def range_words(
    meta: Mapping[str, Any],
    *,
    number: Callable[[Any], str] = str,
    both: str = "between {} and {}",
    joined: str = " and ",
) -> str:
    """What the metadata of an option allow, in words.

    >>> range_words({"min": 1, "max": 5}), range_words({"above": 0, "below": 1})
    ('between 1 and 5', 'above 0 and below 1')
    """
    if meta.get("min") is not None and meta.get("max") is not None:
        return both.format(number(meta["min"]), number(meta["max"]))
    return joined.join(f"{word} {number(meta[name])}" for name, word in RANGES.items() if name in meta)


def kind_of(value: Any) -> str:
    """What a value is, in words; never the value itself."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return _KINDS.get(type(value), f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}")
