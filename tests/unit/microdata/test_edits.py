"""Edit rules: language, missing values, contradictions, and steps that would break them."""

import contextlib

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.perturb_files import file_of
from reticent.base.errors import DataError, NotProtectedError, PlanError
from reticent.data.schema import Kind, Schema, Variable
from reticent.jobs.protect_file import protect_file
from reticent.microdata import edits
from reticent.microdata.edit_parser import parse_rule
from reticent.microdata.mask.multiplicative import MultiplicativeNoise
from reticent.microdata.mask.noise import Noise

SCHEMA = Schema(
    (
        *(Variable(name, kind=Kind.NUMERIC) for name in ("age", "tax", "income", "wages", "rents", "my var")),
        Variable("sex", codes=("1", "2")),
        Variable("relation"),
    )
)


def people():
    return file_of(
        {
            "age": np.array([5.0, 40.0, 70.0, np.nan]),
            "tax": np.array([0.0, 10.0, 30.0, 5.0]),
            "income": np.array([0.0, 50.0, 20.0, 5.0]),
            "sex": pl.Series(["1", "2", "1", None]),
            "relation": pl.Series(["child", "head", "child", "child"]),
        }
    )


@pytest.mark.parametrize(
    "rule, broken",
    [
        ("tax <= income", [2]),
        ("tax < income", [0, 2, 3]),
        ("age >= 0", []),
        ("0 <= age <= 60", [2]),
        ("relation == 'child' => age < 30", [2]),
        ("not (relation = 'head' and sex == '2')", [1]),
        ("sex in {'1'}", [1]),
        ("sex not in {'2', '3'}", [1]),
        ("sex == 2 or age < 50", [2]),
        ("(tax + 10) * 2 <= income + 20 or income == 0", [2, 3]),
        ("-tax >= -income", [2]),
        ("tax / income <= 1", [2]),
        ("relation != \"head\"", [1]),
        ("tax == income", [1, 2]),
        ("age == 5 => income == 0", []),
    ],
)  # fmt: skip
def test_rules_find_the_records_that_break_them(rule, broken) -> None:
    data = people()
    (read,) = edits.read_rules([rule], data.schema)
    assert np.flatnonzero(edits.violations(data, read)).tolist() == broken
    assert edits.check(data, [read]) == ({rule: len(broken)} if broken else {})


@pytest.mark.parametrize(
    "rule, message",
    [
        ("tax <=", "is expected"),
        ("tax", "a comparison is expected"),
        ("tax <= income )", "should end here"),
        ("tax <= income; import os", "not understood"),
        ("__import__('os') == 1", "comparison is expected"),
        ("tax.upper() == 1", "is expected"),
        ("tex <= income", "Did you mean 'tax'"),
        ("relation < 3", "can only be compared with codes"),
        ("tax + 'a' > 1", "cannot be used as a number|codes"),
        ("(" * 100 + "tax" + ")" * 100 + " > 1", "nested too deeply"),
        ("tax > 1 " + "or tax > 1 " * 400, "at most 2000 characters"),
        ("3 in {'1'}", "only a variable"),
    ],
)
def test_unreadable_rules_are_refused_with_the_place(rule, message) -> None:
    data = people()
    with pytest.raises((PlanError, DataError), match=message):
        edits.check(data, edits.read_rules([rule], data.schema))


@pytest.mark.parametrize(
    "rules, together",
    [
        (["age < 0", "age >= 0"], 2),
        (["tax <= income", "income <= rents", "rents < tax", "age >= 0"], 3),
        (["wages + rents == income", "wages >= 5", "rents >= 5", "income < 10"], 4),
        (["sex == '1'", "sex == '2'"], 2),
        (["sex != '1'", "sex != '2'"], 2),
        (["relation in {'a', 'b'}", "relation == 'c'"], 2),
        (["age < 3 or age > 90", "age == 50"], 2),
        (["age == 5", "age != 5"], 2),
        (["tax > tax"], 1),
        (["sex == '1' => age > 60", "sex == '1'", "age < 50"], 3),
    ],
)
def test_contradictions_are_named(rules, together) -> None:
    with pytest.raises(PlanError, match="contradict each other|cannot be satisfied") as caught:
        edits.read_rules(rules, SCHEMA)
    assert sum(repr(rule) in str(caught.value) for rule in rules) == together


@pytest.mark.parametrize(
    "rules",
    [
        ["age >= 0", "age <= 0"],
        ["tax <= income", "income <= tax"],
        ["sex != '1'"],
        ["age < 3 or age > 90", "age != 1"],
        ["age * tax > 5", "age * tax < 3"],
        ["`my var` > 3"],
    ],
)
def test_rules_that_can_hold_together_are_accepted(rules) -> None:
    assert len(edits.read_rules(rules, SCHEMA)) == len(rules)


@given(st.text(alphabet="ab<=>!()+-*/'{}, andortif0123`\"", max_size=40))
def test_any_text_is_read_or_refused(text) -> None:
    with contextlib.suppress(PlanError):
        parse_rule(text)


def money(n: int = 400):
    rng = np.random.default_rng(0)
    tax = rng.exponential(size=n)
    return file_of({"income": tax + rng.exponential(size=n), "tax": tax, "age": rng.integers(0, 90, n).astype(float)})


def test_a_step_that_breaks_a_rule_is_refused_and_one_that_keeps_it_runs() -> None:
    data = money()
    rules = ("tax <= income", "tax >= 0")
    with pytest.raises(NotProtectedError, match="noise: the result breaks the edit rule 'tax <= income'"):
        protect_file(
            data,
            (Noise(("income", "tax"), k=1.0),),
            edits=rules,
            secret=1,
            test_secret=True,
            most=1.0,
            accept_risk="only rules count here",
        )
    chained = MultiplicativeNoise(("income", "tax"), chains=(("income", "tax"),))
    assert (
        protect_file(
            data, (chained,), edits=rules, secret=1, test_secret=True, most=1.0, accept_risk="only rules count here"
        )
        .steps[0]
        .changed["tax"]
        == 400
    )


def test_input_that_breaks_a_rule_is_refused_before_work() -> None:
    with pytest.raises(DataError, match="records of the input break it"):
        protect_file(money(), (Noise(("income",)),), edits=("income <= tax",), secret=1, test_secret=True, most=1.0)
    with pytest.raises(PlanError, match="contradict"):
        protect_file(money(), (), edits=("age < 0", "age > 0"), secret=1, test_secret=True, most=1.0)


def test_a_rule_ends_with_its_variable() -> None:
    data = money()
    rules = edits.read_rules(("tax <= income",), data.schema)
    assert edits.check_step("drop", data.without(("tax",)), rules) == ("tax <= income",)
    recoded = data.with_schema(data.schema.change("tax", kind=Kind.ORDINAL))
    assert edits.check_step("recode", recoded, rules) == ("tax <= income",)
