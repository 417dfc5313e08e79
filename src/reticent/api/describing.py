"""Describe data that nobody has described yet: every guess is marked as one, with its reason."""

from pathlib import Path
from typing import Any

from reticent.io.frames import read_frame
from reticent.jobs.describe import describe_file
from reticent.microdata.describe import Description, describe_records


def describe(source: Any, *, schema: Path | str | None = None) -> Description:
    """What each variable of a file or frame seems to be; where a schema is given, only what it leaves open is guessed."""
    if isinstance(source, str | Path):
        return describe_file(Path(source), schema=None if schema is None else Path(schema))
    data, notes = read_frame(source, schema)
    return describe_records(data.frame, data.schema, declared=schema is not None, notes=notes)
