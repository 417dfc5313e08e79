# SPDX-License-Identifier: Apache-2.0
"""What a file format is: a name, endings, a reader, a writer. One file a format; the registry is `io/formats.py`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from reticent.data.schema import Schema
from reticent.io.argus_rda import Layout
from reticent.io.argus_text import Notes


@dataclass(frozen=True)
class Source:
    """What a reader gets: where the records are, what is known of them, and where to note what was repaired."""

    place: Path | str
    schema: Schema | None
    notes: Notes
    query: str | None = None
    separator: str | None = None
    encoding: str = "utf-8"
    layout: Layout | None = None

    @property
    def path(self) -> Path:
        """The file; only a database is not a file."""
        return Path(self.place)


Read = Callable[[Source], tuple[pl.DataFrame, Schema | None]]
"""Gives the table, and the schema that the file itself has."""
Content = str | Callable[[Path], None]
"""A text, or a function that writes a file at the place it is given."""
Write = Callable[[pl.DataFrame, Schema, Path], Mapping[Path, Content]]
"""Gives every file that belongs to a table under this name, the table's own included; nothing is written yet."""


@dataclass(frozen=True)
class FileFormat:
    """A file format. `endings` are read as this format unless a plan says another, `written` are written as it.

    `placed` endings are read as this format where the schema says the place of every variable. `metadata` gives the
    ending of the metadata file that is written beside a data file with an ending. `extra` is what must be installed.
    """

    name: str
    about: str
    read: Read
    write: Write | None = None
    endings: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()
    metadata: Mapping[str, str] | None = None
    extra: str = ""


def is_number(code: str) -> bool:
    """Whether a code is a number."""
    try:
        float(code)
    except ValueError:
        return False
    return True
