"""The language of delegated expressions: what it means, and one sentence for everything that is not in it."""

from fractions import Fraction

import pytest

from reticent.base.errors import ParameterError
from reticent.delegation.columns import Column, as_whole, largest_total, scale_of
from reticent.delegation.expression import Expression, evaluate, parse, row

COLUMNS = ("x", "y")
ROWS = [(1, 2), (3, 4), (-5, 6)]


def plain(found: Expression) -> Fraction | None:
    totals = {
        total: Fraction(sum(
            factor * _product([dict(zip(COLUMNS, values, strict=True))[name] for name in names])
            for values in ROWS for names, factor in total.terms
        ))
        for total in found.totals
    }  # fmt: skip
    assert found.value is not None
    return evaluate(found.value, totals)


def _product(values: list[int]) -> int:
    result = 1
    for value in values:
        result *= value
    return result


@pytest.mark.parametrize("text, value", [
    ("sum(x)", Fraction(-1)),
    ("sum(x*y)", Fraction(2 + 12 - 30)),
    ("sum(x**2)", Fraction(35)),
    ("sum((x - y) * (x + y))", Fraction(35 - 56)),
    ("sum(x + 1)", Fraction(2)),
    ("mean(y)", Fraction(4)),
    ("var(y)", Fraction(8, 3)),
    ("sum(x) / sum(y)", Fraction(-1, 12)),
    ("2 * sum(x) - 3 * mean(y)", Fraction(-14)),
    ("-sum(x) * sum(y)", Fraction(12)),
    ("sum(y) / count()", Fraction(4)),
    ("sum(y - 2*x) / (sum(x) + 1)", None),
])  # fmt: skip
def test_values(text: str, value: Fraction | None) -> None:
    assert plain(parse("e", text, COLUMNS)) == value


def test_equality_is_one_total_that_must_be_zero() -> None:
    found = parse("e", "sum(x) == 2 * sum(y)", COLUMNS)
    assert found.zero == row({("x",): 1, ("y",): -2})


@pytest.mark.parametrize("text, words", [
    ("sum(q)", "there is no column 'q'"),
    ("x", "must be inside sum(), mean() or var()"),
    ("sum(x*x*x*y*y)", "multiplies 5 columns"),
    ("var(x*y*x)", "multiplies 6 columns"),
    ("sum(x/y)", "no division"),
    ("sum(x)(y)", "there is no function"),
    ("__import__('os')", "there is no function '__import__'"),
    ("sum(x).real", "this is not in the language"),
    ("sum(1.5*x)", "numbers must be whole"),
    ("sum(10**9*x)", "powers must be whole numbers from 1 to 4"),
    ("sum(x, y)", "takes one expression"),
    ("sum(x) < sum(y)", "the only comparison is =="),
    ("mean(x) == mean(y)", "not ratios"),
    ("sum(x) == sum(y + 1)", "without numbers added"),
    ("1 + 2", "nothing would be delegated"),
    ("sum(x", "cannot be read"),
    ("sum(" + "x+" * 300 + "x)", "at most 500 are read"),
    ("sum(" + "(" * 220 + "x" + ")" * 220 + ")", "cannot be read"),
    ("sum([x for x in y])", "only columns and whole numbers"),
])  # fmt: skip
def test_whatever_is_not_in_the_language_is_refused(text: str, words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse("e", text, COLUMNS)
    assert words in str(caught.value)


def test_decimals_are_brought_together() -> None:
    columns = {"x": Column(0, 10, decimals=1), "y": Column(-5, 5)}
    both = row({("x",): 1, ("y",): 2})
    assert scale_of(both, columns) == 1
    assert as_whole(both, columns) == row({("x",): 1, ("y",): 20})
    assert largest_total(as_whole(both, columns), columns, rows=3) == 3 * (100 + 20 * 5)


@pytest.mark.parametrize("low, high", [(1, 0), (float("nan"), 1), (0, float("inf")), (0, 2.0**41)])
def test_bounds_must_make_sense(low: float, high: float) -> None:
    with pytest.raises(ParameterError):
        Column(low, high)
