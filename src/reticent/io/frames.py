# SPDX-License-Identifier: Apache-2.0
"""Frames that people have in Python as microdata, and as rows of codes."""

from pathlib import Path
from typing import Any

from reticent.data.microdata import Microdata
from reticent.data.schema import Schema
from reticent.frames.frame import Frame, as_text
from reticent.io.argus_text import Notes
from reticent.io.fit import fit, plain_schema
from reticent.io.schema import read_schema


def read_frame(native: Any, schema: Schema | Path | str | None) -> tuple[Microdata, tuple[str, ...]]:
    """A frame bound to its schema, or to a plain one that says only which columns are numbers; and notes."""
    frame = Frame.of(native)
    known = read_schema(Path(schema)) if isinstance(schema, str | Path) else schema
    notes = Notes()
    merged = plain_schema(frame.table) if known is None else known
    table = fit(frame.table, merged, owner="frame", notes=notes)
    return Microdata.of(Frame(table, frame.kind), merged), tuple(notes)


def rows_of_frame(native: Any) -> list[tuple[str, ...]]:
    """The rows of a frame as texts."""
    table = Frame.of(native).table
    columns = [as_text(table[name]).fill_null("").to_list() for name in table.columns]
    return list(zip(*columns, strict=True))
