"""Microdata: encodings, missing codes, same kind of frame out, the checks at load."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reticent as rt
from reticent.base.errors import DataError
from reticent.data.microdata import Microdata
from reticent.data.published import release_file
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.tables.rules import Threshold

SCHEMA = Schema(
    (
        Variable("name", role=Role.IDENTIFIER),
        Variable("sex", role=Role.KEY, missing=("9",)),
        Variable("age", role=Role.KEY, kind=Kind.NUMERIC, missing=("99",)),
        Variable("income", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)
COLUMNS = {"name": ["a", "b", "c"], "sex": ["1", "9", "2"], "age": [30, 99, 41], "income": [1.5, None, 3.0]}


def test_missing_codes_become_minus_one_and_nan() -> None:
    data = Microdata.of(pl.DataFrame(COLUMNS), SCHEMA)
    assert data.codes(("sex", "age")).tolist() == [[0, 0], [-1, -1], [1, 1]]
    assert data.categories("age") == ("30", "41")
    assert np.isnan(data.numbers(("age", "income"))[1]).all()


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table, lambda c: duckdb.from_arrow(pa.table(c))])
def test_same_kind_out(make) -> None:
    native = make(COLUMNS)
    out = release_file(Microdata.of(native, SCHEMA)).to_native()
    assert type(out) is type(native)
    assert "name" not in out.columns if not isinstance(out, pa.Table) else "name" not in out.column_names


def test_change_keeps_old_missing_codes_and_original_untouched() -> None:
    data = Microdata.of(pl.DataFrame(COLUMNS), SCHEMA)
    masked = data.with_codes("age", np.array([0, -1, -1], dtype=np.int32), ("30", "41"))
    assert masked.frame.table["age"].to_list() == [30, 99, 99]
    assert data.frame.table["age"].to_list() == [30, 99, 41]


def test_numbers_keep_missing_code() -> None:
    data = Microdata.of(pl.DataFrame(COLUMNS), SCHEMA)
    masked = data.with_numbers("age", np.array([31.0, np.nan, 40.0]))
    assert masked.frame.table["age"].to_list() == [31, 99, 40]


def test_weight_zero_is_refused_without_showing_it() -> None:
    schema = Schema((Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),))
    with pytest.raises(DataError, match=r"2 records have a missing or non-positive weight \(the first is record 2\)"):
        Microdata.of(pl.DataFrame({"w": [1.0, 0.0, None]}), schema)
    with pytest.raises(DataError, match=r"must be above 0 and finite"):
        Microdata.of(pl.DataFrame({"w": [1.0, float("inf")]}), schema)


@pytest.mark.parametrize("least", [1e-3, 1e-9])
def test_a_weight_too_small_for_a_rule_is_refused_without_showing_it(least: float) -> None:
    schema = Schema((Variable("a", role=Role.KEY), Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC)))
    data = rt.load(pl.DataFrame({"a": ["x", "y"] * 5, "w": [least] + [2.0] * 9}), schema=schema)
    with pytest.raises(DataError, match=r"rules on 2 contributions need weights of 0.01 or more"):
        data.tabulate("a", weighted=True).protect(rules=[Threshold(3)])


def test_household_variable_must_be_constant() -> None:
    schema = Schema((Variable("h", role=Role.HOUSEHOLD_ID), Variable("size", role=Role.HOUSEHOLD_VARIABLE)))
    with pytest.raises(DataError, match="'size' differs within 1 households"):
        Microdata.of(pl.DataFrame({"h": [1, 1, 2], "size": [2, 3, 1]}), schema)


def test_undescribed_column_is_refused() -> None:
    with pytest.raises(DataError, match="does not describe the column 'extra'"):
        Microdata.of(pl.DataFrame({**COLUMNS, "extra": [1, 2, 3]}), SCHEMA)


def test_unknown_variable_has_a_hint() -> None:
    with pytest.raises(DataError, match="Did you mean 'income'"):
        SCHEMA["incme"]


def test_only_one_weight() -> None:
    weight = Variable("a", role=Role.WEIGHT, kind=Kind.NUMERIC)
    with pytest.raises(DataError, match="only one variable may have the role weight"):
        Schema((weight, Variable("b", role=Role.WEIGHT, kind=Kind.NUMERIC)))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([1, 2, None])), min_size=1, max_size=30))
def test_patterns_agree_with_counting_tuples(rows) -> None:
    schema = Schema((Variable("x", role=Role.KEY), Variable("y", role=Role.KEY)))
    frame = pl.DataFrame({"x": [r[0] for r in rows], "y": [r[1] for r in rows]}, schema={"x": pl.String, "y": pl.Int64})
    data = Microdata.of(frame, schema)
    expected = [rows.count(row) for row in rows]
    assert data.patterns(("x", "y")).sample_counts.tolist() == expected
    assert data.sample_counts(("x", "y")).tolist() == expected
