"""The job that describes a data file: read, guess, write a schema file to correct."""

from dataclasses import replace
from pathlib import Path

from reticent.base.errors import ParameterError
from reticent.data.microdata import Microdata
from reticent.data.schema import Variable
from reticent.frames.profile import frequent_values
from reticent.io.places import check_places
from reticent.io.read import load_microdata, read_table, records_of
from reticent.io.schema import write_schema
from reticent.microdata.describe import Description, describe_records

__all__ = ["Description", "Variable", "check_schema_place", "describe_file", "write_description"]


def describe_file(
    source: Microdata | Path,
    *,
    schema: Path | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    n_samples: int = 0,
) -> Description:
    """Describe a data file, or records; where a schema is given, only what it leaves open is guessed.

    `n_samples` frequent values of each variable come along; they are confidential, so the default is none.
    """
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
    samples = {name: frequent_values(frame, name, n_samples) for name in own.names} if n_samples else {}
    return replace(described, samples=samples)


def check_schema_place(target: Path, data: Path, schema: Path | None, *, force: bool) -> None:
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
