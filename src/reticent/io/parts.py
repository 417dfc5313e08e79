# SPDX-License-Identifier: Apache-2.0
"""A masked file written as Parquet parts: records are dealt to parts by a drawn number, each part is put in drawn order.

Blocks come in any order and only one part is in memory at a time. Nothing is at its place before all is written.
"""

import glob
import math
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import polars as pl

from reticent.base.arrays import Floats
from reticent.base.errors import DataError
from reticent.base.optional import need
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema
from reticent.data.schema_files import schema_to_toml
from reticent.frames.frame import as_text
from reticent.io.format import is_number
from reticent.io.parquet import SCHEMA_KEY
from reticent.io.write import named, together

PART = 5_000_000
"""Records of a part."""
DRAW = "reticent_draw"


class PartsWriter:
    """Parts under way, in a folder of their own beside where they go; gone when the block ends."""

    def __init__(self, pattern: Path, n_records: int) -> None:
        self.paths = part_paths(pattern, max(1, math.ceil(n_records / PART)))
        self._stack = ExitStack()
        self._files: list[Any] = []
        self._holes: set[str] = set()

    def __enter__(self) -> "PartsWriter":
        folder = self.paths[0].parent
        if not folder.is_dir():
            raise DataError(f"{self.paths[0].name}: the folder {folder.name!r} does not exist; make it first.")
        with named(self.paths[0]):
            beside = self._stack.enter_context(tempfile.TemporaryDirectory(prefix=".reticent-parts-", dir=folder))
        self._beside = [Path(beside) / f"{at}.arrow" for at in range(len(self.paths))]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self._stack.close()

    def add(self, block: Microdata, draws: Floats) -> None:
        """Deal the records of a block to the parts by their draws."""
        table = block.frame.table.with_columns(pl.Series(DRAW, draws))
        self._holes |= {name for name in block.frame.names if table[name].null_count()}
        part = np.minimum((draws * len(self.paths)).astype(np.int64), len(self.paths) - 1)
        with named(self.paths[0]):
            for at in range(len(self.paths)):
                own = table.filter(pl.Series(part == at)) if len(self.paths) > 1 else table
                self._append(at, own.to_arrow())

    def _append(self, at: int, table: Any) -> None:
        ipc = need("pyarrow.ipc", extra="duckdb", purpose="writing parts")
        if not self._files:
            options = ipc.IpcWriteOptions(compression="lz4")
            self._files = [ipc.new_file(str(place), table.schema, options=options) for place in self._beside]
        self._files[at].write_table(table)

    def _close(self) -> None:
        for file in self._files:
            file.close()
        self._files = []

    def publish(self, schema: Schema, also: Mapping[Path, str]) -> tuple[Path, ...]:
        """Write all parts with their schema, and some texts, together or not at all."""
        with named(self.paths[0]):
            self._close()
        with together((*self.paths, *also)) as places:
            for path, beside in zip(self.paths, self._beside, strict=True):
                with named(path):
                    table = pl.read_ipc(beside).sort(DRAW).drop(DRAW).select(schema.names)
                    self._filled(table, schema).write_parquet(
                        places[path], metadata={SCHEMA_KEY: schema_to_toml(schema)}
                    )
                    beside.unlink()
            for path, text in also.items():
                with named(path):
                    places[path].write_text(text, encoding="utf-8")
        return self.paths

    def _filled(self, table: pl.DataFrame, schema: Schema) -> pl.DataFrame:
        """Where a number is missing in some part and its missing code is not a number, the column is text in all parts."""
        for variable in schema.variables:
            column = table[variable.name]
            coded = variable.missing and not is_number(variable.missing[0])
            if coded and column.dtype.is_numeric() and variable.name in self._holes:
                table = table.with_columns(as_text(column).fill_null(variable.missing[0]).alias(variable.name))
        return table


def part_paths(pattern: Path, n: int) -> tuple[Path, ...]:
    """The files of n parts: a pattern with one star such as `part-*.parquet`; parts that are there already are refused."""
    name = pattern.name
    if name.count("*") != 1 or pattern.suffix.lower() not in (".parquet", ".pq"):
        raise DataError(
            f"{name}: with an engine the masked file is written in parts; give a pattern such as part-*.parquet."
        )
    old = sorted(glob.glob(str(pattern)))
    if old:
        raise DataError(
            f"{name}: there are files of this pattern already (the first is {Path(old[0]).name}); remove them, or choose "
            "another pattern, so that parts of two releases are not read as one."
        )
    digits = max(3, len(str(n - 1)))
    return tuple(pattern.with_name(name.replace("*", f"{at:0{digits}d}")) for at in range(n))
