# SPDX-License-Identifier: Apache-2.0
"""DuckDB: one machine, more records than memory. Queries run in a thread of their own, so that progress can be shown."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from reticent.base.errors import DataError, ParameterError
from reticent.base.optional import need
from reticent.base.progress import Progress, silent
from reticent.frames.engines.seam import SOURCE, EngineSettings, Files

POLL = 0.2
"""Seconds between two looks at the progress of a query."""
LITTLE = 2**24
"""Bytes on the disk of the spill folder below which it counts as full."""
Result = TypeVar("Result")


class DuckDB:
    """A DuckDB in memory that reads the files where they are and spills to a folder of its own."""

    name = "duckdb"

    def __init__(self, settings: EngineSettings) -> None:
        self._duckdb = need("duckdb", extra="duckdb", purpose="engine = 'duckdb'")
        need("pyarrow", extra="duckdb", purpose="engine = 'duckdb'")
        if settings.spill is not None and not settings.spill.is_dir():
            raise ParameterError(f"duckdb: the spill folder {settings.spill.name!r} does not exist; make it first.")
        self._spill = tempfile.TemporaryDirectory(prefix=".reticent-spill-", dir=settings.spill)
        self._settings = settings
        options: dict[str, Any] = {"temp_directory": self._spill.name, "preserve_insertion_order": False}
        if settings.memory is not None:
            options["memory_limit"] = settings.memory
        if settings.threads is not None:
            options["threads"] = settings.threads
        try:
            self._connection = self._duckdb.connect(config=options)
            self._connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
            if settings.spill_limit is not None:  # counts only where it is said after the folder
                self._connection.execute(f"SET max_temp_directory_size = {_text(settings.spill_limit)}")
        except self._duckdb.Error:
            raise ParameterError(
                "duckdb: memory and spill_limit must be sizes such as '2GB', threads a whole number from 1."
            ) from None
        self._pool = ThreadPoolExecutor(1)
        self._setup = ""  # what makes the view, in each connection again
        self._csv = False

    def open(self, files: Files) -> dict[str, pl.DataType]:
        """The view of Parquet or CSV files, or of a query in a DuckDB database that is attached for reading."""
        if files.format == "database":
            place = _text(str(files.paths[0]))
            self._run(lambda: self._connection.execute(f"ATTACH {place} AS attached (READ_ONLY)"))
            self._setup = "USE attached; "
        self._csv = files.format not in ("database", "parquet")
        self._setup += f"CREATE OR REPLACE TEMP VIEW {SOURCE} AS {_reader(files)}"
        self._run(lambda: self._connection.execute(self._setup))
        empty = self.fetch(f"SELECT * FROM {SOURCE} LIMIT 0")
        return dict(empty.schema)

    def fetch(
        self, sql: str, *, small: Mapping[str, pl.DataFrame] | None = None, progress: Progress = silent
    ) -> pl.DataFrame:
        """Run a query and show how far it is."""
        return self._with(small, lambda: _table(self._connection.sql(sql)), progress)

    def keep(
        self, name: str, sql: str, *, small: Mapping[str, pl.DataFrame] | None = None, progress: Progress = silent
    ) -> None:
        """A temporary table; it spills like everything else."""
        made = f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}"
        self._with(small, lambda: self._connection.execute(made), progress)

    def drop(self, name: str) -> None:
        """The table goes, and what it spilled."""
        self._run(lambda: self._connection.execute(f"DROP TABLE IF EXISTS {name}"))

    def _with(self, small: Mapping[str, pl.DataFrame] | None, work: Callable[[], Result], progress: Progress) -> Result:
        """Work that may join small tables."""
        for name, table in (small or {}).items():
            self._connection.register(name, table.to_arrow())
        try:
            return self._run(work, progress)
        finally:
            for name in small or {}:
                self._connection.unregister(name)

    def stream(self, sql: str, *, rows: int, small: Mapping[str, pl.DataFrame] | None = None) -> Iterator[pl.DataFrame]:
        """Blocks of at least one record."""
        cursor = self._connection.cursor()
        try:
            self._run(lambda: cursor.execute(self._setup))
            for name, table in (small or {}).items():
                cursor.register(name, table.to_arrow())
            reader = self._run(lambda: _batches(cursor.sql(sql), rows))
            while True:
                batch = self._run(lambda: _next(reader))
                if batch is None:
                    return
                yield _polars(batch)
        finally:
            cursor.close()

    def quote(self, name: str) -> str:
        """Names are in double quotes."""
        return '"' + name.replace('"', '""') + '"'

    def text(self, value: str) -> str:
        """Texts are in single quotes."""
        return _text(value)

    def matches(self, expression: str, pattern: str) -> str:
        """DuckDB's regular expressions."""
        return f"regexp_matches({expression}, {_text(pattern)})"

    def trimmed(self, expression: str, characters: str) -> str:
        """Characters are cut off at both ends."""
        return f"TRIM({expression}, {_text(characters)})"

    def time_text(self, expression: str, digits: int) -> str:
        """Years first, and decimals of seconds."""
        return f"strftime({expression}, '%Y-%m-%d %H:%M:%S.{ {3: '%g', 6: '%f', 9: '%n'}[digits] }')"

    def wide(self, expression: str) -> str:
        """128 bits."""
        return f"CAST({expression} AS HUGEINT)"

    def largest(self, expression: str, n: int) -> str:
        """DuckDB's maximum of several."""
        return f"MAX({expression}, {n})"

    def close(self) -> None:
        """The spill folder goes with the connection."""
        self._connection.close()
        self._pool.shutdown()
        self._spill.cleanup()

    def _run(self, work: Callable[[], Result], progress: Progress = silent) -> Result:
        running: Future[Result] = self._pool.submit(work)
        try:
            while not wait((running,), timeout=POLL).done:
                share = float(self._connection.query_progress())
                progress(min(max(share / 100.0, 0.0), 1.0), "counting in the engine")
            return running.result()
        except self._duckdb.Error as err:
            raise self._sentence(err) from None
        except BaseException:  # stopped by the user: the engine must stop as well
            self._connection.interrupt()
            wait((running,))
            raise

    def _sentence(self, err: Exception) -> DataError:
        """What went wrong, without the engine's words: they may show values."""
        if isinstance(err, self._duckdb.OutOfMemoryException) or shutil.disk_usage(self._spill.name).free < LITTLE:
            place = self._settings.spill or Path(tempfile.gettempdir())
            return DataError(
                f"duckdb: the work needs more memory than is allowed, or the spill folder {place.name or str(place)!r} is full; "
                "raise memory, use fewer threads, or name a folder with more space (spill, spill_limit). Nothing was written."
            )
        if self._csv and isinstance(err, self._duckdb.InvalidInputException | self._duckdb.ConversionException):
            return DataError(
                "duckdb: a CSV file cannot be read; every row must have as many fields as the header, in UTF-8."
            )
        return DataError(f"duckdb: a query on the data cannot be run ({type(err).__name__}). Nothing was written.")


def _reader(files: Files) -> str:
    if files.format == "database":
        return f"SELECT * FROM ({(files.query or '').strip().rstrip(';')}) q"
    listed = "[" + ", ".join(_text(str(path)) for path in files.paths) + "]"
    if files.format == "parquet":
        return f"SELECT * FROM read_parquet({listed}, union_by_name = true)"
    return (
        f"SELECT * FROM read_csv({listed}, header = true, all_varchar = true, union_by_name = true, "
        f"delim = {_text(files.separator)}, quote = '\"', escape = '\"', strict_mode = true)"
    )


def _table(relation: Any) -> pl.DataFrame:
    """The result of a query; DuckDB has two names for it, by version."""
    whole = relation.to_arrow_table if hasattr(relation, "to_arrow_table") else relation.fetch_arrow_table
    return _polars(whole())


def _batches(relation: Any, rows: int) -> Any:
    read = relation.to_arrow_reader if hasattr(relation, "to_arrow_reader") else relation.fetch_record_batch
    return read(rows)


def _polars(table: Any) -> pl.DataFrame:
    made = pl.from_arrow(table)
    assert isinstance(made, pl.DataFrame)
    return made


def _next(reader: Any) -> Any:
    try:
        batch = reader.read_next_batch()
        return batch if batch.num_rows else _next(reader)
    except StopIteration:
        return None


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
