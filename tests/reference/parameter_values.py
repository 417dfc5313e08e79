"""Good and bad values for every field of a parameter class, made from its type and metadata alone."""

import dataclasses
import importlib
import math
import pkgutil
import types
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

import reticent
from reticent.base.errors import ReticentError
from reticent.data.hierarchy import Hierarchy
from reticent.data.parameters import Parameters


class Odd:
    """Something that no parameter is."""


def every_class() -> list[type[Parameters]]:
    """Every dataclass of parameters in the package."""
    for module in pkgutil.walk_packages(reticent.__path__, "reticent."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found: dict[str, type[Parameters]] = {}
    waiting = [Parameters]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        unfinished = not hasattr(cls, "name") and "name" in typing.get_type_hints(cls)
        if "__dataclass_fields__" in vars(cls) and not unfinished and cls.__module__.startswith("reticent."):
            found[f"{cls.__module__}.{cls.__qualname__}"] = cls
    return [found[name] for name in sorted(found)]


def fields_of(cls: type[Any]) -> list[tuple[str, Any, Mapping[str, Any]]]:
    hints = typing.get_type_hints(cls)
    return [(f.name, hints[f.name], f.metadata) for f in dataclasses.fields(cls) if f.init]


def good_options(cls: type[Parameters]) -> list[dict[str, Any]]:
    """Options with which the class can be made: its own examples, completed by anything of the right type."""
    made = []
    for example in cls.examples:
        options = dict(example)
        for field in dataclasses.fields(cls):
            required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            if field.init and required and field.name not in options:
                options[field.name] = good_value(typing.get_type_hints(cls)[field.name], field.metadata)
        made.append(options)
    return made


def good_value(hint: Any, meta: Mapping[str, Any]) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if "choices" in meta and origin is not tuple:
        return meta["choices"][0]
    if origin in (typing.Union, types.UnionType):
        return good_value(args[0], meta)
    if origin is typing.Literal:
        return args[0]
    if origin is tuple:
        return [good_value(args[0], meta)] if args[-1] is Ellipsis else [good_value(arg, meta) for arg in args]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"x": good_value(args[1], meta)}
    if hint in (int, float):
        return hint(meta.get("min", meta.get("above", 0) + 1))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint))
    if isinstance(hint, type) and issubclass(hint, Parameters):
        return good_options(hint)[0]
    if hint is Hierarchy:
        return Hierarchy(("a", "b"), (-1, 0))
    return {str: "x", bool: True, Path: Path("x"), Any: 1}[hint]


def bad_values(hint: Any, meta: Mapping[str, Any]) -> list[Any]:
    """Values that the field must refuse: other types, unknown choices, below, above, not finite."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        each = [(arg, bad_values(arg, meta)) for arg in args if arg is not type(None)]
        found = each[0][1]
        for _, bad in each[1:]:
            found = [value for value in found if any(same(value, other) for other in bad)]
        return [value for value in found if not (value is None and type(None) in args)]
    if hint is Any:
        return []
    if origin is tuple:
        parts = [arg for arg in args if arg is not Ellipsis]
        good = [good_value(arg, meta) for arg in parts]
        return [None, "abc", 5, True, {"x"}, Odd()] + [[bad, *good[1:]] for bad in bad_values(parts[0], meta)]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return [None, "abc", 5, ["x"], Odd()] + [{"x": bad} for bad in bad_values(args[1], meta)] + [{5: "x"}]
    plain = [None, Odd(), [1, 2], {"x": 1}]
    if hint in (int, float):
        wrong = [*plain, "x", True, np.bool_(True), "", math.nan, math.inf, -math.inf, np.float64("nan"), 1j]
        return wrong + outside(hint, meta) + ([1.5, np.float64(2.5)] if hint is int else [10**400])
    if hint is bool:
        return [*plain, 1, 0.0, "true", np.int64(1)]
    if hint is str:
        return [*plain, 5, 1.5, True, b"x", *(["nonsense", ""] if "choices" in meta else [])]
    if origin is typing.Literal or (isinstance(hint, type) and issubclass(hint, Enum)):
        return [*plain, "nonsense", "", 5, True, math.nan]
    return [None, Odd(), 5, "x", True] if hint is not Path else [None, Odd(), 5, True]


def outside(hint: type[Any], meta: Mapping[str, Any]) -> list[Any]:
    """The nearest values beyond the limits, and values far away."""
    found: list[Any] = []
    for name, side in (("min", -1), ("max", 1)):
        if name in meta:
            edge = hint(meta[name])
            found += [edge + side, edge + side * 10**6]
            found += [] if hint is int else [float(np.nextafter(edge, side * math.inf))]
    found += [hint(meta[name]) for name in ("above", "below") if name in meta]
    return found


def edges(hint: Any, meta: Mapping[str, Any]) -> list[Any]:
    """The outermost values that a number may have, as Python and numpy numbers; every choice of a text."""
    kinds = {int, float} & {hint, *typing.get_args(hint)}
    if "choices" in meta and typing.get_origin(hint) is not tuple:
        return list(meta["choices"])
    if typing.get_origin(hint) is typing.Literal:
        return list(typing.get_args(hint))
    if not kinds or typing.get_origin(hint) is tuple or issubclass(typing.get_origin(hint) or int, Mapping):
        return []
    kind = kinds.pop()
    made = [kind(meta[name]) for name in ("min", "max") if name in meta]
    if kind is float:
        made += [
            float(np.nextafter(meta[name], side)) for name, side in (("above", math.inf), ("below", 0)) if name in meta
        ]
        made += [int(value) for value in made if value == int(value)]
    return made + [np.int64(value) if isinstance(value, int) else np.float64(value) for value in made]


def same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and (repr(left) == repr(right) or isinstance(left, Odd))


def refusal(make: Any) -> str:
    """The sentence with which something is refused; any other error, or none, fails the test that asks."""
    try:
        made = make()
    except ReticentError as err:
        return str(err)
    raise AssertionError(f"accepted: {made!r}")


def cases(cls: type[Parameters]) -> Iterator[tuple[str, Any]]:
    for name, hint, meta in fields_of(cls):
        for value in bad_values(hint, meta):
            yield name, value
