# SPDX-License-Identifier: Apache-2.0
"""Write a protected file. Only a `MaskedFile` can be written; all its files appear together or not at all."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from reticent.base.errors import DataError, ParameterError
from reticent.data.published import MaskedFile
from reticent.data.schema import Role, Schema
from reticent.data.schema_files import schema_to_toml
from reticent.frames.frame import as_text
from reticent.frames.marks import NO_MARKS, Marks
from reticent.io.atomic import atomic_path
from reticent.io.delimited import delimited_writer
from reticent.io.format import Content, FileFormat, Write, is_number
from reticent.io.formats import FORMATS


def text_writer(chosen: FileFormat, asked: Marks, seen: Marks = NO_MARKS) -> Write:
    """What writes in this format, with the marks that are asked for or else those of the input; only text has any."""
    assert chosen.write is not None
    if chosen.name == "csv":
        return delimited_writer(asked.or_else(seen))
    if asked.separator is not None or asked.decimal is not None:
        raise ParameterError(f"[output]: separator and decimal are for .csv files; {chosen.name} has its own.")
    if chosen.name == "tsv":
        return delimited_writer(replace(asked.or_else(seen), separator="\t"))
    return chosen.write


def write_masked(
    file: MaskedFile,
    path: Path | str,
    *,
    format: str | None = None,
    schema: Path | str | None = None,
    also: Mapping[Path, str] | None = None,
    marks: Marks = NO_MARKS,
) -> tuple[Path, ...]:
    """Write a protected file; gives the paths written.

    `marks` are those of a text file; where they are open, the file has those of the input.
    `schema` is where its schema goes as TOML. `also` are texts (reports) that appear together with it or not at all.
    """
    if not isinstance(file, MaskedFile):
        raise TypeError(f"write_masked: only a MaskedFile can be written, got a {type(file).__name__}.")
    file.require_cleared()
    path = Path(path)
    writer = text_writer(FORMATS.of_target(path, format), marks, file.frame.marks)
    _refuse_identifiers(file)
    contents: dict[Path, Content] = dict(writer(_filled(file.frame.table, file.schema), file.schema, path))
    contents.update(also or {})
    if schema is not None:
        contents[Path(schema)] = schema_to_toml(file.schema)
    return write_contents(contents)


def write_contents(contents: Mapping[Path, Content]) -> tuple[Path, ...]:
    """Write several files, all or none."""
    with together(contents) as places:
        for target, content in contents.items():
            with named(target):
                _write(content, places[target])
    return tuple(places)


def _write(content: Content, place: Path) -> None:
    if isinstance(content, str):
        place.write_text(content, encoding="utf-8")
    else:
        content(place)


@contextlib.contextmanager
def together(paths: Iterable[Path]) -> Iterator[dict[Path, Path]]:
    """Places beside several files, renamed to them when all are written, removed when one fails."""
    with contextlib.ExitStack() as stack:
        yield {path: stack.enter_context(atomic_path(path)) for path in dict.fromkeys(paths)}


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Say which file could not be written."""
    try:
        yield
    except OSError as err:
        reason = err.strerror or type(err).__name__
        raise DataError(f"{path.name}: the file cannot be written ({reason}); nothing was left behind.") from None
    except pl.exceptions.PolarsError as err:  # its own words may show values
        raise DataError(
            f"{path.name}: the file cannot be written ({type(err).__name__}); nothing was left behind."
        ) from None


def _refuse_identifiers(file: MaskedFile) -> None:
    named = file.schema.with_role(Role.IDENTIFIER, Role.ENTITY)
    if named or tuple(file.frame.names) != file.schema.names:
        raise DataError("MaskedFile: it holds identifiers or columns that its schema does not describe.")


def _filled(table: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Where a numeric column became null and its missing code is not a number, write the code."""
    for variable in schema.variables:
        column = table[variable.name]
        if (
            variable.missing
            and column.dtype.is_numeric()
            and column.null_count()
            and not is_number(variable.missing[0])
        ):
            table = table.with_columns(as_text(column).fill_null(variable.missing[0]).alias(variable.name))
    return table
