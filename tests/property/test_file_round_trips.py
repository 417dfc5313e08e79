"""Any table of texts and numbers survives each format, or is refused; any schema survives TOML."""

import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.published import release_file
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.schema_files import schema_from_text, schema_to_toml
from reticent.io.read import read_microdata
from reticent.io.write import write_masked

texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",), exclude_characters="\x00"), max_size=6)
codes = texts.map(str.strip).filter(lambda text: text != "")
simple = st.text(st.sampled_from("abcXYZ0129é,;\"' .-_:#[]=\\"), min_size=1, max_size=5).map(str.strip).filter(bool)
names = st.text(st.sampled_from("abcdefg_.é [\"'"), min_size=1, max_size=5)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32).map(float)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    variables = []
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        listed = tuple(draw(st.lists(codes, max_size=4, unique=True)))
        labels = tuple(draw(st.lists(texts, min_size=len(listed), max_size=len(listed)))) if draw(st.booleans()) else ()
        tree = Hierarchy.flat(listed, total="Everything") if listed and draw(st.booleans()) else None
        variables.append(
            Variable(
                name,
                role=draw(st.sampled_from([Role.KEY, Role.OTHER, Role.SENSITIVE, Role.IDENTIFIER])),
                kind=draw(st.sampled_from(list(Kind))),
                level=draw(st.integers(0, 3)),
                missing=tuple(draw(st.lists(codes, max_size=2, unique=True))),
                codes=listed,
                labels=labels,
                hierarchy=tree,
                digits=() if tree else tuple(draw(st.lists(st.integers(1, 3), max_size=2))),
                priority=float(draw(st.integers(0, 100))),
                household=draw(st.booleans()),
                guessed=tuple(draw(st.lists(st.sampled_from(["role", "kind"]), max_size=2, unique=True))),
            )
        )
    return Schema(tuple(variables))


@given(schemas())
def test_schema_survives_toml(schema: Schema) -> None:
    back = schema_from_text(schema_to_toml(schema), owner="s")
    assert back == schema
    assert [v.guessed for v in back.variables] == [v.guessed for v in schema.variables]


SCHEMA = Schema((Variable("code", missing=("99",)), Variable("value", kind=Kind.NUMERIC)))


@st.composite
def tables(draw: st.DrawFn, values: st.SearchStrategy[str]) -> pl.DataFrame:
    rows = draw(st.lists(st.tuples(st.none() | values, st.none() | numbers), min_size=1, max_size=8))
    table = pl.DataFrame(rows, schema={"code": pl.String, "value": pl.Float64}, orient="row")
    return table if table["code"].drop_nulls().len() else table.with_columns(code=pl.lit("x"))


def round_trip(table: pl.DataFrame, name: str, metadata: str | None) -> pl.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_masked(release_file(Microdata.of(table, SCHEMA)), place / name, schema=place / "s.toml")
        return read_microdata(place / name, None if metadata is None else place / metadata).frame.table


def same(back: pl.DataFrame, table: pl.DataFrame) -> None:
    assert back["code"].cast(pl.String).to_list() == table["code"].to_list()
    assert back["value"].cast(pl.Float64).to_list() == table["value"].to_list()


@given(tables(codes))
def test_csv(table: pl.DataFrame) -> None:
    same(round_trip(table, "t.csv", "s.toml"), table)


@given(tables(texts))
def test_parquet(table: pl.DataFrame) -> None:
    same(round_trip(table, "t.parquet", None), table)


@given(tables(simple))
def test_fixed_width(table: pl.DataFrame) -> None:
    same(round_trip(table, "t.asc", "t.rda"), table.with_columns(pl.col("code").fill_null("99")))


@given(tables(simple))
def test_spss(table: pl.DataFrame) -> None:
    same(round_trip(table, "t.sav", None), table)


@given(tables(simple))
def test_stata(table: pl.DataFrame) -> None:
    same(round_trip(table, "t.dta", None), table)


@pytest.mark.parametrize("bad", ["a\nb", "a\rb"])
def test_line_ends_do_not_fit_fixed_width(bad: str) -> None:
    with pytest.raises(DataError, match="line end"):
        round_trip(pl.DataFrame({"code": ["x", bad], "value": [1.0, 2.0]}), "t.asc", "t.rda")
