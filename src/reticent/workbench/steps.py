# SPDX-License-Identifier: Apache-2.0
"""Steps of a plan as cards: what a step is called, what it says, and the form that changes it."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reticent.base.errors import PlanError
from reticent.jobs.options import METHODS
from reticent.web.form_texts import Shape, written
from reticent.web.forms import Field, Known, form_of, label_of
from reticent.workbench.project import Project

OWN = ("method", "active")
"""Options of a step that are not fields of its method."""


@dataclass(frozen=True)
class Step:
    """One step of a plan, ready to be drawn; numbers count from 1."""

    number: int
    method: str
    title: str
    about: str
    options: tuple[tuple[str, str], ...]
    active: bool
    error: str = ""
    first: bool = False
    last: bool = False


def options_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the method of a step."""
    return {name: value for name, value in entry.items() if name not in OWN}


def steps_of(entries: list[dict[str, Any]], errors: Mapping[int, str]) -> list[Step]:
    """All steps of a plan."""
    return [
        Step(
            number,
            str(entry.get("method", "")),
            title_of(entry),
            about(str(entry.get("method", ""))),
            tuple((label_of(name), _short(value)) for name, value in options_of(entry).items() if name != "variable"),
            entry.get("active", True) is not False,
            errors.get(number, ""),
            number == 1,
            number == len(entries),
        )
        for number, entry in enumerate(entries, 1)
    ]


def title_of(entry: Mapping[str, Any]) -> str:
    """What a step is called: its method, and the variable or variables it is for."""
    method = str(entry.get("method", "no method")).replace("-", " ")
    names = entry.get("variable") or entry.get("variables") or ()
    names = [names] if isinstance(names, str) else [str(name) for name in names] if isinstance(names, list) else []
    said = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{method[:1].upper()}{method[1:]} {said}".strip()


def brief(entry: Mapping[str, Any]) -> str:
    """The same in few words: variables only where there is one."""
    several = isinstance(entry.get("variables"), list) and len(entry["variables"]) > 1
    return title_of({"method": entry.get("method", "no method")} if several else entry)


def about(method: str) -> str:
    """The first sentence of what a method says of itself."""
    if method not in METHODS:
        return ""
    return str(METHODS[method].__doc__ or "").split("\n", 1)[0].strip()


def more_about(method: str) -> list[str]:
    """What a method says of itself beyond its first sentence, a text for each paragraph."""
    if method not in METHODS:
        return []
    paragraphs = inspect.cleandoc(METHODS[method].__doc__ or "").split("\n\n")[1:]
    return [" ".join(text.replace("`", "").replace("*", "").split()) for text in paragraphs if ">>>" not in text]


def method_class(name: str) -> type[Any]:
    """The class of a method; an unknown name is an error that suggests the nearest."""
    found: type[Any] = METHODS[name]
    return found


def form_for(
    project: Project,
    method: str,
    values: Mapping[str, Any],
    errors: Mapping[str, str],
    more: Mapping[str, int] | None = None,
) -> tuple[Field, ...]:
    """The form of a method, with the project's variables to choose from."""
    return form_of(method_class(method), values, known=known(project), errors=errors, more=more)


def known(project: Project) -> Known:
    """The names that forms can offer."""
    try:
        return Known({"variables": project.names()})
    except PlanError:
        return Known()


def _short(value: Any) -> str:
    text = written(value, Shape(float)).replace("\n", "; ")
    return f"{text[:80]}…" if len(text) > 80 else text
