"""Values of every type are read in an engine as in memory; layout, order and threads leave the parts the same to the byte."""

import datetime as dt
import hashlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from conformance.engine_data import write_parts
from reticent.base.errors import DataError
from reticent.base.randomness import Secret
from reticent.data.plan import RiskSection

SECRET = Secret(hashlib.sha256(b"a key for tests").digest())
FREE = RiskSection(most=1.0, attacks=("recount",), known=("key",))
NOISE = [rt.mask.Noise(("income",), k=0.2)]
TIMES = [dt.datetime(2020, 1, 2, 3, 4, 5), dt.datetime(2020, 1, 2, 3, 4, 5, 600_000), None]
VALUES: dict[str, tuple[list[Any], Any, str]] = {
    "yes": ([True, False, None], pl.Boolean, "nominal"),
    "yes as a number": ([True, False, None], pl.Boolean, "numeric"),
    "day": ([dt.date(2020, 1, 2), dt.date(1999, 12, 31), None], pl.Date, "nominal"),
    "time in ms": (TIMES, pl.Datetime("ms"), "nominal"),
    "time in us": (TIMES, pl.Datetime("us"), "nominal"),
    "time in ns": (TIMES, pl.Datetime("ns"), "nominal"),
    "no number": ([1.0, 2.0, float("nan"), None], pl.Float64, "nominal"),
    "zero": ([0.0, -0.0, 3.0], pl.Float64, "nominal"),
    "number": ([0.0, -0.0, float("nan"), None, 0.1, 0.30000000000000004, 1e16], pl.Float64, "numeric"),
    "small": ([0.1, 2.5, None], pl.Float32, "numeric"),
    "decimal": ([Decimal("1.50"), Decimal("2.25"), None], pl.Decimal(10, 2), "numeric"),
    "text": (["a", "", " a", "a\t", "\u00a0b", "é", "e\u0301", "A", "NULL", None], pl.String, "nominal"),
    "large": ([1, 2**40, 7], pl.UInt64, "nominal"),
    "word": (["x", "y"], pl.Categorical, "nominal"),
}


def records(n: int = 120) -> tuple[pl.DataFrame, rt.Schema]:
    draw = np.random.default_rng(4)
    columns = {
        name: pl.Series([values[at] for at in draw.integers(0, len(values), n)], dtype=dtype)
        for name, (values, dtype, _) in VALUES.items()
    }
    table = pl.DataFrame({"id": draw.permutation(n) - 50, "key": draw.choice(["p", "q"], n), **columns})
    roles = [rt.Variable("id", role=rt.Role.IDENTIFIER), rt.Variable("key", role=rt.Role.KEY)]
    others = [rt.Variable(name, kind=rt.Kind(kind)) for name, (_, _, kind) in VALUES.items()]
    income = rt.Variable("income", kind=rt.Kind.NUMERIC)
    return table.with_columns(income=pl.Series(draw.normal(5, 1, n))), rt.Schema((*roles, *others, income))


def in_engine(table: pl.DataFrame, schema: rt.Schema, folder: Path, *, parts: int = 3, threads: int = 1) -> Path:
    (folder / "safe").mkdir(parents=True)
    with rt.load(write_parts(table, folder, parts=parts), schema=schema, engine="duckdb", threads=threads) as large:
        large.protect(NOISE, folder / "safe" / "p-*.parquet", risk=FREE, secret=SECRET)
    return folder / "safe"


def test_values_of_every_type_are_those_of_memory(tmp_path: Path) -> None:
    table, schema = records()
    table.write_parquet(tmp_path / "whole.parquet")
    true = rt.load(tmp_path / "whole.parquet", schema=schema).protect(NOISE, risk=FREE, secret=SECRET).release()
    wanted = true.to_frame()
    found = pl.read_parquet(in_engine(table, schema, tmp_path / "engine") / "*.parquet")
    order = ["income"]
    for name in wanted.columns:
        one, other = found.sort(order)[name], wanted.sort(order)[name]
        if other.dtype == pl.Int64:  # memory looks at all whole numbers; parts keep the type of the source
            other = other.cast(one.dtype)
        assert one.dtype == other.dtype, name
        assert one.equals(other, null_equal=True), name


def test_texts_of_a_csv_file_are_cut_alike(tmp_path: Path) -> None:
    """Every space at the ends, not only blanks; an empty text is missing."""
    lines = [f"{at},{word}" for at, word in enumerate(["a", " a", "a\t", "\u00a0a", "\u3000a ", "", '" "', "b"] * 3)]
    (tmp_path / "a.csv").write_text("\n".join(["id,word", *lines]) + "\n", encoding="utf-8")
    schema = rt.Schema((rt.Variable("id", role=rt.Role.IDENTIFIER), rt.Variable("word", role=rt.Role.KEY)))
    true = rt.load(tmp_path / "a.csv", schema=schema)
    with rt.load(tmp_path / "a.csv", schema=schema, engine="duckdb") as large:
        assert large.file.categories("word") == true.microdata.categories("word") == ("a", "b")
        found = large.file.patterns(("word",))
    assert found.multiplicity.tolist() == [6, 15, 3]


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        (["1,5", "2,25", "7"], {}),
        (["1,5", "2.25", "7"], {}),
        (["1,234", "2.5"], {}),
        (["1,234", "12,500"], {}),
        (["1,234", "12,500"], {"decimal": ","}),
        (["1,5", "2.5"], {"decimal": "."}),
        (["1.5", "2.5"], {"decimal": ","}),
    ],
)
def test_marks_of_a_csv_file_are_those_of_memory(tmp_path: Path, values: list[str], marks: dict[str, str]) -> None:
    lines = [f'{at},"{number}",\'=x' for at, number in enumerate(values * 4)]
    (tmp_path / "a.csv").write_text("\n".join(["id,pay,word", *lines]) + "\n", encoding="utf-8")
    numeric = rt.Variable("pay", kind=rt.Kind.NUMERIC)
    schema = rt.Schema((rt.Variable("id", role=rt.Role.IDENTIFIER), numeric, rt.Variable("word", role=rt.Role.KEY)))

    def told(engine: str | None) -> Any:
        try:
            data = rt.load(tmp_path / "a.csv", schema=schema, engine=engine, **marks)
        except DataError as err:
            return type(err), "thousands" in str(err)
        if isinstance(data, rt.Data):
            frame, seen = data.confidential_frame(), data.microdata.frame.marks
        else:
            with data:
                (block,) = data.file.view.blocks(("pay", "word"), rows=100)
                frame, seen = block.table, data.file.marks
        return sorted(frame["pay"].to_list()), set(frame["word"].to_list()), seen

    assert told("duckdb") == told(None)


def test_layout_order_and_threads_leave_the_parts_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reticent.io.parts.PART", 40)
    table, schema = records()
    shuffled = table.sample(fraction=1, shuffle=True, seed=1)
    first = in_engine(table, schema, tmp_path / "one")
    second = in_engine(shuffled, schema, tmp_path / "two", parts=1, threads=2)
    for path in sorted(first.iterdir()):
        assert path.read_bytes() == (second / path.name).read_bytes()
        assert "id" not in pl.read_parquet_schema(path)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (pl.Series([1.5, 2.0]), "holds decimal, infinite or very large numbers"),
        (pl.Series([float("inf"), 2.0]), "holds decimal, infinite or very large numbers"),
        (pl.Series([1e17, 2.0]), "holds decimal, infinite or very large numbers"),
        (pl.Series([dt.time(1), dt.time(2)]), "times of a day"),
        (pl.Series([TIMES[0], TIMES[1]]).dt.replace_time_zone("UTC"), "with a zone"),
    ],
)
def test_codes_that_an_engine_writes_otherwise_are_refused(values: pl.Series, words: str, tmp_path: Path) -> None:
    pl.DataFrame({"id": [1, 2], "code": values}).write_parquet(tmp_path / "a.parquet")
    schema = rt.Schema((rt.Variable("id", role=rt.Role.IDENTIFIER), rt.Variable("code", role=rt.Role.KEY)))
    with pytest.raises(DataError, match=words):
        rt.load(tmp_path / "a.parquet", schema=schema, engine="duckdb")
