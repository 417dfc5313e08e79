"""Separators, encodings, databases, SPSS and Stata files made by other programs."""

import sqlite3
from pathlib import Path

import pandas as pd
import polars as pl
import pyreadstat
import pytest

from reticent.base.errors import DataError
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.io.read import read_microdata


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_separator_is_found(tmp_path: Path, mark: str) -> None:
    (tmp_path / "a.csv").write_text(f"x{mark}y\n1{mark}a b\n2{mark}c\n")
    data = read_microdata(tmp_path / "a.csv")
    assert data.schema.names == ("x", "y")
    assert data.schema["x"].kind is Kind.NUMERIC


def test_leading_zeros_make_codes_and_bom_is_no_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("\ufeffplz,n\n01234,1\n99999,2\n".encode())
    data = read_microdata(tmp_path / "a.csv")
    assert data.schema["plz"].kind is Kind.NOMINAL
    assert data.frame.table["plz"].to_list() == ["01234", "99999"]


def test_encoding_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("name,n\nÅse,1\n".encode("cp1252"))
    assert read_microdata(tmp_path / "a.csv", encoding="cp1252").categories("name") == ("Åse",)


def test_empty_last_column_is_no_ragged_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('x,y\n1,\n2,"a\nb"\n')
    assert read_microdata(tmp_path / "a.csv").n_records == 2


def test_database(tmp_path: Path) -> None:
    base = sqlite3.connect(tmp_path / "x.db")
    base.execute("create table people (sex text, age integer, code text)")
    base.executemany("insert into people values (?, ?, ?)", [("f", 30, "01"), ("m", None, "02")])
    base.commit()
    base.close()
    schema = Schema((Variable("sex"), Variable("age", kind=Kind.NUMERIC), Variable("code")))
    url = f"sqlite:///{tmp_path / 'x.db'}"
    data = read_microdata(url, schema, query="select sex, age, code from people order by code")
    assert data.frame.table["code"].to_list() == ["01", "02"]
    assert data.missing("age").tolist() == [False, True]
    with pytest.raises(DataError, match="no records"):
        read_microdata(url, schema, query="select * from people where age > 99")
    with pytest.raises(DataError, match="occurs twice"):
        read_microdata(url, query="select sex, age as sex from people")


def test_stata_missing_values_of_others(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, "a", 3.0], "y": ["u", "v", "w"]})
    pyreadstat.write_dta(
        frame, str(tmp_path / "o.dta"), missing_user_values={"x": ["a"]}, variable_value_labels={"x": {1: "one"}}
    )
    data = read_microdata(tmp_path / "o.dta")
    assert data.schema["x"].missing == (".a",)
    assert data.missing("x").tolist() == [False, True, False]
    assert data.schema["x"].label("1") == "one"


def test_spss_ranges_of_missing_values(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, 97.0, 99.0, 3.0]})
    pyreadstat.write_sav(frame, str(tmp_path / "o.sav"), missing_ranges={"x": [{"lo": 97, "hi": 99}]})
    (tmp_path / "o.spss").write_bytes((tmp_path / "o.sav").read_bytes())
    assert read_microdata(tmp_path / "o.spss", format="sav").n_records == len(
        frame
    )  # the format goes before the ending
    data = read_microdata(tmp_path / "o.sav")
    assert data.schema["x"].missing == ("97", "99")
    assert data.missing("x").tolist() == [False, True, True, False]


def test_sas_transport(tmp_path: Path) -> None:
    pyreadstat.write_xport(pd.DataFrame({"AGE": [1.0, 2.0], "SEX": ["f", "m"]}), str(tmp_path / "o.xpt"))
    data = read_microdata(tmp_path / "o.xpt")
    assert data.schema["AGE"].kind is Kind.NUMERIC
    assert data.categories("SEX") == ("f", "m")


def test_parquet_types(tmp_path: Path) -> None:
    pl.DataFrame({"b": [True, False], "c": pl.Series(["x", "y"], dtype=pl.Categorical), "i": [1, 2]}).write_parquet(
        tmp_path / "t.parquet"
    )
    schema = Schema((Variable("b"), Variable("c"), Variable("i", kind=Kind.NUMERIC)))
    data = read_microdata(tmp_path / "t.parquet", schema)
    assert data.categories("b") == ("0", "1")
    assert data.categories("c") == ("x", "y")


def test_lists_in_a_column_are_refused(tmp_path: Path) -> None:
    pl.DataFrame({"x": [[1, 2], [3]]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="'x' holds lists"):
        read_microdata(tmp_path / "t.parquet")


def test_record_ids_are_the_same_from_every_format(tmp_path: Path) -> None:
    table = pl.DataFrame({"id": [12, 7, 30], "sex": ["f", "m", "f"]})
    table.write_csv(tmp_path / "t.csv")
    table.write_parquet(tmp_path / "t.parquet")
    schema = Schema((Variable("id", role=Role.IDENTIFIER), Variable("sex")))
    from_csv = read_microdata(tmp_path / "t.csv", schema).record_ids()
    assert from_csv.tolist() == read_microdata(tmp_path / "t.parquet", schema).record_ids().tolist() == [12, 7, 30]
