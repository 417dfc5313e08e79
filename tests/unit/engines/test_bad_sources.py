"""Bad sources for an engine: one sentence that says where and what to do, no value, nothing written."""

import sys
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from conformance.engine_data import SCHEMA, records, write_parts
from reticent.base.errors import DataError, OptionalDependencyError, ParameterError, ReticentError
from reticent.frames.engines import connect
from reticent.frames.engines.seam import EngineSettings


def refused(error: type[ReticentError], words: str, source: str | Path, **options: object) -> None:
    with pytest.raises(error, match=words) as caught:
        rt.load(source, **{"engine": "duckdb", "schema": SCHEMA, **options})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert "Ελλάδα" not in str(caught.value)


def test_a_part_with_other_columns(tmp_path: Path) -> None:
    source = write_parts(records(60), tmp_path)
    pl.read_parquet(tmp_path / "part-1.parquet").drop("job").write_parquet(tmp_path / "part-1.parquet")
    refused(DataError, "part-1.parquet.*no column 'job'", source)
    pl.read_parquet(tmp_path / "part-1.parquet").with_columns(job=1, more=1).write_parquet(tmp_path / "part-1.parquet")
    refused(DataError, "part-0.parquet has no column 'more'", source)


@pytest.mark.parametrize("dtype", [pl.String, pl.Float64, pl.Boolean])
def test_a_column_that_changes_its_type(dtype: pl.DataType, tmp_path: Path) -> None:
    source = write_parts(records(60), tmp_path)
    changed = pl.read_parquet(tmp_path / "part-2.parquet").with_columns(pl.col("job").cast(dtype))
    changed.write_parquet(tmp_path / "part-2.parquet")
    refused(DataError, "part-2.parquet: column 'job' holds .* in part-0.parquet", source)


def test_wider_whole_numbers_are_no_other_type(tmp_path: Path) -> None:
    source = write_parts(records(60), tmp_path)
    wide = pl.read_parquet(tmp_path / "part-2.parquet").with_columns(pl.col("job").cast(pl.Int64))
    wide.write_parquet(tmp_path / "part-2.parquet")
    with rt.load(source, schema=SCHEMA, engine="duckdb") as large:
        assert len(large) == 60


def test_a_number_that_is_text_in_one_part(tmp_path: Path) -> None:
    for at, value in enumerate(("3", "Ελλάδα")):
        pl.DataFrame({"age": [value, "4"]}).write_csv(tmp_path / f"p{at}.csv")
    refused(
        DataError, "'age' should be numeric, but 1 values", tmp_path / "p*.csv", schema=None, kinds={"age": "numeric"}
    )


def test_a_missing_id_column(tmp_path: Path) -> None:
    source = write_parts(records(60).drop("id"), tmp_path)
    refused(DataError, "no identifier column 'id'", source)


def test_an_engine_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_parts(records(60), tmp_path)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    refused(OptionalDependencyError, r"engine = 'duckdb' needs duckdb: pip install 'reticent\[duckdb\]'", source)


def test_an_unknown_engine_and_options_without_one(tmp_path: Path) -> None:
    source = write_parts(records(60), tmp_path)
    refused(ParameterError, "no engine 'duckbd'. Did you mean 'duckdb'", source, engine="duckbd")
    refused(ParameterError, "are for an engine", source, engine=None, memory="1GB")
    refused(ParameterError, "sizes such as", source, memory="much")
    refused(ParameterError, "spill folder 'none' does not exist", source, spill=tmp_path / "none")


def test_no_file_a_folder_and_a_foreign_format(tmp_path: Path) -> None:
    refused(DataError, "no such file", tmp_path / "part-*.parquet")
    refused(DataError, "this is a folder", tmp_path)
    (tmp_path / "a.sav").write_text("x")
    refused(DataError, "convert the file to Parquet", tmp_path / "a.sav")
    (tmp_path / "a.parquet").write_text("x")
    refused(DataError, "cannot be read as Parquet", tmp_path / "a.parquet")


def test_a_full_spill_disk_is_one_sentence(tmp_path: Path) -> None:
    connection = connect("duckdb", EngineSettings(memory="64MB", threads=1, spill=tmp_path, spill_limit="1MB"))
    sql = "SELECT MAX(n) AS n FROM (SELECT h, COUNT(*) AS n FROM (SELECT hash(i) AS h FROM range(4000000) t(i)) GROUP BY h)"
    with pytest.raises(DataError, match="spill folder .* is full") as caught:
        connection.fetch(sql)
    connection.close()
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_too_little_memory_is_one_sentence(tmp_path: Path) -> None:
    n = 300_000
    table = pl.DataFrame({"id": range(n), "k": [f"{i * 7919 % n:032d}" for i in range(n)]})
    table.write_parquet(tmp_path / "wide.parquet")
    large = rt.load(
        tmp_path / "wide.parquet",
        engine="duckdb",
        memory="16MB",
        threads=1,
        spill=tmp_path,
        keys=["k"],
        identifiers=["id"],
    )
    with large, pytest.raises(DataError, match="needs more memory") as caught:
        large.risk()
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["wide.parquet"]


def test_weights_that_are_no_weights(tmp_path: Path) -> None:
    spoiled = records(60).with_columns(weight=pl.when(pl.col("job") == 10).then(0.0).otherwise(pl.col("weight")))
    refused(DataError, "missing or non-positive weight", write_parts(spoiled, tmp_path))


def test_respondents_with_several_records_are_not_counted_as_records(tmp_path: Path) -> None:
    source = write_parts(records(60), tmp_path)
    large = rt.load(source, schema=SCHEMA, engine="duckdb", respondent="hours")
    with large, pytest.raises(DataError, match="respondents have several"):
        large.risk()
