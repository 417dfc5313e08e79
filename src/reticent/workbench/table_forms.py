# SPDX-License-Identifier: Apache-2.0
"""The forms of a table plan: dimensions and response, rules, method, output; and the lines of the plan that they change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reticent.base.errors import PlanError
from reticent.jobs.options import RULES, TABLE_METHODS, OutputSection, Parameters, ProtectSection
from reticent.web.form_values import Sent, Taken, take_form
from reticent.web.forms import Field, Known, form_of
from reticent.web.toml_text import TomlText
from reticent.workbench.project import Project

COUNT = "count"
DEFAULT = "heuristic"
NEW_RULES = [{"rule": "threshold", "minimum": 3}]
OWN = tuple(name for name in ProtectSection.__dataclass_fields__ if name not in ("method", "options"))

ABOVE = (*OWN, "power")
"""Options of methods that `[protect]` says for all of them."""


def about(registry: Mapping[str, type[Any]]) -> list[tuple[str, str]]:
    """Each method or rule, and what it does, in one sentence."""
    return [(name, str(one.__doc__).split("\n", 1)[0].replace("`", "")) for name, one in registry.items()]


@dataclass(frozen=True)
class Shape(Parameters):
    """Which table: what it is crossed by, what it adds up."""

    dimensions: tuple[str, ...] = field(
        metadata={"names": "dimensions", "help": "what the table is crossed by, in this order"}
    )
    responses: tuple[str, ...] = field(
        default=(),
        metadata={"names": "responses", "help": "what is added up, each in a table; none: records are counted"},
    )
    weighted: bool = field(default=False, metadata={"help": "add up with the weights of the schema"})


@dataclass(frozen=True)
class Rule:
    """A rule of the plan: its name, its fields, how many cells it calls unsafe."""

    number: int
    name: str
    fields: tuple[Field, ...]
    unsafe: str
    error: str = ""

    @property
    def plain(self) -> tuple[Field, ...]:
        """Numbers: what one changes."""
        return tuple(one for one in self.fields if one.numeric)

    @property
    def more(self) -> tuple[Field, ...]:
        """The other fields."""
        return tuple(one for one in self.fields if not one.numeric)

    @property
    def opened(self) -> bool:
        """Whether the other fields must be seen."""
        return any(one.error for one in self.more)


def sections_of(project: Project) -> list[dict[str, Any]]:
    """The tables of the plan."""
    found = project.table("table").get("table", [])
    return [dict(one) for one in found] if isinstance(found, list) else [dict(found)]


def known(project: Project) -> Known:
    """Variables that a table can be crossed by, and those that it can add up."""
    variables = project.variables()
    names = [str(one.get("name", "")) for one in variables if one.get("role") not in ("identifier", "weight", "entity")]
    numbers = [
        str(one.get("name", "")) for one in variables if one.get("kind") == "numeric" and one.get("role") != "weight"
    ]
    counted = [*numbers, *([COUNT] if COUNT not in numbers else [])]
    return Known({"dimensions": [name for name in names if name not in numbers] or names, "responses": counted})


def names_of(section: Mapping[str, Any]) -> list[str]:
    """The variables that a table is crossed by."""
    listed = section.get("dimensions", [])
    return [str(one.get("variable", "")) if isinstance(one, Mapping) else str(one) for one in listed]


def levels_of(section: Mapping[str, Any]) -> list[str]:
    """The deepest level of each dimension, where one is said."""
    return [str(one.get("level", "")) if isinstance(one, Mapping) else "" for one in section.get("dimensions", [])]


def responses_of(section: Mapping[str, Any]) -> list[str]:
    """What a table adds up; nothing: records are counted."""
    return [str(one) for one in section.get("responses") or ([section["response"]] if section.get("response") else [])]


def shape_form(project: Project, section: Mapping[str, Any], errors: Mapping[str, str]) -> tuple[Field, ...]:
    """The form of dimensions and responses."""
    chosen = names_of(section)
    values = {**section, "dimensions": chosen, "responses": responses_of(section)}
    names = known(project).names
    ordered = [*chosen, *(name for name in names["dimensions"] if name not in chosen)]
    fields = form_of(Shape, values, known=Known({**names, "dimensions": ordered}), errors=errors)
    weighted = bool(section.get("weighted")) or bool(project.names("weight"))
    return tuple(one for one in fields if weighted or one.name != "weighted")


def take_shape(section: Mapping[str, Any], sent: Sent) -> Taken:
    """The section with dimensions and responses as sent; what else a dimension says stays."""
    had = dict(zip(names_of(section), section.get("dimensions", []), strict=True))
    others = {key: value for key, value in section.items() if key not in ("response", "responses")}
    taken = take_form(Shape, sent, kept={**others, "dimensions": list(had)}, owner="[table]")
    dimensions, errors = [], dict(taken.errors)
    if not taken.values.get("dimensions"):
        errors["dimensions"] = "[table]: dimensions must name at least one variable."
    for at, name in enumerate(taken.values.get("dimensions", [])):
        one = had.get(name, name)
        text = sent.get(f"level.{list(had).index(name)}") if name in had else ""
        options = dict(one) if isinstance(one, Mapping) else {"variable": name}
        if f"level.{at}" in sent and not text.strip():
            options.pop("level", None)
        elif text.strip():
            level = Sent((("level", text.strip()),)).number("level", 0)
            if level < 1:
                errors["level"] = f"dimension {at + 1}: level must be a whole number of at least 1."
            options["level"] = level
        dimensions.append(options if len(options) > 1 else name)
    added = [str(one) for one in taken.values.pop("responses", [])]
    chosen: dict[str, Any] = {"response": added[0]} if len(added) == 1 and added != [COUNT] else {}
    chosen = {"responses": added} if len(added) > 1 else chosen
    rest = {key: value for key, value in taken.values.items() if key != "dimensions"}
    return Taken({"dimensions": dimensions, **chosen, **rest}, errors)


def all_rules(sections: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rules of all tables: each of them judges every table."""
    return [dict(one) for section in sections for one in section.get("rules", [])]


def rule_forms(rules: Sequence[Mapping[str, Any]], unsafe: Sequence[int], errors: Mapping[str, str]) -> list[Rule]:
    """A form for each rule of the plan; `unsafe` counts the cells that break each of them."""
    made = []
    for at, given in enumerate(rules):
        options = dict(given)
        name = str(options.pop("rule", ""))
        prefix = f"rule.{at}."
        own = {f"{prefix}{key.removeprefix(prefix)}": text for key, text in errors.items() if key.startswith(prefix)}
        fields = form_of(RULES[name], options, errors=own, prefix=prefix) if name in RULES else ()
        made.append(Rule(at, name, fields, unsafe_words(unsafe, at), errors.get(f"rule.{at}", "")))
    return made


def unsafe_words(unsafe: Sequence[int], at: int) -> str:
    """How many cells break a rule, in words."""
    if at >= len(unsafe):
        return "not counted yet"
    return "does not judge counts" if unsafe[at] < 0 else f"{unsafe[at]:,} cells unsafe"


def take_rules(now: Sequence[Mapping[str, Any]], sent: Sent) -> Taken:
    """The rules as sent, with those that are taken out or added."""
    rules: list[dict[str, Any]] = []
    errors: dict[str, str] = {}
    for at, given in enumerate(now):
        name, prefix = str(given.get("rule", "")), f"rule.{at}."
        if sent.get("remove") == str(at):
            continue
        if name not in RULES:
            rules.append(dict(given))
            continue
        own = Sent(tuple((key.removeprefix(prefix), value) for key, value in sent.items if key.startswith(prefix)))
        kept = {key: value for key, value in given.items() if key != "rule"}
        taken = take_form(RULES[name], own, kept=kept)
        errors |= {f"{prefix}{key}" if key else f"rule.{at}": text for key, text in taken.errors.items()}
        rules.append({"rule": name, **taken.values})
    if "add" in sent:
        if sent.get("new") in RULES:
            rules.append({"rule": sent.get("new")})
        else:
            errors["new"] = f"choose one of the rules: {', '.join(RULES)}."
    return Taken({"rules": rules}, errors)


def with_rules(text: TomlText, sections: Sequence[Mapping[str, Any]], rules: Sequence[Mapping[str, Any]]) -> TomlText:
    """The text with all rules in the first table, where one reads them; they judge every table."""
    for number, section in enumerate(sections):
        rest = {key: value for key, value in section.items() if key != "rules"}
        if number == 0:
            rest = {**section, "rules": list(rules)} if rules else rest
        if rest != section:
            text = with_section(text, number, rest)
    return text


def protect_form(protect: Mapping[str, Any], errors: Mapping[str, str]) -> tuple[Field, ...]:
    """Options of the method that is chosen, then those of every method."""
    name = str(protect.get("method", DEFAULT))
    options = {key: value for key, value in protect.items() if key not in (*OWN, "method")}
    own = form_of(TABLE_METHODS[name], options, errors=errors, prefix="m.") if name in TABLE_METHODS else ()
    own = tuple(one for one in own if one.name.removeprefix("m.") not in ABOVE)
    shared = form_of(ProtectSection, {k: v for k, v in protect.items() if k in OWN}, errors=errors)
    return (*own, *(one for one in shared if one.name in OWN))


def take_protect(protect: Mapping[str, Any], sent: Sent) -> Taken:
    """`[protect]` as sent; another method starts with its defaults."""
    name, was = sent.get("method"), str(protect.get("method", DEFAULT))
    if name not in TABLE_METHODS:
        return Taken(dict(protect), {"method": f"choose one of the methods: {', '.join(TABLE_METHODS)}."})
    shared = take_form(ProtectSection, sent, kept={k: v for k, v in protect.items() if k in OWN})
    own = Taken({}, {})
    if name == was:
        inner = Sent(tuple((key.removeprefix("m."), value) for key, value in sent.items if key.startswith("m.")))
        kept = {key: value for key, value in protect.items() if key not in (*OWN, "method")}
        own = take_form(TABLE_METHODS[name], Sent(tuple(one for one in inner.items if one[0] not in ABOVE)), kept=kept)
    values = {key: value for key, value in shared.values.items() if key not in ("method", "options")}
    errors = {**shared.errors, **{f"m.{key}": text for key, text in own.errors.items()}}
    return Taken({"method": name, **values, **own.values}, errors)


def output_form(output: Mapping[str, Any], errors: Mapping[str, str]) -> tuple[Field, ...]:
    """Where results go."""
    helps = {
        "path": "The table. Its ending says the format: .csv, .xlsx, .px, .json (SDMX), ….", "public_report": "May leave.",
        "report": "Confidential.", "summary": "Confidential, for programs.",
    }  # fmt: skip
    fields = form_of(OutputSection, output, errors=errors)
    return tuple(replace(one, help=helps[one.name]) for one in fields if one.name in helps)


def take_output(output: Mapping[str, Any], sent: Sent) -> Taken:
    """`[output]` as sent."""
    return take_form(OutputSection, sent, kept=output)


def new_output(stem: str) -> dict[str, str]:
    """Where the results of a new table go."""
    return {
        "path": f"{stem}.table.csv", "public_report": f"{stem}.table.public.html",
        "report": f"{stem}.table.confidential.html", "summary": f"{stem}.table.confidential.json",
    }  # fmt: skip


def with_section(text: TomlText, number: int, values: Mapping[str, Any]) -> TomlText:
    """The text with one table as given."""
    found = text.table.get("table")
    if isinstance(found, list):
        if not 0 <= number < len(found):
            raise PlanError("there is no such table in the plan; choose one of the tabs.")
        return text.set_entry("table", number, values)
    return text.set_section("table", values)


def added(text: TomlText, values: Mapping[str, Any]) -> TomlText:
    """The text with one more table, linked to those that it has."""
    listed = _listed(text)
    if isinstance(text.table.get("table"), list):
        return text.insert("table", len(listed), values)
    return _rewritten(text, [*listed, dict(values)])


def removed(text: TomlText, number: int) -> TomlText:
    """The text without one of its tables; the rules of the plan stay."""
    listed = _listed(text)
    left, rules = [one for at, one in enumerate(listed) if at != number], all_rules(listed)
    if left and rules:
        left = [{**left[0], "rules": rules}, *({k: v for k, v in one.items() if k != "rules"} for one in left[1:])]
    return _rewritten(text, left)


def _listed(text: TomlText) -> list[dict[str, Any]]:
    found = text.table.get("table", [])
    return [dict(one) for one in found] if isinstance(found, list) else [dict(found)]


def _rewritten(text: TomlText, sections: Sequence[Mapping[str, Any]]) -> TomlText:
    """The text with these tables in place of its own: `[table]` for one, `[[table]]` for several."""
    text = text if isinstance(text.table.get("table"), list) else text.set_section("table", {})
    while text.entries("table"):
        text = text.remove("table", 0)
    if len(sections) == 1:
        return text.set_section("table", sections[0])
    for at, one in enumerate(sections):
        text = text.insert("table", at, one)
    return text
