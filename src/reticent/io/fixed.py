# SPDX-License-Identifier: Apache-2.0
"""Fixed-width text: columns by start and length, blanks around values removed, an empty field is missing.

A file that is written brings its `.rda` with it, and the code lists and hierarchies that the `.rda` names.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from reticent.base.errors import DataError
from reticent.data.schema import Schema, Variable
from reticent.frames.frame import as_text
from reticent.io.argus_codes import write_hrc
from reticent.io.argus_rda import FIXED, Layout, rda_text
from reticent.io.argus_text import Notes, read_text
from reticent.io.format import Content, FileFormat, Source, is_number

METADATA = {".asc": ".rda", ".dat": ".rda", ".fwf": ".rda", ".saf": ".rds"}


@dataclass(frozen=True)
class FixedFile:
    """A fixed-width file ready to be written: its lines, its `.rda`, the code lists and hierarchies that it names."""

    lines: str
    rda: str
    others: dict[str, str]


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


def fixed_file(table: pl.DataFrame, schema: Schema, path: Path) -> FixedFile:
    """Lay a table out in fixed width; places of the schema are kept where every value fits."""
    texts = {variable.name: _cells(table[variable.name], variable) for variable in schema.variables}
    for name, text in texts.items():
        if text.str.contains(r"[\r\n]").any():
            raise DataError(
                f"{path.name}: {name!r} has values with a line end, which fixed width cannot hold; use CSV."
            )
    placed = _placed(schema, texts)
    width = max(int(v.start or 1) + int(v.length or 1) - 1 for v in placed.variables)
    pieces: list[pl.Expr] = []
    position = 1
    for variable in sorted(placed.variables, key=lambda v: int(v.start or 1)):
        start, length = int(variable.start or 1), int(variable.length or 1)
        if start > position:
            pieces.append(pl.lit(" " * (start - position)))
        pieces.append(pl.col(variable.name).fill_null("").str.pad_start(length))
        position = start + length
    lines = pl.DataFrame(texts).select(pl.concat_str(pieces).str.pad_end(width))
    names, others = _other_files(placed, path)
    rda = rda_text(placed, Layout(FIXED), code_lists=names, trees=_tree_names(placed, path), public=True)
    return FixedFile("\n".join(lines.to_series().to_list()) + "\n", rda, others)


def _cells(column: pl.Series, variable: Variable) -> pl.Series:
    """Values as text; missing ones as exactly the code, since ARGUS compares text."""
    text = as_text(column)
    if variable.decimals and column.dtype.is_numeric():
        column = column.cast(pl.Float64)
    if variable.decimals and column.dtype.is_float() and column.round(variable.decimals).equals(column):
        fixed = [None if value is None else f"{value:.{variable.decimals}f}" for value in column.to_list()]
        text = pl.Series(column.name, fixed, dtype=pl.String)
    if not variable.missing:
        return text
    if column.dtype.is_float():
        codes = [code for code in variable.missing if is_number(code)]
        text = text.replace({str(float(code)): code for code in codes})
        text = text.replace({f"{float(code):.{variable.decimals}f}": code for code in codes})
    return text.fill_null(variable.missing[0])


def _placed(schema: Schema, texts: dict[str, pl.Series]) -> Schema:
    widest = {name: int(text.fill_null("").str.len_chars().max() or 1) for name, text in texts.items()}  # type: ignore[arg-type]
    for variable in schema.variables:
        longest = max((len(code) for code in variable.missing), default=1)
        widest[variable.name] = max(widest[variable.name], longest, 1)
    spans = sorted((v.start or 0, v.length or 0) for v in schema.variables)
    disjoint = all(a + n <= b for (a, n), (b, _) in itertools.pairwise(spans))
    fits = all(v.start and v.length and widest[v.name] <= v.length for v in schema.variables)
    if fits and disjoint:
        return schema
    start, placed = 1, []
    for variable in schema.variables:
        placed.append(replace(variable, start=start, length=widest[variable.name]))
        start += widest[variable.name] + 1
    return Schema(tuple(placed))


def _tree_names(schema: Schema, path: Path) -> dict[str, str]:
    return {v.name: f"{path.stem}_{v.name}.hrc" for v in schema.variables if v.hierarchy is not None and not v.digits}


def _other_files(schema: Schema, path: Path) -> tuple[dict[str, str], dict[str, str]]:
    names: dict[str, str] = {}
    others: dict[str, str] = {}
    for variable in schema.variables:
        if variable.codes:
            names[variable.name] = f"{path.stem}_{variable.name}.cdl"
            pairs = zip(variable.codes, variable.labels or variable.codes, strict=True)
            others[names[variable.name]] = "".join(f"{code},{_quoted(label)}\n" for code, label in pairs)
    for name, file in _tree_names(schema, path).items():
        tree = schema[name].hierarchy
        if tree is not None:
            others[file] = write_hrc(tree)
    return names, others


def _quoted(label: str) -> str:
    return '"' + label.replace('"', "'") + '"' if "," in label or '"' in label else label


def _read(source: Source) -> tuple[pl.DataFrame, Schema | None]:
    if source.schema is None:
        raise DataError(f"{source.path.name}: a fixed-width file needs a schema with start and length.")
    return read_fixed(source.path, source.schema, source.notes), None


def _write(table: pl.DataFrame, schema: Schema, path: Path) -> Mapping[Path, Content]:
    fixed = fixed_file(table, schema, path)
    metadata = path.with_suffix(METADATA.get(path.suffix.lower(), ".rda"))
    others = {path.with_name(name): text for name, text in fixed.others.items()}
    return {path: fixed.lines, metadata: fixed.rda, **others}


FIXED_WIDTH = FileFormat(
    FIXED, "fixed width, with ARGUS metadata (.rda)", _read, _write, written=tuple(METADATA),
    placed=(*METADATA, ".txt", ""), metadata=METADATA,
)  # fmt: skip
