# SPDX-License-Identifier: Apache-2.0
"""The job that describes a data file: read, guess, write a schema file to correct."""

from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from reticent.base.errors import DataError, ParameterError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Variable
from reticent.frames.frame import Frame
from reticent.frames.marks import Marks
from reticent.frames.profile import distinct_rows, frequent_values
from reticent.io.hierarchies import hierarchy_beside, read_hierarchy
from reticent.io.large import EngineChoice, open_large
from reticent.io.places import check_places
from reticent.io.read import load_microdata, read_table, records_of
from reticent.io.schema import write_schema
from reticent.microdata.describe import Description, describe_records, profile_in_engine, with_trees

__all__ = ["Description", "EngineChoice", "Variable", "describe_file", "describe_to", "write_description"]


def describe_file(
    source: Microdata | Path,
    *,
    schema: Path | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    n_samples: int = 0,
    engine: EngineChoice | None = None,
) -> Description:
    """Describe a data file, or records; where a schema is given, only what it leaves open is guessed.

    `n_samples` frequent values of each variable come along; they are confidential, so the default is none.
    With an `engine` the records stay where they are, counted there; only relations between variables are guessed from one block.
    """
    if engine is not None and isinstance(source, Path):
        return _describe_large(source, schema, engine, n_samples, separator)
    if isinstance(source, Microdata):
        loaded = records_of(source, schema)
        frame, own, notes = loaded.data.frame, loaded.data.schema, loaded.notes
    elif schema is not None:
        loaded = load_microdata(source, schema, separator=separator, encoding=encoding)
        frame, own, notes = loaded.data.frame, loaded.data.schema, loaded.notes
    else:
        frame, own, found = read_table(source, separator=separator, encoding=encoding)
        notes = tuple(found)
    described = describe_records(frame, own, declared=schema is not None or isinstance(source, Microdata), notes=notes)
    if isinstance(source, Path):
        described = with_trees(described, _trees_beside(source, frame, described))
    samples = {name: frequent_values(frame, name, n_samples) for name in own.names} if n_samples else {}
    return replace(described, samples=samples)


def _trees_beside(path: Path, frame: Frame, described: Description) -> dict[str, tuple[Hierarchy, str]]:
    """Trees in files beside the data that have every code of their variable, for variables without a declared one."""
    found = {}
    for variable in described.schema.variables:
        declared = variable.hierarchy is not None and "hierarchy" not in variable.guessed
        file = None if declared else hierarchy_beside(path, variable.name)
        tree = None if file is None else _readable(file)
        if file is not None and tree is not None:
            codes = {code for (code,) in distinct_rows(frame, (variable.name,))} - set(variable.missing)
            if not tree.missing_from(codes):
                found[variable.name] = tree, f"{file.name} lies beside the data and has every code"
    return found


def _readable(file: Path) -> Hierarchy | None:
    try:
        return read_hierarchy(file)
    except DataError:  # some other file of this name
        return None


def _describe_large(
    path: Path, schema: Path | None, engine: EngineChoice, n_samples: int, separator: str | None
) -> Description:
    loaded = open_large(path, schema, engine, marks=Marks(separator))
    try:
        block = next(loaded.data.blocks())
        profiles = tuple(
            profile_in_engine(loaded.data, block.frame, variable) for variable in loaded.data.schema.variables
        )
    finally:
        loaded.data.view.connection.close()
    notes = loaded.notes
    if block.n_records < loaded.data.n_records:
        notes += (
            f"Values are counted in all {loaded.data.n_records:,} records; which variables belong together (codes within codes, "
            f"households) is guessed from {block.n_records:,} of them.",
        )
    described = describe_records(
        block.frame, block.schema, declared=schema is not None, notes=notes, profiles=profiles
    )  # fmt: skip
    names = block.schema.names if n_samples else ()
    return replace(described, samples={name: frequent_values(block.frame, name, n_samples) for name in names})


class Reading(TypedDict, total=False):
    """How a file is described; `describe_file` says what each means."""

    schema: Path | None
    separator: str | None
    encoding: str
    n_samples: int
    engine: EngineChoice | None


def describe_to(target: Path, data: Path, *, force: bool = False, **reading: Unpack[Reading]) -> Description:
    """Describe a data file and write its schema file; one that exists is replaced only if forced."""
    _check_schema_place(target, data, reading.get("schema"), force=force)
    described = describe_file(data, **reading)
    write_description(described, target)
    return described


def _check_schema_place(target: Path, data: Path, schema: Path | None, *, force: bool) -> None:
    """Refuse a schema file that exists (unless forced), or that is one of the files that are read."""
    if target.exists() and not force:
        raise ParameterError(f"{target.name}: this schema file exists; give another with -o, or say --force.")
    check_places([target], [data])
    if schema is not None and schema.suffix.lower() != ".toml":  # a schema file may be completed in its place
        check_places([target], [schema])


def write_description(described: Description, target: Path) -> None:
    """Write the schema with the reason of each guess beside it."""
    comments = {
        name: [f"{guess.fact} {guess.value}: {guess.reason}" for guess in described.reasons(name)]
        for name in described.schema.names
    }
    write_schema(described.schema, target, comments=comments)
