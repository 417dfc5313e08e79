"""Parquet files; the schema travels in the file's own metadata."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from reticent.base.errors import DataError
from reticent.data.schema import Schema
from reticent.data.schema_files import schema_from_text, schema_to_toml
from reticent.io.format import Content, FileFormat, Source

SCHEMA_KEY = "reticent.schema"


def _read(source: Source) -> tuple[pl.DataFrame, Schema | None]:
    path = source.path
    try:
        table = pl.read_parquet(path, glob=False)
        text = pl.read_parquet_metadata(path).get(SCHEMA_KEY)
    except (pl.exceptions.PolarsError, OSError):
        raise DataError(f"{path.name}: the file cannot be read as Parquet.") from None
    if table.height == 0:
        raise DataError(f"{path.name}: the file has no records.")
    return table, None if text is None else schema_from_text(text, owner=path.name)


def _write(table: pl.DataFrame, schema: Schema, path: Path) -> Mapping[Path, Content]:
    return {path: lambda place: table.write_parquet(place, metadata={SCHEMA_KEY: schema_to_toml(schema)})}


PARQUET = FileFormat(
    "parquet", "Parquet, with the schema in its metadata", _read, _write, (".parquet", ".pq"), (".parquet", ".pq")
)
