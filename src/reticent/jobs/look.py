# SPDX-License-Identifier: Apache-2.0
"""The job that looks at described data: how each column looks in counts, values only where they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reticent.base.errors import ParameterError, ReticentError
from reticent.base.progress import Progress, silent
from reticent.data.plan import DataSection
from reticent.data.schema import Kind, Role, Schema
from reticent.data.schema_files import Files, schema_from_table
from reticent.frames.profile import Profile, distribution, frequent_values, profile
from reticent.io.read import load_source

__all__ = ["FileLook", "Kind", "Role", "check_variable", "look_at"]


@dataclass(frozen=True)
class FileLook:
    """A described file as it is: its schema, how each column looks in counts, and what was repaired in reading.

    `samples` (frequent values) and `rows` (the first records) are confidential and empty unless they were asked for.
    """

    schema: Schema
    profiles: tuple[Profile, ...]
    bars: Mapping[str, tuple[int, ...]]
    notes: tuple[str, ...]
    samples: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    rows: tuple[tuple[str, ...], ...] = field(default=(), repr=False)


def look_at(
    source: DataSection, folder: Path, *, n_samples: int = 0, n_rows: int = 0, progress: Progress = silent
) -> FileLook:
    """Look at the records that a plan names, as its schema describes them."""
    progress(0.0, "reading")
    loaded = load_source(source, folder)
    data = loaded.data
    profiles, bars = [], {}
    for number, variable in enumerate(data.schema.variables):
        progress(0.3 + 0.7 * number / len(data.schema.variables), "counting")
        profiles.append(profile(data.frame, variable.name, missing=variable.missing))
        bars[variable.name] = distribution(data.frame, variable.name, numeric=variable.kind is Kind.NUMERIC)
    names = data.schema.names
    samples = {name: frequent_values(data.frame, name, n_samples) for name in names} if n_samples else {}
    rows = tuple(zip(*(data.frame.first_texts(name, n_rows) for name in names), strict=True)) if n_rows else ()
    return FileLook(data.schema, tuple(profiles), bars, loaded.notes, samples, rows)


def check_variable(entry: Mapping[str, Any], *, folder: Path) -> str:
    """What is wrong with the description of one variable in a schema file (empty: nothing); files it names must be there."""

    def exists(name: str) -> Any:
        if not (folder / name).is_file():
            raise ParameterError(f"the file {name!r} is not there; choose another.")
        raise _Enough

    try:
        schema_from_table({"variable": [dict(entry)]}, owner="schema", files=Files(exists, exists))
    except _Enough:
        return ""
    except ReticentError as err:
        return str(err)
    return ""


class _Enough(Exception):
    """Raised where a file would be read: that it is there is all that was asked."""
