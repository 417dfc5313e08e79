# SPDX-License-Identifier: Apache-2.0
"""Describe data that nobody has described yet: every guess is marked as one, with its reason."""

from pathlib import Path
from typing import Any

from reticent.base.doors import door
from reticent.base.errors import ParameterError
from reticent.io.frames import read_frame
from reticent.jobs.describe import EngineChoice, describe_file
from reticent.microdata.describe import Description, describe_records


@door
def describe(source: Any, *, schema: Path | str | None = None, engine: str | None = None) -> Description:
    """What each variable of a file or frame seems to be; where a schema is given, only what it leaves open is guessed.

    With an `engine` the source is a path or a pattern (`part-*.parquet`), whose values are counted in the engine.
    """
    if isinstance(source, str | Path):
        return describe_file(
            Path(source), schema=None if schema is None else Path(schema), engine=EngineChoice.named(engine)
        )
    if engine is not None:
        raise ParameterError("describe: an engine reads files; give a path or a pattern such as part-*.parquet.")
    data, notes = read_frame(source, schema)
    return describe_records(data.frame, data.schema, declared=schema is not None, notes=notes)
