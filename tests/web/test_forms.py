"""Forms from dataclasses: a toy method with an enumeration, a list, a nested rule and an optional field needs no page."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.data.method import Method
from reticent.data.parameters import Parameters, build, to_plain
from reticent.jobs.options import METHODS, RULES, TABLE_METHODS, FileOutputSection, Policy, RiskSection
from reticent.web.form_texts import shape_of, taken, written
from reticent.web.form_values import Sent, take_form
from reticent.web.forms import Field, Known, form_of


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


@dataclass(frozen=True)
class ToyRule(Parameters):
    least: int = field(default=3, metadata={"min": 1, "help": "fewest respondents"})
    share: float | None = field(default=None, metadata={"min": 0, "max": 100, "unit": "%"})


@dataclass(frozen=True)
class Toy(Method):
    """A method nobody has seen before."""

    name: ClassVar[str] = "toy"
    variable: str = field(metadata={"names": "variables", "help": "what to change"})
    colour: Colour = Colour.RED
    limits: tuple[float, ...] = field(default=(), metadata={"above": 0, "help": "rising limits"})
    words: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    rule: ToyRule | None = field(default=None, metadata={"help": "a rule of its own"})
    more_rules: tuple[ToyRule, ...] = ()
    seconds: float | None = field(default=None, metadata={"above": 0, "unit": "s", "help": "time limit"})
    strict: bool = field(default=True, metadata={"help": "whether it is strict"})


KNOWN = Known({"variables": ["age", "sex"]})


def _by_name(fields: tuple[Field, ...]) -> dict[str, Field]:
    return {one.name: one for one in fields}


def test_a_toy_method_becomes_a_form() -> None:
    made = _by_name(form_of(Toy, {"variable": "age", "rule": {"least": 5}}, known=KNOWN))
    assert made["variable"].kind == "choice"
    assert made["variable"].options == ("age", "sex")
    assert made["variable"].required
    assert made["colour"].options == ("red", "green")
    assert made["colour"].value == "red"
    assert (made["limits"].kind, made["limits"].range, made["limits"].numeric) == ("text", "above 0", True)
    assert made["words"].kind == made["shares"].kind == "lines"
    assert made["rule"].kind == "group"
    assert made["rule"].optional
    assert made["rule"].on
    inside = _by_name(made["rule"].fields)
    assert inside["rule.least"].value == "5"
    assert inside["rule.least"].range == "at least 1"
    assert inside["rule.share"].unit == "%"
    assert made["more_rules"].kind == "groups"
    assert made["seconds"].unit == "s"
    assert not made["seconds"].required
    assert made["strict"].kind == "switch"
    assert made["strict"].on


def _sent(**values: Any) -> Sent:
    return Sent(
        tuple(
            (name.replace("__", "."), text)
            for name, one in values.items()
            for text in (one if isinstance(one, list) else [one])
        )
    )


def test_a_sent_form_becomes_options() -> None:
    sent = _sent(
        variable="sex", colour="green", limits="1, 2.5 4", words="one, two\nthree", shares="a = 0.5\nb = 2", rule__given="on",
        rule__least="2", rule__share="", more_rules__0__least="7", more_rules__1__least="", seconds="", strict="on",
    )  # fmt: skip
    found = take_form(Toy, sent)
    assert found.errors == {}
    assert found.values == {
        "variable": "sex", "colour": "green", "limits": [1, 2.5, 4], "words": ["one, two", "three"],
        "shares": {"a": 0.5, "b": 2}, "rule": {"least": 2}, "more_rules": [{"least": 7}],
    }  # fmt: skip
    made = build(Toy, found.values, owner="toy")
    assert (made.colour, made.rule, made.more_rules) == (Colour.GREEN, ToyRule(2), (ToyRule(7),))


def test_each_wrong_field_has_the_sentence_of_the_library() -> None:
    sent = _sent(
        variable="", colour="blue", limits="1, -2", rule__given="on", rule__least="0", more_rules__0__least="5",
        more_rules__1__least="none",
        seconds="soon", strict="",
    )  # fmt: skip
    errors = take_form(Toy, sent).errors
    assert errors["colour"] == "toy: colour must be one of red, green, got 'blue'."
    assert errors["limits"] == "toy: limits must be above 0, got -2.0."
    assert errors["rule.least"].endswith("least must be at least 1, got 0.")
    assert errors["more_rules.1.least"].endswith("least must be a whole number, got a text.")
    assert errors["seconds"] == "toy: seconds must be a number, got a text."
    shown = _by_name(form_of(Toy, take_form(Toy, sent).values, known=KNOWN, errors=errors))
    assert shown["seconds"].value == "soon"
    assert shown["seconds"].error
    assert _by_name(shown["rule"].fields)["rule.least"].error
    missing = take_form(Toy, _sent(variable="", colour="red", strict="on"))
    assert missing.errors == {"variable": "toy: option 'variable' is missing."}


def test_what_the_plan_states_stays_stated_and_defaults_are_left_out() -> None:
    kept = {"variable": "age", "strict": True, "grc": "Age.grc"}
    found = take_form(Toy, _sent(variable="age", colour="red", strict="on"), kept=kept)
    assert found.values == {"grc": "Age.grc", "variable": "age", "strict": True}


def _all_classes() -> list[type[Any]]:
    return [*METHODS.values(), *RULES.values(), *TABLE_METHODS.values(), RiskSection, FileOutputSection, Policy]


def _send(fields: tuple[Field, ...]) -> list[tuple[str, str]]:
    """What a browser sends of a form that nobody touched."""
    sent: list[tuple[str, str]] = []
    for one in fields:
        if one.kind == "group":
            sent += ([(f"{one.name}.given", "on")] if one.on else []) + _send(one.fields)
        elif one.kind == "groups":
            sent += [item for group in one.groups for item in _send(group)]
        elif one.kind == "switch":
            sent += [(one.name, "on")] if one.on else []
        elif one.kind == "choices":
            sent += [(one.name, ""), (one.name, ""), *((one.name, value) for value in one.values)]
        else:
            sent.append((one.name, one.value.replace("\n", "\r\n")))
    return sent


@pytest.mark.parametrize("cls", _all_classes(), ids=lambda cls: cls.__name__)
def test_every_class_of_parameters_survives_its_form(cls: type[Any]) -> None:
    """Whatever a plan can say comes back unchanged from a form that is sent as it was shown."""
    for example in getattr(cls, "examples", ({},)):
        try:
            made = build(cls, example, owner="example")
        except Exception:
            continue
        plain = to_plain(made)
        found = take_form(cls, Sent(tuple(_send(form_of(cls, plain, known=KNOWN)))), kept=plain)
        assert found.errors == {}
        assert build(cls, found.values, owner="form") == made


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_survive_their_text(numbers: list[float]) -> None:
    shape = shape_of(tuple[float, ...], {})
    assert (taken(written(numbers, shape), shape) or []) == numbers


def test_every_field_of_every_class_has_a_kind_that_is_drawn() -> None:
    kinds = {"switch", "choice", "choices", "text", "lines", "group", "groups"}
    for cls in _all_classes():
        made = form_of(cls, {}, known=KNOWN)
        assert {one.kind for one in made} <= kinds
        assert len(made) == len([one for one in dataclasses.fields(cls) if one.init])
