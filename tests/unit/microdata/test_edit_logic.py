"""Whether edit rules can hold together: codes by sets, numbers by a linear program, alternatives by branches."""

import pytest

from reticent.data.schema import Kind, Schema, Variable
from reticent.microdata.edit_logic import contradiction
from reticent.microdata.edit_parser import parse_rule

SCHEMA = Schema(
    (
        Variable("sex", codes=("f", "m")),
        Variable("job", codes=("a", "b", "c")),
        Variable("age", kind=Kind.NUMERIC),
        Variable("pay", kind=Kind.NUMERIC),
        Variable("tax", kind=Kind.NUMERIC),
    )
)


def clash(*rules: str) -> tuple[int, ...]:
    return contradiction([parse_rule(rule) for rule in rules], SCHEMA)


@pytest.mark.parametrize(
    "rules",
    [
        (),
        ("sex == 'f'",),
        ("sex in {'f'}", "sex != 'm'"),
        ("age >= 0", "age <= 100"),
        ("age <= 10", "age >= 10"),
        ("tax <= pay", "pay <= 2 * tax", "tax > 0"),
        ("age < 16 => pay == 0", "age < 10", "pay <= 5"),
        ("sex == 'f' => job == 'a'", "sex == 'm' => job == 'b'"),
        ("age * pay > 5", "age * pay < 3"),  # not linear: never called impossible
        ("pay != 0", "pay >= 0"),
        ("age + pay == 10", "age - pay == 2"),
    ],
)
def test_rules_that_can_hold(rules: tuple[str, ...]) -> None:
    assert clash(*rules) == ()


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (("sex == 'f'", "sex == 'm'"), (0, 1)),
        (("sex != 'f'", "sex != 'm'"), (0, 1)),
        (("job in {'a','b'}", "job == 'c'"), (0, 1)),
        (("age >= 10", "age < 10"), (0, 1)),
        (("age > 10", "age <= 10"), (0, 1)),
        (("tax > pay", "pay > age", "age > tax"), (0, 1, 2)),
        (("pay >= 0", "tax == 5", "tax == pay + 1", "pay == 3"), (1, 2, 3)),
        (("sex == 'f' => job == 'a'", "sex == 'f'", "job == 'b'"), (0, 1, 2)),
        (("age < 16 => pay == 0", "age < 10", "pay > 0"), (0, 1, 2)),
        (("2 * pay == 4", "pay / 2 == 3"), (0, 1)),
        (("1 > 2",), (0,)),
    ],
)
def test_a_smallest_set_of_rules_that_cannot(rules: tuple[str, ...], expected: tuple[int, ...]) -> None:
    assert clash(*rules) == expected


def test_rules_without_a_part_in_the_clash_are_not_named() -> None:
    assert clash("pay >= 0", "sex == 'f'", "age >= 5", "sex == 'm'", "tax <= pay") == (1, 3)


def test_codes_that_nobody_listed_can_always_be_another() -> None:
    open_codes = Schema((Variable("town"),))
    rules = [parse_rule(rule) for rule in ("town != 'x'", "town != 'y'")]
    assert contradiction(rules, open_codes) == ()
