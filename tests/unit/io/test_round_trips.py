"""Values, labels and missing codes survive writing and reading in every format."""

from pathlib import Path

import polars as pl
import pytest

from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.published import MaskedFile, release_file
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.frames.frame import as_text
from reticent.io.read import load_microdata, read_microdata
from reticent.io.schema import read_schema, write_schema
from reticent.io.write import write_masked

TREE = Hierarchy.from_children({"All": ["A", "B"], "A": ["a1", "a2"], "B": ["b1"]})
SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("sex", role=Role.KEY, level=2, codes=("1", "2", "9"), labels=("male", "female", "?"), missing=("9",)),
        Variable("region", role=Role.KEY, codes=("01", "02", "10"), labels=("North, far", "South", 'The "East"'),
                 digits=(1, 1), missing=("99", "98")),
        Variable("trade", codes=TREE.leaves, hierarchy=TREE),
        Variable("degree", kind=Kind.ORDINAL, codes=("1", "2", "3"), labels=("low", "middle", "high"), priority=7.0),
        Variable("income", role=Role.SENSITIVE, kind=Kind.NUMERIC, missing=("-1",), decimals=2),
        Variable("hours", kind=Kind.NUMERIC, guessed=("kind",)),
        Variable("weight", role=Role.WEIGHT, kind=Kind.NUMERIC),
        Variable("note"),
    )
)  # fmt: skip
TABLE = pl.DataFrame(
    {
        "id": list("abcdef"),
        "sex": ["1", "2", "9", "1", "2", "2"],
        "region": ["01", "02", "10", "99", "98", None],
        "trade": ["a1", "a2", "b1", "a1", "b1", None],
        "degree": ["1", "3", "2", "1", None, "2"],
        "income": [1.5, -1.0, 1000.25, 3.0, None, 7.0],
        "hours": [40, 0, 12, 38, None, 20],
        "weight": [1.5, 2, 3, 4, 5, 0.125],
        "note": ["x", 'say "no", please', "Ærø", None, "007", "y z"],
    }
)


@pytest.fixture
def masked() -> MaskedFile:
    return release_file(Microdata.of(TABLE, SCHEMA))


def texts(table: pl.DataFrame, name: str) -> list[object]:
    if table[name].dtype.is_numeric():
        return [None if value is None else float(value) for value in table[name].to_list()]
    return as_text(table[name]).to_list()


def same_values(back: Microdata, *, null_is_code: bool = False) -> None:
    expected = TABLE.drop("id")
    assert back.schema.names == tuple(expected.columns)
    for name in expected.columns:
        want, got = texts(expected, name), texts(back.frame.table, name)
        if any(isinstance(value, float) for value in want):
            got = [None if value is None else float(str(value)) for value in got]
        elif any(isinstance(value, float) for value in got):
            got = as_text(back.frame.table[name]).to_list()
        if null_is_code and SCHEMA[name].missing:
            code = SCHEMA[name].missing[0]
            filler: object = float(code) if name == "income" else code
            want = [filler if value is None else value for value in want]
        assert got == want, name


def same_metadata(back: Schema, *, kinds: bool = True) -> None:
    for name in ("sex", "region", "degree", "income"):
        old, new = SCHEMA[name], back[name]
        assert (new.codes, new.missing) == (old.codes, old.missing), name
        assert new.labels == tuple(label.replace('"', "'") for label in old.labels) or new.labels == old.labels
        if kinds:
            assert new.kind == old.kind


@pytest.mark.parametrize("name", ["out.csv", "out.tsv"])
def test_delimited(masked: MaskedFile, tmp_path: Path, name: str) -> None:
    written = write_masked(masked, tmp_path / name, schema=tmp_path / "out.toml")
    assert written == (tmp_path / name, tmp_path / "out.toml")
    back = load_microdata(tmp_path / name, tmp_path / "out.toml")
    same_values(back.data)
    same_metadata(back.data.schema)
    assert back.data.schema["trade"].hierarchy == TREE
    assert back.data.schema["region"].hierarchy is not None


def test_parquet_carries_its_schema(masked: MaskedFile, tmp_path: Path) -> None:
    write_masked(masked, tmp_path / "out.parquet")
    back = read_microdata(tmp_path / "out.parquet")
    same_values(back)
    same_metadata(back.schema)
    assert back.frame.table.schema == TABLE.drop("id").schema
    assert back.schema["sex"].level == 0  # only the protector knows it


@pytest.mark.parametrize("names", [("out.asc", "out.rda"), ("out.saf", "out.rds")])
def test_fixed_width(masked: MaskedFile, tmp_path: Path, names: tuple[str, str]) -> None:
    write_masked(masked, tmp_path / names[0])
    back = load_microdata(tmp_path / names[0], tmp_path / names[1])
    same_values(back.data, null_is_code=True)
    same_metadata(back.data.schema, kinds=False)
    assert back.data.schema["trade"].hierarchy == TREE
    assert back.notes == ()
    again = release_file(back.data)
    write_masked(again, tmp_path / "second.asc")
    assert (tmp_path / "second.asc").read_text() == (tmp_path / names[0]).read_text()


def test_spss(masked: MaskedFile, tmp_path: Path) -> None:
    write_masked(masked, tmp_path / "out.sav")
    back = read_microdata(tmp_path / "out.sav")
    same_values(back)
    same_metadata(back.schema)


def test_stata(masked: MaskedFile, tmp_path: Path) -> None:
    write_masked(masked, tmp_path / "out.dta")
    back = read_microdata(tmp_path / "out.dta")
    same_values(back)
    same_metadata(back.schema, kinds=False)
    assert back.schema["income"].kind is Kind.NUMERIC


def test_a_given_schema_takes_labels_from_the_file(masked: MaskedFile, tmp_path: Path) -> None:
    write_masked(masked, tmp_path / "out.sav")
    plain = Schema(tuple(Variable(name, kind=SCHEMA[name].kind) for name in TABLE.columns if name != "id"))
    back = read_microdata(tmp_path / "out.sav", plain)
    assert back.schema["sex"].labels == ("male", "female", "?")
    assert back.schema["sex"].missing == ("9",)


def test_schema_toml_round_trip(tmp_path: Path) -> None:
    write_schema(SCHEMA, tmp_path / "s.toml")
    back = read_schema(tmp_path / "S.TOML")
    assert back == SCHEMA
    assert back["hours"].guessed == ("kind",)
    assert "guessed" in (tmp_path / "s.toml").read_text().splitlines()[0]


def test_masked_numbers_keep_a_missing_code_that_is_no_number(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("x,y\n1,a\nNA,b\n3,c\n")
    schema = Schema((Variable("x", kind=Kind.NUMERIC, missing=("NA",)), Variable("y")))
    data = read_microdata(tmp_path / "in.csv", schema)
    values = data.numbers(("x",))[:, 0]
    write_masked(release_file(data.with_numbers("x", values + 0.5)), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "x,y\n1.5,a\nNA,b\n3.5,c\n"


def test_only_masked_files_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_masked(Microdata.of(TABLE, SCHEMA), tmp_path / "x.csv")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
