"""Frozen dataclasses from plain mappings (TOML, JSON) and back: unknown names and wrong types are errors.

This is what makes one declaration serve the Python call, the plan file and the command line.
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

from reticent.base.checks import did_you_mean
from reticent.base.errors import ParameterError, PlanError

T = TypeVar("T")


def build(cls: type[T], values: Mapping[str, Any], *, owner: str) -> T:
    """Make a `cls` of a mapping; field names may be written with hyphens."""
    if not isinstance(values, Mapping):
        raise PlanError(f"{owner} must be a table of options, got {_kind(values)}.")
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}  # type: ignore[arg-type]
    hints = typing.get_type_hints(cls)
    given: dict[str, Any] = {}
    for raw, value in values.items():
        name = raw.replace("-", "_")
        if name not in fields:
            known = did_you_mean(raw, fields) or f" Known options: {', '.join(fields)}."
            raise PlanError(f"{owner}: unknown option {raw!r}.{known}")
        given[name] = _convert(value, hints[name], f"{owner}: {raw}")
    for name, field in fields.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and name not in given:
            raise PlanError(f"{owner}: option {name!r} is missing.")
    try:
        made = cls(**given)
    except ParameterError as err:
        raise PlanError(f"{owner}: {err}") from err
    check_fields(made, owner=owner)
    return made


def check_fields(made: Any, *, owner: str) -> None:
    """Check the `min`, `max` and `choices` that the fields' metadata declare."""
    for field in dataclasses.fields(made):
        value, meta = getattr(made, field.name), field.metadata
        if value is None or not meta:
            continue
        if "choices" in meta and value not in meta["choices"]:
            allowed = [str(choice) for choice in meta["choices"]]
            raise ParameterError(
                f"{owner}: {field.name} must be one of {', '.join(allowed)}, got {value!r}.{did_you_mean(value, allowed)}"
            )
        if isinstance(value, int | float) and not meta.get("min", value) <= value <= meta.get("max", value):
            low, high = meta.get("min"), meta.get("max")
            allowed_range = (
                f"at least {low}" if high is None else f"at most {high}" if low is None else f"{low} to {high}"
            )
            raise ParameterError(f"{owner}: {field.name} must be {allowed_range}, got {value!r}.")


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


def _convert(value: Any, hint: Any, where: str) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _convert_union(value, args, where)
    if origin is typing.Literal:
        if value not in args:
            allowed = [str(arg) for arg in args]
            raise PlanError(
                f"{where} must be one of {', '.join(allowed)}, got {value!r}.{did_you_mean(value, allowed)}"
            )
        return value
    if origin is tuple:
        return _convert_tuple(value, args, where)
    if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        if not isinstance(value, Mapping):
            raise PlanError(f"{where} must be a table of names and values, got {_kind(value)}.")
        return {_convert(key, args[0], where): _convert(item, args[1], f"{where}.{key}") for key, item in value.items()}
    return _convert_plain(value, hint, where)


def _convert_tuple(value: Any, args: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise PlanError(f"{where} must be a list, got {_kind(value)}.")
    if len(args) == 2 and args[1] is Ellipsis:
        return tuple(_convert(item, args[0], where) for item in value)
    if len(value) != len(args):
        raise PlanError(f"{where} must be a list of {len(args)} items, got {len(value)}.")
    return tuple(_convert(item, arg, where) for item, arg in zip(value, args, strict=True))


def _convert_union(value: Any, args: tuple[Any, ...], where: str) -> Any:
    if value is None and type(None) in args:
        return None
    choices = [arg for arg in args if arg is not type(None)]
    first: PlanError | None = None
    for choice in choices:
        try:
            return _convert(value, choice, where)
        except PlanError as err:
            first = first or err
    if len(choices) == 1 and first is not None:
        raise first
    names = ", ".join(_name(choice) for choice in choices)
    raise PlanError(f"{where} must be one of these kinds: {names}; got {_kind(value)}.")


def _convert_plain(value: Any, hint: Any, where: str) -> Any:
    if hint is Any:
        return value
    if dataclasses.is_dataclass(hint):
        if isinstance(value, hint):  # type: ignore[arg-type]
            return value
        if not isinstance(value, Mapping):
            raise PlanError(f"{where} must be a table of options, got {_kind(value)}.")
        return build(typing.cast(type[Any], hint), value, owner=where)
    if isinstance(hint, type) and issubclass(hint, Enum):
        allowed = [str(member.value) for member in hint]
        if value not in allowed and not isinstance(value, hint):
            raise PlanError(
                f"{where} must be one of {', '.join(allowed)}, got {value!r}.{did_you_mean(value, allowed)}"
            )
        return hint(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, bool) and hint is not bool:
        raise PlanError(f"{where} must be {_name(hint)}, got a truth value.")
    if not isinstance(value, hint):
        raise PlanError(f"{where} must be {_name(hint)}, got {_kind(value)}.")
    return value


_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _name(hint: Any) -> str:
    if typing.get_origin(hint) is tuple:
        return "a list"
    return _NAMES.get(hint, getattr(hint, "__name__", str(hint)))


def _kind(value: Any) -> str:
    names = {
        str: "a text",
        bool: "a truth value",
        int: "a whole number",
        float: "a number",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), "something else")
