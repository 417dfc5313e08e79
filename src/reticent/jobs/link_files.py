# SPDX-License-Identifier: Apache-2.0
"""The job that links a masked file back to the original: read both, or run their plan, and attack."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema
from reticent.io.read import records_of
from reticent.jobs.protect_file import judge_plan, read_file_plan
from reticent.microdata.risk.file_linkage import FileLinkage, link_files

__all__ = ["FileLinkage", "link_paths", "link_plan"]


def link_paths(
    original: Microdata | tuple[Path, Path | None],
    masked: Microdata | tuple[Path, Path | None] | None,
    variables: Sequence[str] = (),
    *,
    progress: Progress = silent,
) -> FileLinkage:
    """Attack a masked file with the original at hand; each is a file with its schema, or records. None: the first is a plan.

    Without a schema the one beside a file counts (`people.schema.toml` of `people.csv`); a masked file without any has the
    roles of the original.
    """
    if masked is None:
        if isinstance(original, Microdata):
            raise ParameterError("link: records need a masked file beside them; only a plan makes its own.")
        return link_plan(original[0], variables, progress=progress)
    progress(0.0, "reading")
    true = original if isinstance(original, Microdata) else _records(*original)
    seen = masked if isinstance(masked, Microdata) else _records(*masked, like=true.schema)
    return link_files(true, seen, variables, secret=as_secret(None), progress=progress)


def link_plan(path: Path, variables: Sequence[str] = (), *, progress: Progress = silent) -> FileLinkage:
    """Attack what a plan makes of its file, record by record: a file that was written is in an order of its own."""
    run = judge_plan(read_file_plan(path), progress=part(progress, 0.0, 0.6))
    return link_files(run.before, run.after, variables, secret=as_secret(None), progress=part(progress, 0.6, 1.0))


def _records(path: Path, schema: Path | None, *, like: Schema | None = None) -> Microdata:
    beside = path.with_name(f"{path.stem}.schema.toml")
    if schema is not None or beside.exists():
        return records_of(path, schema or beside).data
    found = records_of(path).data
    return found if like is None else found.with_schema(_roles(found.schema, like))


def _roles(found: Schema, like: Schema) -> Schema:
    """The roles of another schema; what is not a number any more is a code."""
    for variable in found.variables:
        if variable.name in like:
            known = like[variable.name]
            kind = variable.kind if known.kind is Kind.NUMERIC else Kind.NOMINAL
            found = found.replace(replace(variable, role=known.role, kind=kind))
    return found
