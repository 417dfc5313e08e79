"""Write a protected file. Only a `MaskedFile` can be written; all its files appear together or not at all."""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from reticent.base.checks import check_choice
from reticent.base.errors import DataError, ParameterError
from reticent.data.published import MaskedFile
from reticent.data.schema import Role, Schema, Variable
from reticent.data.schema_files import schema_to_toml
from reticent.frames.frame import as_text
from reticent.io.argus_codes import write_hrc
from reticent.io.argus_rda import FIXED, Layout, rda_text
from reticent.io.atomic import atomic_path
from reticent.io.labelled import write_labelled
from reticent.io.read import SCHEMA_KEY

WRITERS = {".csv": "csv", ".tsv": "tsv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet", ".asc": "fixed",
           ".dat": "fixed", ".fwf": "fixed", ".saf": "fixed", ".sav": "sav", ".dta": "dta"}  # fmt: skip
FORMATS = ("csv", "tsv", "parquet", "fixed", "sav", "dta")
METADATA_ENDING = {".saf": ".rds"}


@dataclass(frozen=True)
class FixedFile:
    """A fixed-width file ready to be written: its lines, its `.rda`, the code lists and hierarchies that it names."""

    lines: str
    rda: str
    others: dict[str, str]


def writer_for(path: Path | str, format: str | None = None) -> str:
    """The format in which a file of this name is written, or an error that says which endings are known."""
    if format is not None:
        check_choice(format, FORMATS, name="format", owner="[output]")
        return format
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise ParameterError(
            f"[output]: path must end in one of {', '.join(WRITERS)}, got a name ending in {ending or 'nothing'!r}."
        )
    return WRITERS[ending]


def write_masked(
    file: MaskedFile,
    path: Path | str,
    *,
    format: str | None = None,
    schema: Path | str | None = None,
    also: Mapping[Path, str] | None = None,
) -> tuple[Path, ...]:
    """Write a protected file; gives the paths written.

    `schema` is where its schema goes as TOML. `also` are texts (reports) that appear together with it or not at all.
    """
    if not isinstance(file, MaskedFile):
        raise TypeError(f"write_masked: only a MaskedFile can be written, got a {type(file).__name__}.")
    file.require_cleared()
    path, kind = Path(path), writer_for(path, format)
    _refuse_identifiers(file)
    table = _filled(file.frame.table, file.schema)
    texts: dict[Path, str] = dict(also or {})
    if schema is not None:
        texts[Path(schema)] = schema_to_toml(file.schema)
    if kind == "fixed":
        fixed = fixed_file(table, file.schema, path)
        texts[path] = fixed.lines
        texts[path.with_suffix(METADATA_ENDING.get(path.suffix.lower(), ".rda"))] = fixed.rda
        texts.update({path.with_name(name): text for name, text in fixed.others.items()})
    with together((path, *texts)) as places:
        for target, text in texts.items():
            with named(target):
                places[target].write_text(text, encoding="utf-8")
        if kind != "fixed":
            with named(path):
                _write(table, file.schema, places[path], kind)
    return tuple(places)


def write_texts(texts: Mapping[Path, str]) -> tuple[Path, ...]:
    """Write several text files, all or none."""
    with together(texts) as places:
        for target, text in texts.items():
            with named(target):
                places[target].write_text(text, encoding="utf-8")
    return tuple(places)


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


def _write(table: pl.DataFrame, schema: Schema, beside: Path, kind: str) -> None:
    if kind == "parquet":
        table.write_parquet(beside, metadata={SCHEMA_KEY: schema_to_toml(schema)})
    elif kind in ("csv", "tsv"):
        with beside.open("wb") as file:
            table.write_csv(file, separator="\t" if kind == "tsv" else ",")
    else:
        write_labelled(table, schema, beside, ending=f".{kind}")


def _filled(table: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Where a numeric column became null and its missing code is no number, write the code."""
    for variable in schema.variables:
        column = table[variable.name]
        if (
            variable.missing
            and column.dtype.is_numeric()
            and column.null_count()
            and not _is_number(variable.missing[0])
        ):
            table = table.with_columns(as_text(column).fill_null(variable.missing[0]).alias(variable.name))
    return table


def _is_number(code: str) -> bool:
    try:
        float(code)
    except ValueError:
        return False
    return True


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
    if variable.decimals and column.dtype.is_float() and column.round(variable.decimals).equals(column):
        fixed = [None if value is None else f"{value:.{variable.decimals}f}" for value in column.to_list()]
        text = pl.Series(column.name, fixed, dtype=pl.String)
    if not variable.missing:
        return text
    if column.dtype.is_float():
        codes = [code for code in variable.missing if _is_number(code)]
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
