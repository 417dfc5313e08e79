"""ARGUS tables: metadata (`.rda` of a table) and one record a cell (`.tab`), read into plain columns."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.io.argus_codes import read_cdl, read_hrc
from reticent.io.argus_text import Line, Notes, find_file, lines_of, read_text
from reticent.io.delimited import read_delimited

RESPONSE, SHADOW, COST, LOWER, UPPER = "response", "shadow", "cost", "lower", "upper"
FREQUENCY, MAXSCORE, STATUS, DIMENSION = "frequency", "maxscore", "status", "dimension"
_PURPOSES = {"SHADOW": SHADOW, "COST": COST, "COSTVAR": COST, "LOWERPL": LOWER, "UPPERPL": UPPER,
             "FREQUENCY": FREQUENCY, "MAXSCORE": MAXSCORE, "STATUS": STATUS}  # fmt: skip
_LETTERS = {"SAFE": "safe", "UNSAFE": "unsafe", "PROTECT": "protected"}
_PASSED_OVER = ("RECODEABLE", "RECODABLE", "HIERARCHICAL", "DISTANCE", "TRUNCABLE")


@dataclass
class TableColumn:
    """One column of a table file: what it is for, and the code list and hierarchy of a dimension."""

    name: str
    purpose: str = DIMENSION
    total: str = TOTAL
    decimals: int = 0
    missing: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    hierarchy: Hierarchy | None = None
    digits: tuple[int, ...] = ()
    lead: str = "@"
    tree_file: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class TableMetadata:
    """What the `.rda` of a table says."""

    separator: str
    columns: tuple[TableColumn, ...]
    letters: dict[str, str]
    notes: tuple[str, ...]

    @property
    def dimensions(self) -> tuple[TableColumn, ...]:
        """The columns that say which cell a record is."""
        return tuple(column for column in self.columns if column.purpose == DIMENSION)


@dataclass(frozen=True)
class ArgusTable:
    """A table as it stands in a `.tab` file: a row a cell, totals included.

    `codes` has one tuple a dimension; `numbers` has an array for each purpose that occurs (maxscore: one a position);
    `status` is safe, unsafe or protected for each cell, where the file says it.
    """

    metadata: TableMetadata
    codes: tuple[tuple[str, ...], ...]
    numbers: dict[str, NDArray[np.float64]]
    maxscores: tuple[NDArray[np.float64], ...]
    status: tuple[str, ...] | None
    notes: tuple[str, ...]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.codes[0])


def is_table_rda(path: Path) -> bool:
    """Whether an `.rda` file describes a table (it names a response, a status or safety letters, and no widths)."""
    lines = lines_of(read_text(path, Notes()))
    names = [line for line in lines if line.keyword is None]
    marks = {token[1:-1] for line in lines for token in line.tokens if token.startswith("<")}
    widths = any(len(line.tokens) > 1 and line.tokens[1].isdigit() for line in names)
    return bool(marks & {"SAFE", "UNSAFE", "PROTECT", "STATUS", "LOWERPL", "UPPERPL", "MAXSCORE"}) or not widths


def read_table_rda(path: Path) -> TableMetadata:
    """Read the metadata of a table file."""
    notes = Notes()
    separator, letters = ",", {"S": "safe", "U": "unsafe", "P": "protected", "M": "unsafe"}
    columns: list[TableColumn] = []
    for line in lines_of(read_text(path, notes)):
        if line.keyword is None:
            columns.append(TableColumn(line.tokens[0], missing=tuple(line.tokens[1:])))
        elif line.keyword == "SEPARATOR" and not columns:
            separator = _one(line, path)
        elif line.keyword in _LETTERS and not columns:
            letters[_one(line, path)] = _LETTERS[line.keyword]
        elif not columns:
            notes.add(f"{path.name}: keyword <{line.keyword}> before the first column is passed over.")
        else:
            _keywords(columns[-1], line, path, notes)
    for column in columns:
        _finish(column, path, notes)
    if not columns or not any(column.purpose == DIMENSION for column in columns):
        raise DataError(f"{path.name}: the file describes no dimension of a table.")
    return TableMetadata(separator, tuple(columns), letters, tuple(notes))


def _one(line: Line, path: Path) -> str:
    if len(line.tokens) < 2:
        raise DataError(f"{path.name}: line {line.number}: <{line.keyword}> needs a word after it.")
    return line.tokens[1]


def _keywords(column: TableColumn, line: Line, path: Path, notes: Notes) -> None:
    starts = [i for i, token in enumerate(line.tokens) if token.startswith("<") and token.endswith(">")]
    for start, end in zip(starts, [*starts[1:], len(line.tokens)], strict=True):
        _keyword(column, Line(line.number, line.text, line.tokens[start:end]), path, notes)


def _keyword(column: TableColumn, line: Line, path: Path, notes: Notes) -> None:
    word = str(line.keyword)
    if word == "NUMERIC":
        column.purpose = RESPONSE if column.purpose == DIMENSION else column.purpose
    elif word in _PURPOSES:
        column.purpose = _PURPOSES[word]
    elif word == "TOTCODE":
        column.total = _one(line, path)
    elif word == "DECIMALS":
        column.decimals = int(_one(line, path)) if _one(line, path).isdigit() else 0
    elif word == "CODELIST":
        column.codes, column.labels = read_cdl(find_file(path.parent, _one(line, path), notes), notes)
    elif word == "HIERCODELIST":
        column.tree_file = _one(line, path)
    elif word == "HIERLEADSTRING":
        column.lead = _one(line, path)
    elif word == "HIERLEVELS":
        if not all(token.isdigit() for token in line.tokens[1:]):
            raise DataError(f"{path.name}: line {line.number}: <HIERLEVELS> needs whole numbers.")
        column.digits = tuple(int(token) for token in line.tokens[1:] if int(token))
    elif word not in _PASSED_OVER:
        notes.add(f"{path.name}: unknown keyword <{word}> is passed over.")


def _finish(column: TableColumn, path: Path, notes: Notes) -> None:
    if column.tree_file is not None:
        file = find_file(path.parent, column.tree_file, notes)
        column.hierarchy = read_hrc(file, lead=column.lead, total=column.total, notes=notes)


def read_tab(path: Path, metadata: TableMetadata | Path) -> ArgusTable:
    """Read the cells of a table; empty codes are totals, an empty number or "-" is missing."""
    if isinstance(metadata, Path):
        metadata = read_table_rda(metadata)
    notes = Notes()
    for line in metadata.notes:
        notes.add(line)
    names = [column.name for column in metadata.columns]
    table = read_delimited(path, separator=metadata.separator, names=names, notes=notes)
    codes, numbers, maxscores = [], {}, []
    status: tuple[str, ...] | None = None
    for column in metadata.columns:
        texts = [text or "" for text in table[column.name].to_list()]
        if column.purpose == DIMENSION:
            codes.append(tuple(text or column.total for text in texts))
        elif column.purpose == STATUS:
            status = tuple(_status(text, number, metadata, path) for number, text in enumerate(texts, start=1))
        else:
            values = _numbers(texts, column, path, notes)
            if column.purpose == MAXSCORE:
                maxscores.append(values)
            else:
                numbers[column.purpose] = values
    _check_once(codes, path)
    return ArgusTable(metadata, tuple(codes), numbers, tuple(maxscores), status, tuple(notes))


def _status(text: str, number: int, metadata: TableMetadata, path: Path) -> str:
    found = metadata.letters.get(text, metadata.letters.get(text.upper()))
    if found is None:
        known = ", ".join(metadata.letters)
        raise DataError(f"{path.name}: record {number} has an unknown status letter; known are {known}.")
    return found


def _numbers(texts: list[str], column: TableColumn, path: Path, notes: Notes) -> NDArray[np.float64]:
    if any("," in text for text in texts):
        notes.add(f"{path.name}: decimal commas in {column.name} are read as points.")
    values = np.full(len(texts), np.nan)
    for position, text in enumerate(texts):
        if text in ("", "-") or text in column.missing:
            continue
        try:
            values[position] = float(text.replace(",", "."))
        except ValueError:
            raise DataError(f"{path.name}: {column.name} is not a number in record {position + 1}.") from None
    return values


def _check_once(codes: list[tuple[str, ...]], path: Path) -> None:
    seen: dict[tuple[str, ...], int] = {}
    for number, cell in enumerate(zip(*codes, strict=True), start=1):
        if cell in seen:
            raise DataError(f"{path.name}: records {seen[cell]} and {number} are the same cell; each may stand once.")
        seen[cell] = number
