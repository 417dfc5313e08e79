# SPDX-License-Identifier: Apache-2.0
"""Values as the type of a field wants them, from Python and from plans; what does not fit is one sentence."""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import numpy as np

from reticent.base.checks import did_you_mean, kind_of, listed, range_words
from reticent.base.errors import ParameterError

LONGEST_SHOWN = 60
Nested = Callable[[type[Any], Mapping[str, Any], str], Any]
"""Makes a dataclass of a table of options."""


def convert(value: Any, hint: Any, where: str, meta: Mapping[str, Any], nested: Nested) -> Any:
    """The value as `hint` wants it; `where` starts the sentence if it cannot be."""
    return _Conversion(meta, nested).one(value, hint, where)


def check_allowed(value: Any, meta: Mapping[str, Any], where: str) -> None:
    """Check the choices and the range that metadata declare; in a list or table, for each item."""
    if isinstance(value, tuple):
        for item in value:
            check_allowed(item, meta, where)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_allowed(item, meta, f"{where}.{key}")
    elif value is not None:
        if "choices" in meta and value not in meta["choices"]:
            raise _choice(value, meta["choices"], where)
        if isinstance(value, int | float) and not isinstance(value, bool) and not _within(value, meta):
            raise ParameterError(f"{where} must be {range_words(meta) or 'a finite number'}, got {value!r}.")


def _within(value: float, meta: Mapping[str, Any]) -> bool:
    return bool(
        meta.get("min", value) <= value <= meta.get("max", value)
        and not value <= meta.get("above", -math.inf)
        and not value >= meta.get("below", math.inf)
    )


def _choice(value: Any, allowed: typing.Iterable[Any], where: str) -> ParameterError:
    texts = [str(item) for item in allowed]
    near = did_you_mean(value, texts) if isinstance(value, str) else ""
    return ParameterError(f"{where} must be one of {listed(texts)}, got {shown(value)}.{near}")


@dataclasses.dataclass(frozen=True)
class _Conversion:
    """One field's way of taking values."""

    meta: Mapping[str, Any]
    nested: Nested

    def one(self, value: Any, hint: Any, where: str) -> Any:
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return self._union(value, args, where)
        if origin is typing.Literal:
            if not any(value is arg or (type(value) is type(arg) and value == arg) for arg in args):
                raise _choice(value, args, where)
            return value
        if origin is tuple:
            return self._list(value, args, where)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._table(value, args, where)
        return self._plain(value, origin or hint, where)

    def _list(self, value: Any, args: tuple[Any, ...], where: str) -> tuple[Any, ...]:
        if isinstance(value, np.ndarray) and value.ndim:
            value = value.tolist()
        if not isinstance(value, list | tuple | range):
            raise ParameterError(f"{where} must be a list, got {kind_of(value)}.")
        if len(args) == 2 and args[1] is Ellipsis:
            made = tuple(self.one(item, args[0], where) for item in value)
        elif len(value) != len(args):
            raise ParameterError(f"{where} must be a list of {len(args)} items, got {len(value)}.")
        else:
            made = tuple(self.one(item, arg, where) for item, arg in zip(value, args, strict=True))
        same = isinstance(value, tuple) and all(new is old for new, old in zip(made, value, strict=True))
        return value if same else made  # type: ignore[return-value]

    def _table(self, value: Any, args: tuple[Any, ...], where: str) -> Mapping[Any, Any]:
        if not isinstance(value, Mapping):
            raise ParameterError(f"{where} must be a table of names and values, got {kind_of(value)}.")
        made = {self.one(key, args[0], where): self.one(item, args[1], f"{where}.{key}") for key, item in value.items()}
        same = all(key in value and value[key] is item for key, item in made.items())
        return value if same else made

    def _union(self, value: Any, args: tuple[Any, ...], where: str) -> Any:
        if value is None and type(None) in args:
            return None
        choices = [arg for arg in args if arg is not type(None)]
        exact = next((choice for choice in choices if choice is type(value)), None)
        first: ParameterError | None = None
        for choice in choices if exact is None else [exact]:
            try:
                return self.one(value, choice, where)
            except ParameterError as err:
                first = first or err
        if first is not None and (len(choices) == 1 or exact is not None):
            raise first
        names = ", ".join(_name(choice) for choice in choices)
        raise ParameterError(f"{where} must be one of these kinds: {names}; got {kind_of(value)}.")

    def _plain(self, value: Any, hint: Any, where: str) -> Any:
        if hint is Any:
            return value
        if isinstance(value, np.bool_ | np.integer | np.floating | np.str_):
            value = value.item()
        if dataclasses.is_dataclass(hint) and not isinstance(value, hint):  # type: ignore[arg-type]
            if not isinstance(value, Mapping):
                raise ParameterError(f"{where} must be a table of options, got {kind_of(value)}.")
            return self.nested(typing.cast(type[Any], hint), value, where)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return _member(value, hint, where)
        if isinstance(value, bool) and hint is not bool:
            raise ParameterError(f"{where} must be {_name(hint)}, got a truth value.")
        if hint is float and isinstance(value, int | float):
            return self._number(value, where)
        if not isinstance(value, hint):
            raise ParameterError(f"{where} must be {_name(hint)}, got {kind_of(value)}.")
        return value

    def _number(self, value: float, where: str) -> float:
        try:
            number = value if isinstance(value, float) else float(value)
        except OverflowError:
            raise ParameterError(f"{where} must be a number of at most 308 digits, got a longer one.") from None
        if math.isnan(number) or (math.isinf(number) and not self.meta.get("infinite")):
            raise ParameterError(f"{where} must be a finite number, got {number!r}.")
        return number


def _member(value: Any, hint: type[Enum], where: str) -> Enum:
    if isinstance(value, hint):
        return value
    for member in hint:
        if type(value) is type(member.value) and value == member.value:
            return member
    raise _choice(value, [member.value for member in hint], where)


_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _name(hint: Any) -> str:
    if typing.get_origin(hint) is tuple:
        return "a list"
    if dataclasses.is_dataclass(hint):  # the name of a class says nothing to whoever writes a plan
        return "a table of options"
    return _NAMES.get(hint, getattr(hint, "__name__", str(hint)))


def shown(value: Any) -> str:
    """A short text or number as it was given, anything else by its kind."""
    text = repr(value) if isinstance(value, str | int | float) else ""
    return text if 0 < len(text) <= LONGEST_SHOWN else kind_of(value)
