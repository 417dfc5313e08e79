"""Fixed-width text: columns by start and length, blanks around values removed, an empty field is missing."""

from pathlib import Path

import polars as pl

from reticent.base.errors import DataError
from reticent.data.schema import Schema
from reticent.io.argus_text import Notes, read_text


def read_fixed(path: Path, schema: Schema, notes: Notes) -> pl.DataFrame:
    """A table of text columns, cut out of the lines as the schema says."""
    for variable in schema.variables:
        if variable.start is None or variable.length is None:
            raise DataError(
                f"{path.name}: variable {variable.name!r} has no start and length; a fixed-width file needs both.",
                variables=(variable.name,),
            )
    rows = read_text(path, notes).split("\n")
    while rows and not rows[-1].strip():
        rows.pop()
    if not rows:
        raise DataError(f"{path.name}: the file has no records.")
    lines = pl.Series("line", rows)
    needed = max(int(variable.start or 1) for variable in schema.variables)
    short = lines.str.len_chars() < needed
    if short.any():
        raise DataError(
            f"{path.name}: the last variable starts at column {needed}; lines that end before it: {int(short.sum())} "
            f"(the first is line {int(short.arg_max() or 0) + 1})."
        )
    if lines.str.contains("\t", literal=True).any():
        notes.add(f"{path.name}: tabs are read as single characters.")
    line = pl.col("line")
    fields = [line.str.slice(int(v.start or 1) - 1, v.length).str.strip_chars().alias(v.name) for v in schema.variables]
    table = lines.to_frame().select(fields)
    text = pl.col(pl.String)
    return table.with_columns(pl.when(text == "").then(None).otherwise(text).name.keep())
