# SPDX-License-Identifier: Apache-2.0
"""Parquet files; the schema travels in the file's own metadata."""

import io
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from reticent.base.errors import DataError
from reticent.data.published import MaskedFile
from reticent.data.schema import Schema
from reticent.data.schema_files import schema_from_text, schema_to_toml
from reticent.frames.frame import Frame
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


def masked_to_bytes(file: MaskedFile) -> bytes:
    """A protected file as the bytes of a Parquet file, for the ledger."""
    held = io.BytesIO()
    file.frame.table.write_parquet(held, metadata={SCHEMA_KEY: schema_to_toml(file.schema)})
    return held.getvalue()


def masked_from_bytes(content: bytes) -> MaskedFile:
    """The protected file that was kept as these bytes."""
    table = pl.read_parquet(io.BytesIO(content))
    text = pl.read_parquet_metadata(io.BytesIO(content))[SCHEMA_KEY]
    return MaskedFile(Frame(table), schema_from_text(text, owner="ledger"))


PARQUET = FileFormat(
    "parquet", "Parquet, with the schema in its metadata", _read, _write, (".parquet", ".pq"), (".parquet", ".pq")
)
