# SPDX-License-Identifier: Apache-2.0
"""Schema files on disk: TOML or ARGUS `.rda` in, TOML out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reticent.base.doors import door
from reticent.base.errors import DataError
from reticent.data.plan import read_toml
from reticent.data.schema import Schema
from reticent.data.schema_files import Files, schema_from_table, schema_to_toml
from reticent.io.argus_codes import read_cdl
from reticent.io.argus_rda import Layout, read_rda
from reticent.io.argus_text import Notes, find_file
from reticent.io.atomic import write_text
from reticent.io.hierarchies import read_hierarchy


@dataclass(frozen=True)
class SchemaFile:
    """A schema as read: its layout where the file says one (`.rda`), and what was repaired."""

    schema: Schema
    layout: Layout | None = None
    notes: tuple[str, ...] = ()


def load_schema(path: Path | str) -> SchemaFile:
    """Read a schema file with everything it says; names are looked up case-insensitively."""
    wanted = Path(path)
    notes = Notes()
    found = find_file(wanted.parent, wanted.name, notes)
    if found.suffix.lower() in (".rda", ".rds"):
        argus = read_rda(found)
        return SchemaFile(argus.schema, argus.layout, (*notes, *argus.notes))
    if found.suffix.lower() != ".toml":
        raise DataError(f"{found.name}: a schema file ends in .toml or .rda.")
    files = Files(
        hierarchy=lambda name: read_hierarchy(find_file(found.parent, name, notes), notes=notes),
        codes=lambda name: read_cdl(find_file(found.parent, name, notes), notes),
    )
    schema = schema_from_table(read_toml(found), owner=found.name, files=files)
    return SchemaFile(schema, None, tuple(notes))


@door
def read_schema(path: Path | str) -> Schema:
    """The schema that a TOML or `.rda` file describes."""
    return load_schema(path).schema


@door
def write_schema(schema: Schema, path: Path | str, *, comments: Mapping[str, Sequence[str]] | None = None) -> None:
    """Write a schema as TOML, in one piece; `comments` stand above the variables."""
    write_text(Path(path), schema_to_toml(schema, comments=comments))
