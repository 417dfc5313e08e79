# SPDX-License-Identifier: Apache-2.0
"""Between options and the texts of a form: what shape a type has, how a value is written, how a text is read.

A list of numbers stands on one line, a list of texts has one line per item, a list of lists one line per list with commas,
a table `name = value` on each line. What a text cannot be is left a text: the library then says what is wrong with it.
"""

import dataclasses
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

LARGEST_WHOLE = 10**15
_WHOLE = re.compile(r"^[+-]?\d{1,15}$")
_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$|^[+-]?inf$")


@dataclass(frozen=True)
class Shape:
    """What a type means for a form."""

    item: Any = str
    """The type of a single value."""
    many: bool = False
    deep: bool = False
    """A list of lists."""
    table: bool = False
    optional: bool = False
    switch: bool = False
    choices: tuple[str, ...] = ()
    nested: type[Any] | None = None

    @property
    def numeric(self) -> bool:
        """Whether a single value can only be a number."""
        return set(_kinds(self.item)) <= {int, float}

    @property
    def lines(self) -> bool:
        """Whether the value needs more than one line."""
        return self.table or self.deep or (self.many and not self.numeric)


def shape_of(hint: Any, meta: Mapping[str, Any]) -> Shape:
    """The shape of a field's type."""
    optional, hint = _without_none(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        inner = typing.get_origin(args[1]) is tuple
        return Shape(typing.get_args(args[1])[0] if inner else args[1], many=inner, table=True, optional=optional)
    if origin is tuple:
        _, item = _without_none(args[0])
        if typing.get_origin(item) is tuple:
            return Shape(typing.get_args(item)[0], many=True, deep=True, optional=optional)
        return dataclasses.replace(_single(item, meta), many=True, optional=optional)
    return dataclasses.replace(_single(hint, meta), optional=optional)


def _single(hint: Any, meta: Mapping[str, Any]) -> Shape:
    choices = tuple(map(str, meta.get("choices", ())))
    if hint is bool:
        return Shape(bool, switch=True)
    if typing.get_origin(hint) is typing.Literal:
        return Shape(str, choices=tuple(map(str, typing.get_args(hint))))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Shape(str, choices=tuple(str(member.value) for member in hint))
    nested = next((one for one in _kinds(hint) if dataclasses.is_dataclass(one)), None)
    if nested is not None:
        return Shape(hint, nested=typing.cast(type[Any], nested))
    return Shape(hint, choices=choices)


def _kinds(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _without_none(hint: Any) -> tuple[bool, Any]:
    """Whether None is allowed, and the type without it."""
    kinds = _kinds(hint)
    if type(None) not in kinds:
        return False, hint
    rest = tuple(kind for kind in kinds if kind is not type(None))
    return True, rest[0] if len(rest) == 1 else typing.Union[rest]  # noqa: UP007


def written(value: Any, shape: Shape) -> str:
    """A value as the text of its field."""
    if isinstance(value, Mapping):
        return "\n".join(f"{name} = {_items(item)}" for name, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        if shape.deep:
            return "\n".join(_items(row) for row in value)
        return ("\n" if shape.lines else ", ").join(_one(item) for item in value)
    return _one(value)


def _items(value: Any) -> str:
    return ", ".join(map(_one, value)) if isinstance(value, list | tuple) else _one(value)


def _one(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_WHOLE:
        return str(int(value))
    return str(value)


def taken(text: str, shape: Shape) -> Any:
    """A text as the value of its field; None where the field is empty."""
    text = text.replace("\r\n", "\n")
    if not text.strip():
        return None
    if shape.table:
        return dict(_pair(line, shape) for line in _lines(text))
    if shape.deep:
        return [_split(line, shape) for line in _lines(text)]
    if shape.many:
        return [_value(line, shape) for line in _lines(text)] if shape.lines else _split(text, shape)
    return _value(text.strip(), shape)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _split(text: str, shape: Shape) -> list[Any]:
    """Items between commas (of numbers, also between spaces or lines)."""
    parts = re.split(r"[,;\s]+", text.strip()) if shape.numeric else text.split(",")
    return [_value(part.strip(), shape) for part in parts if part.strip()]


def _pair(line: str, shape: Shape) -> tuple[str, Any]:
    name, _, text = line.partition("=")
    return name.strip(), _split(text, shape) if shape.many else _value(text.strip(), shape)


def _value(text: str, shape: Shape) -> Any:
    """A number where the type takes one and the text is one; else the text."""
    kinds = set(_kinds(shape.item))
    if kinds & {int, float} and _WHOLE.match(text):
        return int(text)
    if float in kinds and _NUMBER.match(text):
        return float(text)
    if bool in kinds and text in ("true", "false"):
        return text == "true"
    return text
