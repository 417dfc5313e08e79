# SPDX-License-Identifier: Apache-2.0
"""Engines that hold more records than memory does. One file an engine, and one line here."""

from collections.abc import Callable

from reticent.base.checks import did_you_mean
from reticent.base.errors import ParameterError
from reticent.frames.engines.duckdb_engine import DuckDB
from reticent.frames.engines.seam import Connection, EngineSettings
from reticent.frames.engines.spark_engine import Spark

ENGINES: dict[str, Callable[[EngineSettings], Connection]] = {
    "duckdb": DuckDB,
    "spark": Spark,
}


def connect(name: str, settings: EngineSettings) -> Connection:
    """A connection of the engine of this name; it says what to install if it is not there."""
    if name not in ENGINES:
        known = did_you_mean(name, ENGINES) or f" Known engines: {', '.join(ENGINES)}."
        raise ParameterError(f"engine: there is no engine {name!r}.{known}")
    return ENGINES[name](settings)
