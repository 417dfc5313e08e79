# SPDX-License-Identifier: Apache-2.0
"""Public calls that explain themselves: a call of the wrong shape, or with another type, gets one sentence.

Python answers such a call with a TypeError about functions of ours, or with an error from deep inside. A door compares the
call with its own signature first: `@door` for a function, `@doors` for a class (its public methods, and how it is made),
`@makers` for a class whose methods are called once per code or cell (only how it is made). A name that a class with doors
does not have is a sentence, too.
"""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar, Unpack

from reticent.base.checks import did_you_mean, kind_of
from reticent.base.errors import NoSuchNameError, ParameterError

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type[Any])
_WORDS = {str: "a text", bool: "True or False", int: "a whole number", float: "a number", Path: "a path", bytes: "bytes",
          type(None): "None"}  # fmt: skip
_LISTS = (Sequence, tuple, list, Iterable)
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def doors(cls: C) -> C:
    """Make every public method of a class, and its making, a door."""
    for name, member in list(vars(cls).items()):
        if not name.startswith("_") and inspect.isfunction(member):
            setattr(cls, name, door(member))
    setattr(cls, "__getattr__", _no_such_name)  # noqa: B010
    return makers(cls)


def _no_such_name(self: Any, name: str) -> Any:
    """Refuse a name that there is not: `instead` of the class says what to use, where somebody could expect it."""
    known = [one for one in (*dir(type(self)), *vars(self)) if not one.startswith("_")]
    if name.startswith("_") or name in known:  # looked for by Python itself, or a property that failed
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
    hint = getattr(type(self), "instead", {}).get(name) or did_you_mean(name, known) or f" It has {', '.join(known)}."
    raise NoSuchNameError(f"{type(self).__name__}: there is no {name!r}.{hint}", option=name)


def makers(cls: C) -> C:
    """Make the constructor and the class methods of a class doors."""
    for name, member in list(vars(cls).items()):
        if name == "__init__":
            setattr(cls, name, door(member, owner=cls.__name__))
        elif not name.startswith("_") and isinstance(member, classmethod):
            setattr(cls, name, classmethod(door(member.__func__)))
    return cls


def door(function: F, *, owner: str = "") -> F:
    """A function that refuses, in one sentence, a call that does not fit its signature.

    Checked are the names and the number of arguments, and the type of each argument whose annotation is made of plain
    classes, lists, mappings and functions; what an annotation cannot say is left to the function.
    """

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        _shape(function, owner or function.__name__).check(args, kwargs)
        return function(*args, **kwargs)

    return typing.cast(F, called)


@dataclass(frozen=True)
class _Shape:
    """What a function may be called with."""

    owner: str
    bound: int
    """1 where the first argument is `self` or `cls`."""
    by_place: tuple[str, ...]
    by_name: tuple[str, ...]
    required: frozenset[str]
    rest: str
    """Name of `*args`; empty without one."""
    open: bool
    """Whether there is a `**kwargs` without a declaration, which the function checks itself."""
    hints: Mapping[str, Any]

    def check(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Refuse a call that does not fit."""
        own = args[self.bound :]
        self._check_names(len(own), kwargs)
        for name, value in (*zip(self.by_place, own), *kwargs.items()):
            if name in self.hints:
                _check_type(value, self.hints[name], self.owner, name)
        if self.rest in self.hints:
            for value in own[len(self.by_place) :]:
                _check_type(value, self.hints[self.rest], self.owner, self.rest)

    def _check_names(self, given: int, kwargs: Mapping[str, Any]) -> None:
        """Refuse too many arguments without a name, unknown and doubled names, and arguments that are missing."""
        if given > len(self.by_place) and not self.rest:
            raise ParameterError(f"{self.owner}: {self._too_many(given)}")
        known = (*self.by_place, *self.by_name)
        for name in kwargs:
            if name in self.by_place[:given]:
                raise ParameterError(f"{self.owner}: option {name!r} is given twice.")
            if name not in known and not self.open:
                listed = f" Known options: {', '.join(known)}." if known else " It has no options."
                raise ParameterError(f"{self.owner}: unknown option {name!r}.{did_you_mean(name, known) or listed}")
        for name in (*self.by_place[given:], *self.by_name):
            if name in self.required and name not in kwargs:
                raise ParameterError(f"{self.owner}: {name} is missing; give {name}=….")

    def _too_many(self, given: int) -> str:
        if not self.by_place and not self.by_name:
            return f"it takes no arguments, got {given}."
        listed = ", ".join(self.by_place)
        allowed = f"at most {len(self.by_place)} without a name ({listed})" if listed else "arguments by name only"
        further = f"; write {', '.join(f'{name}=…' for name in self.by_name[:3])}" if self.by_name else ""
        return f"it takes {allowed}, got {given}{further}."


@functools.cache
def _shape(function: Callable[..., Any], owner: str) -> _Shape:
    """Made at the first call: what annotations name may be defined further below."""
    parameters = inspect.signature(function).parameters
    known = {p.name: p for p in parameters.values() if p.name not in ("self", "cls")}
    kinds = {p.kind: p.name for p in known.values()}
    hints = typing.get_type_hints(function)
    further = hints.pop(kinds.get(inspect.Parameter.VAR_KEYWORD, ""), None)
    declared = typing.get_type_hints(typing.get_args(further)[0]) if typing.get_origin(further) is Unpack else {}
    return _Shape(
        owner,
        len(parameters) - len(known),
        tuple(name for name, p in known.items() if p.kind in _BY_PLACE),
        (*(name for name, p in known.items() if p.kind is inspect.Parameter.KEYWORD_ONLY), *declared),
        frozenset(name for name, p in known.items() if p.default is inspect.Parameter.empty),
        kinds.get(inspect.Parameter.VAR_POSITIONAL, ""),
        inspect.Parameter.VAR_KEYWORD in kinds and not declared,
        {name: hint for name, hint in {**hints, **declared}.items() if hint is not Any},
    )


def _check_type(value: Any, hint: Any, owner: str, name: str) -> None:
    """Refuse a value that no part of an annotation allows; an annotation that says more than its classes allows anything."""
    if type(value) is hint:
        return
    if _fits(value, hint) is not False:
        return
    parts = _parts(hint)
    words = list(dict.fromkeys(_named(part) for part in parts))
    allowed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    wrong = f"{owner}: {name} must be {allowed}, got {kind_of(value)}"
    for part in parts:
        if typing.get_origin(part) in _LISTS and isinstance(value, str):
            raise ParameterError(f"{wrong}; write [{value!r}].")
        if typing.get_origin(part) in _LISTS and isinstance(value, list | tuple):
            found = next(item for item in value if _fits(item, typing.get_args(part)[0]) is False)
            raise ParameterError(f"{owner}: {name} must be {allowed}, and it holds {kind_of(found)}.")
    raise ParameterError(f"{wrong}.")


def _parts(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _fits(value: Any, part: Any) -> bool | None:
    """Whether a value is what a part of an annotation says; None if that cannot be seen."""
    parts = _parts(part)
    if len(parts) > 1:
        return False if all(_fits(value, one) is False for one in parts) else None
    origin = typing.get_origin(part) or part
    if part in (int, float):
        return isinstance(value, Integral if part is int else Real) and not isinstance(value, bool)
    if origin in _LISTS:
        if isinstance(value, Mapping) and origin is not Iterable:  # its names would be taken for the list
            return False
        return _fits_list(value, typing.get_args(part))
    if origin is Callable or getattr(origin, "_is_protocol", False):
        return callable(value) if "__call__" in vars(origin) else None
    if isinstance(origin, type) and issubclass(origin, Enum) and isinstance(value, str):
        return None  # a name of one of its members, or near one: the class itself says which
    return isinstance(value, origin) if isinstance(origin, type) and origin is not Any else None


def _fits_list(value: Any, items: tuple[Any, ...]) -> bool:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    alike = len(items) == 1 or (len(items) == 2 and items[1] is ...)
    if not alike or not isinstance(value, list | tuple):
        return True
    return not any(_fits(item, items[0]) is False for item in value)


def _named(part: Any) -> str:
    origin = typing.get_origin(part) or part
    if origin in _LISTS:
        item = next(iter(typing.get_args(part)), Any)
        return f"a list of {_several(item)}" if isinstance(item, type) and item is not Any else "a list"
    if origin in (Mapping, dict):
        return "a mapping"
    if getattr(origin, "_is_protocol", False) or origin is Callable:
        return "a function"
    made, name = getattr(origin, "made_by", ""), str(getattr(origin, "__name__", origin))
    article = "an" if name[0].lower() in "aeio" else "a"
    return _WORDS.get(origin) or f"{article} {name}{f' from {made}()' if made else ''}"


def _several(item: type) -> str:
    return {str: "texts", int: "whole numbers", float: "numbers"}.get(item, f"{item.__name__}s")
