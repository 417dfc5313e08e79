# SPDX-License-Identifier: Apache-2.0
"""Forms from dataclasses: each field of a method, rule or section becomes a form field, and what comes back becomes options.

What a field is follows from its type: a choice, a switch, a number, a text, a list, a table, options within options. Its
label is its name; help, range, unit and choices are in its metadata; `names` says that its values are names, of variables
for instance, which the page knows. Nothing here knows a single method.
"""

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from reticent.base.checks import range_words
from reticent.web.form_texts import Shape, shape_of, written

GIVEN = "given"
"""Last part of the name of the switch of options within options that may be left out."""


@dataclass(frozen=True)
class Field:
    """One field of a form, ready to be drawn."""

    name: str
    label: str
    kind: str
    """`switch`, `choice`, `choices`, `text`, `lines`, `group` (options within options), `groups` (a list of them)."""
    help: str = ""
    unit: str = ""
    range: str = ""
    required: bool = False
    value: str = ""
    values: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    empty: str = ""
    """What an empty field means, such as the default."""
    numeric: bool = False
    on: bool = False
    optional: bool = False
    error: str = ""
    fields: tuple["Field", ...] = ()
    groups: tuple[tuple["Field", ...], ...] = ()

    @property
    def key(self) -> str:
        """A name for `id`, `for` and `aria-describedby`."""
        return self.name.replace(".", "-")


@dataclass(frozen=True)
class Known:
    """What a page knows beside the dataclass: names that fields may choose from, by what they are names of."""

    names: Mapping[str, Sequence[str]] = field(default_factory=dict)


def form_of(
    cls: type[Any],
    values: Mapping[str, Any],
    *,
    known: Known | None = None,
    errors: Mapping[str, str] | None = None,
    prefix: str = "",
    more: Mapping[str, int] | None = None,
) -> tuple[Field, ...]:
    """The fields of a form for a dataclass; `values` are options as a plan has them, `errors` sentences by field.

    `more` gives the number of empty groups to add to a list of options within options, by its name.
    """
    maker = _Maker(known or Known(), errors or {}, more or {})
    return maker.fields(cls, values, prefix)


@dataclass(frozen=True)
class _Maker:
    known: Known
    errors: Mapping[str, str]
    more: Mapping[str, int]

    def fields(self, cls: type[Any], values: Mapping[str, Any], prefix: str) -> tuple[Field, ...]:
        hints = typing.get_type_hints(cls)
        return tuple(
            self._field(one, hints[one.name], values, prefix)
            for one in dataclasses.fields(cls)
            if one.init and not one.metadata.get("hidden")
        )

    def _field(self, one: "dataclasses.Field[Any]", hint: Any, values: Mapping[str, Any], prefix: str) -> Field:
        name, meta, default = f"{prefix}{one.name}", one.metadata, _default(one)
        made = Field(
            name,
            label_of(one.name),
            "text",
            help=_sentence(str(meta.get("help", ""))),
            unit=str(meta.get("unit", "")),
            range=range_of(meta),
            required=default is dataclasses.MISSING,
            error=self.errors.get(name, ""),
        )
        shape = shape_of(hint, meta)
        given = values.get(one.name, values.get(one.name.replace("_", "-"), default))
        given = None if given is dataclasses.MISSING else given
        if shape.nested is not None:
            return self._nested(made, shape, given)
        return _filled(made, shape, given, default, self._options(shape, meta))

    def _options(self, shape: Shape, meta: Mapping[str, Any]) -> tuple[str, ...]:
        if shape.choices:
            return shape.choices
        return tuple(self.known.names.get(str(meta.get("names", "")), ()))

    def _nested(self, made: Field, shape: Shape, given: Any) -> Field:
        assert shape.nested is not None
        if not shape.many:
            inside = self.fields(shape.nested, _options_of(given), f"{made.name}.")
            return replace(made, kind="group", fields=inside, optional=shape.optional, on=given is not None)
        entries = [*(given or ()), *({} for _ in range(self.more.get(made.name, 0)))]
        groups = tuple(
            self.fields(shape.nested, _options_of(entry), f"{made.name}.{number}.")
            for number, entry in enumerate(entries)
        )
        return replace(made, kind="groups", groups=groups)


def _options_of(given: Any) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        return {one.name: getattr(given, one.name) for one in dataclasses.fields(given)}
    return {}


def _filled(made: Field, shape: Shape, given: Any, default: Any, options: tuple[str, ...]) -> Field:
    """The field with what is given, as texts."""
    if shape.switch:
        return replace(made, kind="switch", on=bool(given))
    empty = (
        "" if default is dataclasses.MISSING or default in (None, (), "") or made.required else written(default, shape)
    )
    if options and shape.many and not shape.deep:
        chosen = tuple(written(item, shape) for item in given or ())
        return replace(made, kind="choices", options=_with(options, chosen), values=chosen)
    if options and not shape.many:
        value = "" if given is None else written(given, shape)
        return replace(
            made, kind="choice", value=value, options=_with(options, (value,) if value else ()), optional=shape.optional
        )
    kind = "lines" if shape.lines else "text"
    value = "" if given is None else written(given, shape)
    said = f"{made.help} {_how(shape)}".strip()
    return replace(made, kind=kind, value=value, empty=empty, numeric=shape.numeric, help=said)


def _how(shape: Shape) -> str:
    """How a list or a table is typed."""
    if shape.table:
        return "One per line: name = value, value." if shape.many else "One per line: name = value."
    if shape.deep:
        return "One list per line, with commas between its items."
    if shape.many:
        return "One per line." if shape.lines else "With commas between them."
    return ""


def _with(options: Sequence[str], chosen: Sequence[str]) -> tuple[str, ...]:
    """The choices, and what is chosen although it is none of them: it must be seen to be corrected."""
    return (*options, *(one for one in chosen if one not in options))


def _default(one: "dataclasses.Field[Any]") -> Any:
    if one.default_factory is not dataclasses.MISSING:
        return one.default_factory()
    return one.default.value if isinstance(one.default, Enum) else one.default


def label_of(name: str) -> str:
    """The name of a field as words."""
    words = name.replace("_", " ")
    return words if len(words) == 1 else words[:1].upper() + words[1:]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text and not text.endswith(".") else text


def range_of(meta: Mapping[str, Any]) -> str:
    """The allowed range, as a form has room for it."""
    return range_words(meta, number=_number, both="{} to {}", joined=", ")


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
