# SPDX-License-Identifier: Apache-2.0
"""Schema ⇄ TOML text. Unknown names and wrong values are errors that name the variable; guesses are marked as such."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import tomli_w

from reticent.base.checks import did_you_mean
from reticent.base.errors import DataError, ParameterError, PlanError
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.data.schema import DEFAULT_PRIORITY, Kind, Role, Schema, Variable, variable_place

CodeList = tuple[tuple[str, ...], tuple[str, ...]]
SHORT_LINE = 100
GUESS_NOTE = (
    "# What `guessed` names was guessed from the data, not declared.\n# Check it, correct it, then delete the line.\n\n"
)

_PLAIN = ("level", "priority", "start", "length", "decimals", "household", "permanent")
FACTS = ("name", "role", "kind", "missing", "codes", "hierarchy", "guessed", *_PLAIN)


@dataclass(frozen=True)
class Files:
    """How the files that a schema names are read; `io` gives the real ones."""

    hierarchy: Callable[[str], Hierarchy]
    codes: Callable[[str], CodeList]


def schema_from_text(text: str, *, owner: str) -> Schema:
    """Read back what `schema_to_toml` wrote; such text names no other files."""

    def refuse(name: str) -> Any:
        raise PlanError(f"{owner}: the file {name!r} cannot be looked up from here.")

    return schema_from_table(tomllib.loads(text), owner=owner, files=Files(refuse, refuse))


def schema_from_table(table: Mapping[str, Any], *, owner: str, files: Files) -> Schema:
    """Build a schema from the tables of a TOML file."""
    for section in table:
        if section != "variable":
            known = did_you_mean(section, ("variable",)) or " A schema file has one [[variable]] for each column."
            raise PlanError(f"{owner}: unknown section [{section}].{known}")
    entries = table.get("variable", [])
    if not isinstance(entries, list) or not entries:
        raise PlanError(f"{owner}: the file describes no variable; write one [[variable]] for each column.")
    variables = tuple(_variable(entry, f"{owner}: variable {n}", files) for n, entry in enumerate(entries, start=1))
    try:
        return Schema(variables)
    except DataError as err:
        raise err.at(owner, instead_of="Schema") from None


def _variable(entry: Mapping[str, Any], where: str, files: Files) -> Variable:
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise PlanError(f'{where} has no name; write name = "…".')
    where = f"{where} ({name})"
    for fact in entry:
        if fact not in FACTS:
            known = did_you_mean(fact, FACTS) or f" Known: {', '.join(FACTS)}."
            raise PlanError(f"{where}: unknown name {fact!r}.{known}")
    facts: dict[str, Any] = {fact: entry[fact] for fact in _PLAIN if fact in entry}
    facts["role"] = Role(_choice(entry, "role", [str(role) for role in Role], Role.OTHER, where))
    facts["kind"] = Kind(_choice(entry, "kind", [str(kind) for kind in Kind], Kind.NOMINAL, where))
    facts["missing"] = _texts(entry.get("missing", []), f"{where}: missing")
    facts["guessed"] = _texts(entry.get("guessed", []), f"{where}: guessed")
    facts["codes"], facts["labels"] = _code_list(entry.get("codes", []), f"{where}: codes", files)
    if "household" in facts and not isinstance(facts["household"], bool):
        raise PlanError(f"{where}: household must be true or false.")
    try:
        variable = Variable(name=name, **facts)
        return _with_hierarchy(variable, entry["hierarchy"], where, files) if "hierarchy" in entry else variable
    except (DataError, ParameterError) as err:
        raise err.at(where, instead_of=variable_place(name)) from None


def _choice(entry: Mapping[str, Any], fact: str, allowed: list[str], default: str, where: str) -> str:
    value = entry.get(fact, default)
    if value not in allowed:
        near = did_you_mean(value, allowed)
        raise PlanError(f"{where}: {fact} must be one of {', '.join(allowed)}, got {value!r}.{near}")
    return str(value)


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise PlanError(f"{where} must be a list of texts.")
    return tuple(_text(item, where) for item in value)


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise PlanError(f"{where}: a code must be a text or a number.")
    return str(value)


def _code_list(value: Any, where: str, files: Files) -> CodeList:
    if isinstance(value, str):
        return files.codes(value)
    if isinstance(value, Mapping):
        return tuple(value), tuple(_text(label, where) for label in value.values())
    return _texts(value, where), ()


def _with_hierarchy(variable: Variable, value: Any, where: str, files: Files) -> Variable:
    where = f"{where}: hierarchy"
    if isinstance(value, str):
        value = {"file": value}
    if not isinstance(value, Mapping):
        raise PlanError(f"{where} must be a table with one of digits, file, children.")
    kinds = ("digits", "file", "children")
    for name in value:
        if name not in (*kinds, "total"):
            raise PlanError(f"{where}: unknown name {name!r}.{did_you_mean(name, (*kinds, 'total'))}")
    given = [kind for kind in kinds if kind in value]
    if len(given) != 1:
        raise PlanError(f"{where} must have exactly one of digits, file, children.")
    if given[0] == "digits":
        digits = value["digits"]
        if not isinstance(digits, list) or not all(type(width) is int for width in digits) or not digits:
            raise PlanError(f"{where}: digits must be a list of whole numbers, e.g. [2, 1].")
        return replace(variable, digits=tuple(digits))
    if given[0] == "file":
        return replace(variable, hierarchy=files.hierarchy(_text(value["file"], where)))
    return replace(variable, hierarchy=_tree(value["children"], str(value.get("total", TOTAL)), where))


def tree_from_table(table: Mapping[str, Any], *, total: str, where: str) -> Hierarchy:
    """A hierarchy from a TOML file: `total = "…"` and `[children]` with parent = [children]."""
    for name in table:
        if name not in ("total", "children"):
            raise PlanError(f"{where}: unknown name {name!r}.{did_you_mean(name, ('total', 'children'))}")
    return _tree(table.get("children"), str(table.get("total", total)), where)


def _tree(children: Any, total: str, where: str) -> Hierarchy:
    if not isinstance(children, Mapping):
        raise PlanError(f"{where}: children must be a table of parent = [children].")
    lists = {str(parent): _texts(below, f"{where}: {parent}") for parent, below in children.items()}
    if total not in lists:  # the tops need not be listed below the total
        below_something = {child for below in lists.values() for child in below}
        lists = {total: tuple(code for code in lists if code not in below_something), **lists}
    return Hierarchy.from_children(lists, total=total)


def schema_to_toml(schema: Schema, *, comments: Mapping[str, Sequence[str]] | None = None) -> str:
    """The schema as TOML text that reads back to an equal schema; hierarchies are in it as children lists.

    `comments` are lines that stand above a variable, such as the reasons of guesses.
    """
    entries = [_entry(variable) for variable in schema.variables]
    note = GUESS_NOTE if any(variable.guessed for variable in schema.variables) else ""
    comments = comments or {}
    return note + "\n".join(
        "".join(f"# {line}\n" for line in comments.get(entry["name"], ())) + _section("variable", entry, array=True)
        for entry in entries
    )


def _section(name: str, facts: Mapping[str, Any], *, array: bool = False) -> str:
    """One TOML section: its plain facts, then its tables as sections below it."""
    plain = {fact: value for fact, value in facts.items() if not isinstance(value, Mapping)}
    below = [_section(f"{name}.{fact}", value) for fact, value in facts.items() if isinstance(value, Mapping)]
    return (f"[[{name}]]\n" if array else f"[{name}]\n") + _short_lists(tomli_w.dumps(plain)) + "".join(below)


def _short_lists(text: str) -> str:
    """Lists that fit in a line are written in one."""

    def joined(found: re.Match[str]) -> str:
        line = " ".join(part.strip() for part in found[1].strip().split("\n")).rstrip(",")
        return f"[{line}]" if len(line) <= SHORT_LINE else found[0]

    return re.sub(r"\[\n((?:    .*,\n)+)\]", joined, text)


def _entry(variable: Variable) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": variable.name, "role": str(variable.role), "kind": str(variable.kind)}
    default = Variable(variable.name)
    for fact in _PLAIN:
        value = getattr(variable, fact)
        if value is not None and value != getattr(default, fact):
            entry[fact] = value
    if variable.priority == DEFAULT_PRIORITY:
        entry.pop("priority", None)
    if variable.missing:
        entry["missing"] = list(variable.missing)
    if variable.guessed:
        entry["guessed"] = list(variable.guessed)
    if variable.labels:
        entry["codes"] = dict(zip(variable.codes, variable.labels, strict=True))
    elif variable.codes:
        entry["codes"] = list(variable.codes)
    if variable.digits:
        entry["hierarchy"] = {"digits": list(variable.digits)}
    elif variable.hierarchy is not None:
        entry["hierarchy"] = _hierarchy_entry(variable.hierarchy)
    return entry


def _hierarchy_entry(tree: Hierarchy) -> dict[str, Any]:
    children = {
        tree.codes[position]: [tree.codes[child] for child in below]
        for position, below in enumerate(tree.children)
        if below
    }
    return {"total": tree.total, "children": children}
