"""Weighted sums are published as computed: rounded to the response's decimals they are other numbers, and do not add up."""

from collections.abc import Sequence
from fractions import Fraction

import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold

CODES = ("a", "b", "c", "d")


def true_sums(values: Sequence[str], weights: Sequence[str]) -> dict[str, Fraction]:
    """The weighted sums by code, calculated in fractions."""
    parts = [Fraction(value) * Fraction(weight) for value, weight in zip(values, weights, strict=True)]
    return {code: sum(parts[at :: len(CODES)], Fraction(0)) for at, code in enumerate(CODES)}


def protected(values: Sequence[str], weights: Sequence[str]) -> ProtectedTable:
    """A table of weighted sums by code; the records take the codes in turn."""
    schema = Schema(
        (
            Variable("code", role=Role.KEY, codes=CODES),
            Variable("pay", kind=Kind.NUMERIC),
            Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
        )
    )
    frame = pl.DataFrame(
        {
            "code": [CODES[row % len(CODES)] for row in range(len(values))],
            "pay": [float(value) for value in values],
            "w": [float(weight) for weight in weights],
        }
    )
    spec = TableSpec((DimensionSpec("code"),), response="pay", weighted=True)
    return protect_table(
        Microdata.of(frame, schema), spec, rules=[Threshold(minimum=3)], method=TABLE_METHODS["heuristic"]()
    )


@pytest.mark.parametrize(
    ("values", "weights", "decimals"),
    [
        (["105", "210", "90", "7"] * 3, ["2.5", "1.5", "1", "3"] * 3, 1),
        (["10.25", "3.5", "8", "1.75"] * 4, ["1.125", "2.5", "1", "1.375"] * 4, 5),
        (["10.5", "3.5", "8", "1.5"] * 4, ["2", "3", "1", "4"] * 4, 1),
    ],
)
def test_a_weighted_sum_is_shown_as_computed(values: list[str], weights: list[str], decimals: int) -> None:
    table = protected(values, weights).published[0]
    assert table.decimals == decimals
    true = true_sums(values, weights)
    shown = {codes[0]: Fraction(table.text(row)) for row, codes in enumerate(table.codes)}
    assert {code: shown[code] for code in CODES} == true
    assert shown["Total"] == sum(true.values())


def test_what_the_numbers_tell_of_hidden_sums_is_what_the_attack_reports() -> None:
    """The last code has two respondents; what the hidden codes add up to follows from the others to the last digit."""
    values, weights = ["105", "211", "93", "7", "11", "31", "13", "8", "5", "3", "1"], ["2.5"] * 11
    result = protected(values, weights)
    table = result.published[0]
    shown = {c[0]: Fraction(table.text(row)) for row, c in enumerate(table.codes) if table.status[row] == "published"}
    hidden = set(CODES) - set(shown)
    assert "d" in hidden
    assert len(hidden) > 1
    known = shown["Total"] - sum(value for code, value in shown.items() if code != "Total")
    true = true_sums(values, weights)
    assert known == sum(true[code] for code in hidden)
    assert {row["high"] for row in result.intervals()} == {float(known)}
