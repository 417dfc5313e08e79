# SPDX-License-Identifier: Apache-2.0
"""Spark: many machines. The master comes from the environment (`SPARK_MASTER`), else the session is local."""

import atexit
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import polars as pl

from reticent.base.errors import DataError, OptionalDependencyError
from reticent.base.optional import need
from reticent.base.progress import Progress, silent
from reticent.frames.engines.seam import SOURCE, EngineSettings, Files

JAVA = "engine = 'spark' needs Java 17: apt-get install openjdk-17-jre-headless"
SHUFFLES, LEAST_SHUFFLES = "spark.sql.shuffle.partitions", 16
Result = TypeVar("Result")


def _packing(rows: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What turns batches of records into few rows that hold an Arrow file each.

    It is made here, so that it travels to the workers whole: they need pyarrow and nothing of ours.
    """

    def packed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        def written(block: list[Any]) -> Any:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, block[0].schema) as writer:
                for one in block:
                    writer.write_batch(one)
            return pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()])], names=["block"])

        held: list[Any] = []
        for batch in batches:
            if held and sum(one.num_rows for one in held) + batch.num_rows > rows:
                yield written(held)
                held = []
            held += [batch] if batch.num_rows else []
        if held:
            yield written(held)

    return packed


def _stop(session: Any) -> None:
    session.stop()


class Spark:
    """A Spark session of its own; temporary views of two sources never meet."""

    name = "spark"

    def __init__(self, settings: EngineSettings) -> None:
        need("pyspark", extra="spark", purpose="engine = 'spark'")
        need("pyarrow", extra="spark", purpose="engine = 'spark'")
        self._errors = need("pyspark.errors", extra="spark", purpose="engine = 'spark'")
        self._session = self._started(settings).newSession()
        context = self._session.sparkContext
        if not context.getConf().contains(SHUFFLES):  # its own choice is 200, also for two threads
            self._session.conf.set(SHUFFLES, max(LEAST_SHUFFLES, 4 * context.defaultParallelism))

    def _started(self, settings: EngineSettings) -> Any:
        sql = need("pyspark.sql", extra="spark", purpose="engine = 'spark'")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        cores = "*" if settings.threads is None else str(settings.threads)
        build = sql.SparkSession.builder.master(os.environ.get("SPARK_MASTER", f"local[{cores}]")).appName("reticent")
        options = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.ansi.enabled": "true",
        }
        if settings.memory is not None:
            options["spark.driver.memory"] = settings.memory
        if settings.spill is not None:
            options["spark.local.dir"] = str(settings.spill)
        for name, value in options.items():
            build = build.config(name, value)
        try:
            session = build.getOrCreate()
        except self._errors.PySparkRuntimeError:
            raise OptionalDependencyError(JAVA) from None
        session.sparkContext.setLogLevel("ERROR")
        atexit.unregister(_stop)
        atexit.register(_stop, session)  # once a process: a cluster that loses its driver complains about lost workers
        return session

    def open(self, files: Files) -> dict[str, pl.DataType]:
        """The view of Parquet or CSV files."""
        if files.format == "database":
            raise DataError("spark: an attached database is for engine = 'duckdb'; give Parquet or CSV files.")
        paths = [str(path.resolve()) for path in files.paths]

        def made() -> None:
            read = self._session.read.option("mergeSchema", "true")
            if files.format == "csv":
                read = read.options(header=True, inferSchema=False, sep=files.separator, mode="FAILFAST", escape='"')
            frame = read.parquet(*paths) if files.format == "parquet" else read.csv(paths)
            frame.createOrReplaceTempView(SOURCE)

        self._run(made)
        return dict(self.fetch(f"SELECT * FROM {SOURCE} LIMIT 0").schema)

    def fetch(
        self, sql: str, *, small: Mapping[str, pl.DataFrame] | None = None, progress: Progress = silent
    ) -> pl.DataFrame:
        """Run a query; its result is small."""
        progress(0.0, "counting in the engine")
        made = pl.from_arrow(self._run(lambda: self._made(sql, small).toArrow()))
        assert isinstance(made, pl.DataFrame)
        return made

    def keep(
        self, name: str, sql: str, *, small: Mapping[str, pl.DataFrame] | None = None, progress: Progress = silent
    ) -> None:
        """A cached view; the executors spill what does not fit."""
        progress(0.0, "counting in the engine")
        self._run(lambda: self._made(sql, small).persist().createOrReplaceTempView(name))

    def drop(self, name: str) -> None:
        """The view goes with its cache."""
        self._run(lambda: self._session.catalog.uncacheTable(name))
        self._run(lambda: self._session.catalog.dropTempView(name))

    def _made(self, sql: str, small: Mapping[str, pl.DataFrame] | None) -> Any:
        for name, table in (small or {}).items():
            self._session.createDataFrame(table.to_arrow()).createOrReplaceTempView(name)
        return self._session.sql(sql)

    def stream(self, sql: str, *, rows: int, small: Mapping[str, pl.DataFrame] | None = None) -> Iterator[pl.DataFrame]:
        """Blocks of at least one record, one partition after the other; workers write them as Arrow files."""
        schema = self.fetch(f"SELECT * FROM ({sql}) t LIMIT 0", small=small).schema
        frame = self._run(lambda: self._made(sql, small))
        packed = self._run(lambda: frame.mapInArrow(_packing(rows), "block binary").toLocalIterator())
        while block := self._run(lambda: next(packed, None)):
            yield pl.read_ipc_stream(bytes(block[0])).cast(dict(schema))  # type: ignore[arg-type]

    def quote(self, name: str) -> str:
        """Names are in backticks."""
        return "`" + name.replace("`", "``") + "`"

    def text(self, value: str) -> str:
        """Quotes and backslashes are escaped by a backslash."""
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def matches(self, expression: str, pattern: str) -> str:
        """Java's regular expressions."""
        return f"regexp_like({expression}, {self.text(pattern)})"

    def trimmed(self, expression: str, characters: str) -> str:
        """Characters are cut off at both ends."""
        return f"BTRIM({expression}, {self.text(characters)})"

    def time_text(self, expression: str, digits: int) -> str:
        """Years first, and decimals of seconds."""
        return f"date_format({expression}, 'yyyy-MM-dd HH:mm:ss.{'S' * digits}')"

    def wide(self, expression: str) -> str:
        """38 digits."""
        return f"CAST({expression} AS DECIMAL(38, 0))"

    def largest(self, expression: str, n: int) -> str:
        """The beginning of the sorted list."""
        return f"SLICE(SORT_ARRAY(COLLECT_LIST({expression}), false), 1, {n})"

    def close(self) -> None:
        """The views go; the session may serve another source."""
        self._session.catalog.dropTempView(SOURCE)

    def _run(self, work: Callable[[], Result]) -> Result:
        try:
            return work()
        except self._errors.PySparkException as err:
            reason = err
        except Exception as err:
            if type(err).__module__.partition(".")[0] != "py4j":
                raise
            reason = err
        if "no space left" in str(reason).lower():
            raise DataError("spark: the disk that it spills to is full; name a folder with more space (spill).")
        raise DataError(f"spark: a query on the data cannot be run ({type(reason).__name__}).")
