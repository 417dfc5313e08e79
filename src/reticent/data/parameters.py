# SPDX-License-Identifier: Apache-2.0
"""Parameters as frozen dataclasses: one declaration serves the Python call, the plan file and the command line.

A class derived from `Parameters` checks itself when it is made: names, types, choices, ranges, finite numbers, lists that
are not texts. A plan goes through `build`, which makes the same class with the same sentences. What a field allows is in
its type and its metadata: `min` and `max` (these are allowed), `above` and `below` (these are not), `choices`, `infinite`
(also ∞), `help`. In a list they hold for each item.
"""

import dataclasses
import functools
import typing
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, ClassVar, TypeVar

from reticent.base.checks import did_you_mean, kind_of
from reticent.base.errors import ParameterError, PlanError
from reticent.data.conversion import check_allowed, convert

T = TypeVar("T")
Examples = tuple[Mapping[str, Any], ...]


class _CheckedNames(ABCMeta):
    """Refuses unknown, doubled and missing parameters of a Python call in a sentence, where Python has a TypeError."""

    if not typing.TYPE_CHECKING:  # type checkers look at the dataclass itself

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if not dataclasses.is_dataclass(cls):
                if args or kwargs:
                    raise ParameterError("it has no options; take one of its kinds.").at(cls.__name__)
                return super().__call__()
            owner, fields = owner_of(cls), _fields(cls)
            by_place = [name for name, field in fields.items() if not field.kw_only][: len(args)]
            if len(by_place) < len(args):
                most = f"takes at most {len(by_place)} options without a name, got {len(args)}."
                raise ParameterError(most).at(owner)
            for name in kwargs:
                if name not in fields:
                    raise _unknown(name, fields).at(owner)
                if name in by_place:
                    raise _twice(name).at(owner)
            _require(cls, {*by_place, *kwargs}, owner)
            return super().__call__(*args, **kwargs)


class Parameters(metaclass=_CheckedNames):
    """Base of every dataclass of parameters: whatever is made of it is within what its fields allow.

    Text becomes the enumeration's member, a whole number a float, a list a tuple, a numpy number an ordinary number, a table of
    options the dataclass it describes. A class's own `__post_init__` runs after these checks, and for what a single field
    cannot say; its errors do not name the class, which is added here.
    """

    called: ClassVar[str] = ""
    """How messages name it; without it they use `name` (the plan name), or the name of the class."""
    examples: ClassVar[Examples] = ({},)
    """Options to try it with, as a plan has them: what the conformance batteries run and the manual shows."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__.get("__post_init__")
        if own is not None:
            setattr(cls, "__post_init__", _after_checks(own))  # noqa: B010

    def __post_init__(self) -> None:
        _take_fields(self)


def _after_checks(own: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(own)
    def checked(self: Any) -> None:
        _take_fields(self)
        try:
            own(self)
        except ParameterError as err:
            raise err.at(owner_of(type(self))) from None

    return checked


def _take_fields(made: Any) -> None:
    hints, owner = _hints(type(made)), owner_of(type(made))
    for name, field in _fields(type(made)).items():
        value = getattr(made, name)
        taken = _taken(value, hints[name], field, name, owner)
        if taken is not value:
            object.__setattr__(made, name, taken)


def _taken(value: Any, hint: Any, field: "dataclasses.Field[Any]", written: str, owner: str) -> Any:
    """A value as its field wants it, or an error about the option, by the name that was written for it."""
    try:
        taken = convert(value, hint, written, field.metadata, build_nested)
        check_allowed(taken, field.metadata, written)
    except ParameterError as err:
        err.option = field.name
        raise err.at(owner) from None
    return taken


def build_nested(cls: type[Any], values: Mapping[str, Any], where: str) -> Any:
    """A table of options inside of another one."""
    try:
        return build(cls, values, owner=where)
    except PlanError as err:
        raise err.as_kind(ParameterError) from err


def owner_of(cls: type[Any]) -> str:
    """How messages name a class of parameters."""
    return str(getattr(cls, "called", "") or getattr(cls, "name", "") or cls.__name__)


_HINTS: dict[type[Any], dict[str, Any]] = {}


def _hints(cls: type[Any]) -> dict[str, Any]:
    """Resolving the text of annotations takes long, so it is done once for each class."""
    if cls not in _HINTS:
        _HINTS[cls] = typing.get_type_hints(cls)
    return _HINTS[cls]


def _fields(cls: type[Any]) -> "dict[str, dataclasses.Field[Any]]":
    return {field.name: field for field in dataclasses.fields(cls) if field.init}


def _unknown(name: str, known: Mapping[str, Any]) -> ParameterError:
    listed = f" Known options: {', '.join(known)}." if known else " It has no options."
    return ParameterError(f"unknown option {name!r}.{did_you_mean(name, known) or listed}", option=str(name))


def _twice(name: str) -> ParameterError:
    return ParameterError(f"option {name!r} is given twice.", option=name)


def _require(cls: type[Any], given: typing.Collection[str], owner: str) -> None:
    for name, field in _fields(cls).items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and name not in given:
            raise ParameterError(f"option {name!r} is missing.", option=name).at(owner)


def build(cls: type[T], values: Mapping[str, Any], *, owner: str, beside: Iterable[str] = ()) -> T:
    """Make a `cls` of a mapping; field names may be written with hyphens.

    `beside` are options that stand in the same section and were taken already: an unknown one may be meant for them.
    """
    if not isinstance(values, Mapping):
        raise PlanError(f"{owner} must be a table of options, got {kind_of(values)}.")
    try:
        return cls(**_given(cls, values, owner, beside))
    except ParameterError as err:
        own = owner_of(cls) if owner.rstrip(")").endswith(owner_of(cls)) else ""  # named by the owner: once is enough
        raise err.at(owner, instead_of=own).as_kind(PlanError, named=own) from err


def _given(cls: type[Any], values: Mapping[str, Any], owner: str, beside: Iterable[str] = ()) -> dict[str, Any]:
    """The options of a mapping as the fields want them, checked with the names of the mapping."""
    fields, hints = _fields(cls), _hints(cls)
    given: dict[str, Any] = {}
    for raw, value in values.items():
        name = raw.replace("-", "_") if isinstance(raw, str) else raw
        if name not in fields:
            raise _unknown(raw, dict.fromkeys((*beside, *fields))).at(owner)
        if name in given:
            raise _twice(name).at(owner)
        given[name] = _taken(value, hints[name], fields[name], raw, owner)
    _require(cls, given, owner)
    return given


def check_option(cls: type[Any], name: str, value: Any, *, owner: str) -> None:
    """Check one option alone, as a form does before all of them are given."""
    fields = _fields(cls)
    if name not in fields:
        raise _unknown(name, fields).at(owner)
    _taken(value, _hints(cls)[name], fields[name], name, owner)


def to_plain(made: Any) -> dict[str, Any]:
    """The mapping that `build` would turn into the same object; values at their default are left out."""
    plain: dict[str, Any] = {}
    for field in dataclasses.fields(made):
        value = getattr(made, field.name)
        default = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
        if field.init and value is not None and value != default:
            plain[field.name] = _plain(value)
    return plain


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_plain(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [_plain(item) for item in value]
    return value
