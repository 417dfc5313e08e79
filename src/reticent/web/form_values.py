# SPDX-License-Identifier: Apache-2.0
"""What a sent form means: options as a plan has them, and a sentence of the library beside each field that is wrong."""

import dataclasses
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reticent.jobs.options import check_options
from reticent.web.form_texts import Shape, shape_of, taken
from reticent.web.forms import GIVEN


@dataclass(frozen=True)
class Sent:
    """The fields of a sent form: each name with all its values, in their order."""

    items: tuple[tuple[str, str], ...]

    def all(self, name: str) -> list[str]:
        """All values of a field."""
        return [value for key, value in self.items if key == name]

    def get(self, name: str, default: str = "") -> str:
        """The last value of a field: a hidden one before it is what an empty choice sends."""
        found = self.all(name)
        return found[-1] if found else default

    def below(self, prefix: str) -> "Sent":
        """The fields of one of several forms, whose names begin alike, under their own names."""
        return Sent(tuple((key.removeprefix(prefix), value) for key, value in self.items if key.startswith(prefix)))

    def __contains__(self, name: object) -> bool:
        return any(key == name for key, _ in self.items)

    def number(self, name: str, default: int = -1) -> int:
        """A whole number, or the default where the field has none."""
        text = self.get(name)
        return int(text) if re.fullmatch(r"-?\d{1,9}", text) else default


@dataclass(frozen=True)
class Taken:
    """Options from a form, and what is wrong with them by field (the empty name: with the whole)."""

    values: dict[str, Any]
    errors: dict[str, str]


def take_form(cls: type[Any], sent: Sent, *, kept: Mapping[str, Any] | None = None, owner: str = "") -> Taken:
    """Read the options of a dataclass from a form, and check them as a plan is checked.

    Options at their default are left out, except for those that `kept` (what the plan has now) has; what `kept` has and no
    field knows stays.
    """
    kept = kept or {}
    values = _read(cls, sent, "")
    names = {one.name for one in dataclasses.fields(cls)}
    had = {key.replace("-", "_") for key in kept}
    values = {name: value for name, value in values.items() if name in had or not _is_default(cls, name, value)}
    errors = _placed(cls, values, check_options(cls, values, owner=owner))
    others = {name: value for name, value in kept.items() if name.replace("-", "_") not in names}
    ordered = {name: values[name] for name in (key.replace("-", "_") for key in kept) if name in values}
    return Taken({**others, **ordered, **{k: v for k, v in values.items() if k not in ordered}}, errors)


def _placed(cls: type[Any], values: Mapping[str, Any], errors: Mapping[str, str], prefix: str = "") -> dict[str, str]:
    """The sentences at the innermost field that they are about."""
    hints, placed = typing.get_type_hints(cls), dict[str, str]()
    for name, sentence in errors.items():
        shape = shape_of(hints[name], {}) if name in hints else Shape()
        inner = values.get(name)
        entries = (
            {"": inner} if isinstance(inner, Mapping) else dict(enumerate(inner)) if isinstance(inner, list) else {}
        )
        found: dict[str, str] = {}
        for number, entry in entries.items() if shape.nested is not None else ():
            place = f"{prefix}{name}." if number == "" else f"{prefix}{name}.{number}."
            wrong = check_options(typing.cast(type[Any], shape.nested), entry)
            found |= {key if key != place else place.rstrip("."): text
                      for key, text in _placed(typing.cast(type[Any], shape.nested), entry, wrong, place).items()}  # fmt: skip
        placed |= found or {f"{prefix}{name}": sentence}
    return placed


def _read(cls: type[Any], sent: Sent, prefix: str) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    found: dict[str, Any] = {}
    for one in dataclasses.fields(cls):
        if not one.init or one.metadata.get("hidden"):
            continue
        value = _field(sent, f"{prefix}{one.name}", shape_of(hints[one.name], one.metadata))
        if value is not None:
            found[one.name] = value
    return found


def _field(sent: Sent, name: str, shape: Shape) -> Any:
    if shape.nested is not None:
        return _groups(sent, name, shape) if shape.many else _group(sent, name, shape)
    if shape.switch:
        return name in sent and sent.get(name) == "on"
    texts = sent.all(name)
    if shape.many and not shape.deep and len(texts) > 1:  # boxes that are ticked, after the hidden empty one
        return [taken(text, dataclasses.replace(shape, many=False)) for text in texts if text]
    return taken(texts[-1], shape) if texts else None


def _group(sent: Sent, name: str, shape: Shape) -> dict[str, Any] | None:
    assert shape.nested is not None
    inside = _read(shape.nested, sent, f"{name}.")
    if shape.optional:
        return inside if sent.get(f"{name}.{GIVEN}") == "on" else None
    stated = {key: value for key, value in inside.items() if not _is_default(shape.nested, key, value)}
    return stated or None


def _groups(sent: Sent, name: str, shape: Shape) -> list[dict[str, Any]] | None:
    """A list of options; groups that were left empty, or marked to be removed, are no item."""
    assert shape.nested is not None
    numbers = sorted({int(m[1]) for key, _ in sent.items if (m := re.match(rf"{re.escape(name)}\.(\d+)\.", key))})
    made = []
    for number in numbers:
        if sent.get(f"{name}.{number}.remove") == "on":
            continue
        inside = _read(shape.nested, sent, f"{name}.{number}.")
        stated = {key: value for key, value in inside.items() if not _is_default(shape.nested, key, value)}
        if stated:
            made.append(stated)
    return made or None


def _is_default(cls: type[Any], name: str, value: Any) -> bool:
    one = next(one for one in dataclasses.fields(cls) if one.name == name)
    if one.default_factory is not dataclasses.MISSING:
        return bool(_plain(one.default_factory()) == value)
    return one.default is not dataclasses.MISSING and bool(_plain(one.default) == value)


def _plain(value: Any) -> Any:
    """A default as options have it."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return getattr(value, "value", value)
