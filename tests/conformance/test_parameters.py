"""Every class of parameters, found by walking the package: what is outside of its fields is one sentence, never a TypeError."""

import dataclasses
from typing import Any

import pytest

from reference.parameter_values import Odd, cases, edges, every_class, fields_of, good_options, refusal
from reticent.base.errors import ParameterError, PlanError, ReticentError
from reticent.data.parameters import Parameters, build, owner_of, to_plain
from reticent.microdata.mask import METHODS
from reticent.queries.modes import MODES, options_class
from reticent.queries.policy import Policy
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.rules import RULES
from reticent.tables.suppression.optimal import Optimal

CLASSES = every_class()
EACH = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: f"{cls.__module__.split('.')[1]}.{cls.__name__}")


def test_the_registries_are_among_the_classes() -> None:
    for registry in (METHODS, TABLE_METHODS, RULES):
        for name, cls in registry.items():
            assert cls in CLASSES, f"{name} is not a class of Parameters and checks nothing"
    assert all(options_class(name) in {None, *CLASSES} for name in MODES)
    assert len(CLASSES) > 80


@EACH
def test_examples_are_accepted(cls: type[Parameters]) -> None:
    for options in good_options(cls):
        made = cls(**options)
        assert build(cls, options, owner="plan") == made or cls.__eq__ is not object.__eq__
        assert dataclasses.replace(made) == made


@EACH
def test_bad_values_are_one_sentence(cls: type[Parameters]) -> None:
    options = good_options(cls)[0]
    for name, value in cases(cls):
        said = refusal(lambda: cls(**{**options, name: value}))  # noqa: B023
        assert said.startswith(f"{owner_of(cls)}: {name}"), f"{name} = {value!r}: {said}"
        assert said.endswith((".", "?")), said
        assert "\n" not in said
        assert len(said) < 600
        assert "Traceback" not in said


@EACH
def test_plans_say_the_same_sentence(cls: type[Parameters]) -> None:
    options = good_options(cls)[0]
    for name, value in cases(cls):
        here = refusal(lambda: cls(**{**options, name: value}))  # noqa: B023
        there = refusal(lambda: build(cls, {**options, name: value}, owner="p.toml"))  # noqa: B023
        assert there.removeprefix("p.toml") == here.removeprefix(owner_of(cls)), (name, value)


@EACH
def test_wrong_names_are_one_sentence(cls: type[Parameters]) -> None:
    options = good_options(cls)[0]
    for name, _, _ in fields_of(cls):
        wrong = f"{name}x"
        said = refusal(lambda: cls(**{**options, wrong: 1}))  # noqa: B023
        assert said.startswith(f"{owner_of(cls)}: unknown option {wrong!r}.")
        assert "Did you mean" in said or len(name) < 2
    for name in options:
        required = cls.__dataclass_fields__[name]  # type: ignore[attr-defined]
        if required.default is dataclasses.MISSING and required.default_factory is dataclasses.MISSING:
            left = {key: value for key, value in options.items() if key != name}
            assert f"option {name!r} is missing" in refusal(lambda: cls(**left))  # noqa: B023
    too_many = [Odd()] * (len(fields_of(cls)) + 1)
    assert "options without a name" in refusal(lambda: cls(*too_many))


@EACH
def test_the_outermost_values_are_accepted(cls: type[Parameters]) -> None:
    for name, hint, meta in fields_of(cls):
        for value in edges(hint, meta):
            errors = []
            for options in good_options(cls):
                try:
                    made = cls(**{**options, name: value})
                except ReticentError as err:
                    errors.append(str(err))
                else:
                    taken = getattr(made, name)
                    assert taken == value
                    assert type(taken).__module__ != "numpy"
                    break
            else:
                pytest.fail(f"{name} = {value!r} is refused with every example: {errors}")


def test_the_two_that_were_accepted() -> None:
    with pytest.raises(ParameterError, match="policy: minimum must be at least 1, got 0"):
        Policy(minimum=0)
    with pytest.raises(ParameterError, match="optimal: cost must be one of own, .*, got 'nonsense'"):
        Optimal(cost="nonsense")  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="there is no mode 'exat'. Did you mean 'exact'"):
        Policy(mode="exat")
    with pytest.raises(PlanError, match="options private: epsilon must be at least"):
        Policy(mode="private", options={"private": {"epsilon": -1}})


def test_what_was_taken_is_plain() -> None:
    """Lists become tuples and numbers Python's own, so equal parameters are equal and hash alike."""
    import numpy as np

    made: Any = METHODS["noise"](["income"], k=np.float32(0.5), strata=np.array(["sex"]))
    assert made.variables == ("income",)
    assert made.strata == ("sex",)
    assert type(made.k) is float
    assert hash(made) == hash(METHODS["noise"](("income",), k=0.5, strata=("sex",)))
    assert to_plain(made) == {"variables": ["income"], "k": 0.5, "strata": ["sex"]}
