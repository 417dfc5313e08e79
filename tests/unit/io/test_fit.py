"""From text columns to the types of a schema: numbers with points or commas, codes as text, what cannot be fitted."""

import datetime

import polars as pl
import pytest

from reticent.base.errors import DataError
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.io.argus_text import Notes
from reticent.io.fit import fit, looks_numeric, plain_schema

NUMBER = Variable("v", kind=Kind.NUMERIC)


def fitted(values: list[object], variable: Variable, notes: Notes | None = None) -> pl.Series:
    table = pl.DataFrame({variable.name: pl.Series(values, strict=False)})
    return fit(table, Schema((variable,)), owner="x.csv", notes=notes or Notes())[variable.name]


@pytest.mark.parametrize(
    ("texts", "numbers", "kind"),
    [
        (["1", "2", None], [1, 2, None], pl.Int64),
        (["1", "2.5"], [1.0, 2.5], pl.Float64),
        (["-3", "+4"], [-3, 4], pl.Int64),
        (["1e3", "2"], [1000.0, 2.0], pl.Float64),
    ],
)
def test_texts_become_numbers(texts: list[str | None], numbers: list[float | None], kind: type) -> None:
    found = fitted(texts, NUMBER)
    assert found.to_list() == numbers
    assert found.dtype == kind


def test_decimal_commas_are_read_and_noted() -> None:
    notes = Notes()
    assert fitted(["1,5", "2"], NUMBER, notes).to_list() == [1.5, 2.0]
    assert list(notes) == ["x.csv: decimal commas in v are read as points."]


def test_a_text_that_is_no_number_is_named_by_its_record_and_never_shown() -> None:
    with pytest.raises(DataError, match=r"'v' should be numeric; values that are not numbers: 2 .*record 2") as found:
        fitted(["1", "secret", "also"], NUMBER)
    assert "secret" not in str(found.value)


def test_a_missing_code_that_is_no_number_stays() -> None:
    variable = Variable("v", kind=Kind.NUMERIC, missing=("none",))
    assert fitted(["1", "none", "2.0"], variable).to_list() == ["1", "none", "2.0"]


def test_numbers_beside_a_missing_text_have_one_spelling() -> None:
    """5 and 5.0 would be two codes to somebody who reads the file."""
    variable = Variable("v", kind=Kind.NUMERIC, missing=("none",))
    found = fitted(["5", "none", "5.0"], variable).to_list()
    assert found[0] == found[2]
    assert found[1] == "none"


def test_codes_stay_texts_and_truth_becomes_one_and_zero() -> None:
    assert fitted(["01", "1"], Variable("v")).to_list() == ["01", "1"]
    assert fitted([True, False, None], Variable("v")).to_list() == ["1", "0", None]
    assert fitted([1, 2], Variable("v")).to_list() == [1, 2]
    assert fitted([True, False], NUMBER).to_list() == [1.0, 0.0]


def test_identifiers_that_are_whole_numbers_are_the_same_from_every_format() -> None:
    variable = Variable("v", role=Role.IDENTIFIER)
    assert fitted(["10", "7"], variable).dtype == pl.Int64
    assert fitted(["010", "7"], variable).dtype == pl.String


def test_lists_and_durations_cannot_be_fitted() -> None:
    for values in ([[1], [2]], [datetime.timedelta(days=1)] * 2, [b"a", b"b"]):
        with pytest.raises(DataError, match="holds lists, binary values, durations"):
            fitted(values, Variable("v"))  # type: ignore[arg-type]


@pytest.mark.parametrize("role", [Role.KEY, Role.SENSITIVE])
def test_a_variable_that_matters_must_have_values(role: Role) -> None:
    with pytest.raises(DataError, match="missing in every record"):
        fitted([None, "9"], Variable("v", role=role, missing=("9",)))
    fitted([None, None], Variable("v", role=Role.OTHER))


def test_columns_that_the_schema_does_not_know_stay() -> None:
    table = pl.DataFrame({"v": ["1"], "other": ["x"]})
    assert fit(table, Schema((NUMBER,)), owner="x.csv", notes=Notes())["other"].to_list() == ["x"]


@pytest.mark.parametrize(
    ("values", "numeric"),
    [
        (["1", "2.5", None], True), (["1,5"], True), (["007", "8"], False), (["-01"], False), (["0", "0.5"], True),
        (["a"], False), ([None], False), ([1, 2], True), ([True], False),
    ],
)  # fmt: skip
def test_what_looks_like_numbers(values: list[object], numeric: bool) -> None:
    column = pl.Series("v", values, dtype=pl.String if values == [None] else None)
    assert looks_numeric(column) == numeric
    kind = plain_schema(column.to_frame())["v"].kind
    assert kind is (Kind.NUMERIC if numeric else Kind.NOMINAL)
