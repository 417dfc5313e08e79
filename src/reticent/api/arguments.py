# SPDX-License-Identifier: Apache-2.0
"""What people pass from Python, checked before any work: one sentence says what is wrong and what is allowed."""

from collections.abc import Iterable
from typing import Any

from reticent.base.checks import check_choice, kind_of
from reticent.base.errors import ParameterError
from reticent.frames.marks import DECIMALS, SEPARATORS, Marks


def names_of(value: Any, name: str, owner: str) -> tuple[str, ...]:
    """A list of texts; a single text would be read letter by letter, so it is refused."""
    if isinstance(value, str):
        raise ParameterError(f"{owner}: {name} must be a list of names, got a text; write [{value!r}].")
    if not isinstance(value, Iterable):
        raise ParameterError(f"{owner}: {name} must be a list of names, got {kind_of(value)}.")
    names = tuple(value)
    for item in names:
        if not isinstance(item, str):
            raise ParameterError(f"{owner}: {name} must hold names as texts, found {kind_of(item)}.")
    return names


def name_of(value: Any, name: str, owner: str) -> tuple[str, ...]:
    """One name, or none."""
    if value is None:
        return ()
    if not isinstance(value, str):
        raise ParameterError(f"{owner}: {name} must be the name of one variable, got {kind_of(value)}.")
    return (value,)


def refuse_type(value: Any, wanted: type | tuple[type, ...], name: str, owner: str, words: str) -> None:
    """Refuse a value of another type."""
    if not isinstance(value, wanted):
        raise ParameterError(f"{owner}: {name} must be {words}, got {kind_of(value)}.")


def list_of(value: Any, wanted: type, name: str, owner: str, words: str) -> tuple[Any, ...]:
    """A list whose items all have one type; `words` say what an item is."""
    if isinstance(value, wanted):
        raise ParameterError(f"{owner}: {name} must be a list, got one {type(value).__name__}; put it in brackets.")
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ParameterError(f"{owner}: {name} must be a list of {words}, got {kind_of(value)}.")
    items = tuple(value)
    for item in items:
        if isinstance(item, type):
            raise ParameterError(f"{owner}: {name} holds the class {item.__name__}; write {item.__name__}(…).")
        if not isinstance(item, wanted):
            raise ParameterError(f"{owner}: {name} must hold {words}, found {kind_of(item)}.")
    return items


def marks_of(separator: str | None, decimal: str | None, keep_formulas: bool) -> Marks:
    """The marks of a text file that is written, each one that can be."""
    for value, allowed, name in ((separator, SEPARATORS, "separator"), (decimal, DECIMALS, "decimal")):
        if value is not None:
            check_choice(value, allowed, name=name, owner="write")
    if separator == decimal == ",":
        raise ParameterError("write: a decimal comma needs another separator; give separator=';'.")
    return Marks(separator, decimal, keep_formulas)


OF_RUNS = dict.fromkeys(
    ("to_frame", "write", "public_report", "masked", "file"),
    " It is confidential: release() gives what may leave, and confidential_frame() the true values.",
)
"""What to use instead of names that a confidential run does not have."""
OF_DATA = dict.fromkeys(
    ("to_frame", "write", "release", "public_report"),
    " The data are confidential: protect() or tabulate() them, and release() what that gives.",
)
OF_PUBLISHED = dict.fromkeys(
    ("risk", "protect", "tabulate", "verdict", "explore", "release"),
    " It is what leaves: its risk is that of the run that released it, and the data from load() are protected.",
)


def records_of(earlier: Any) -> Any:
    """Pairs (name, data from `load`) with the records instead of the data; whatever else there is, others refuse."""
    if not isinstance(earlier, list | tuple):
        return earlier
    return [
        (item[0], getattr(item[1], "microdata", item[1])) if isinstance(item, tuple | list) and len(item) == 2 else item
        for item in earlier
    ]
