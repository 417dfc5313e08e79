# SPDX-License-Identifier: Apache-2.0
"""ARGUS metadata of finished tables (`.rda`): which column is what, with hierarchies and status letters."""

from dataclasses import dataclass, field
from pathlib import Path

from reticent.base.errors import DataError
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.data.table_plan import FinishedOptions
from reticent.io.argus_codes import read_hrc
from reticent.io.argus_rda import read_distance
from reticent.io.argus_text import Line, Notes, find_file, lines_of, read_text

_ROLES = {
    "FREQUENCY": "count", "MAXSCORE": "top", "STATUS": "status", "LOWERPL": "lower", "UPPERPL": "upper",
    "COST": "cost", "COSTVAR": "cost", "SHADOW": "shadow", "HOLDING": "holding",
}  # fmt: skip
_PASSED = ("RECODEABLE", "RECODABLE", "HIERARCHICAL", "CODELIST", "DECIMALS")


@dataclass
class Column:
    """One column of a table file."""

    name: str
    role: str = "explanatory"
    missing: str | None = None
    total: str = TOTAL
    tree_file: str | None = None
    lead: str = "@"
    digits: tuple[int, ...] = ()
    distance: tuple[float, ...] = ()
    line: int = 0


@dataclass(frozen=True)
class TableMetadata:
    """The columns of a table file in their order, the separator and the status letters."""

    path: Path
    columns: tuple[Column, ...]
    separator: str = ";"
    safe: str = "S"
    unsafe: str = "U"
    frozen: str = "P"
    notes: Notes = field(default_factory=Notes)

    def names(self, role: str) -> tuple[str, ...]:
        """Names of the columns with a role."""
        return tuple(column.name for column in self.columns if column.role == role)

    def column(self, name: str) -> Column:
        """A column by name (any case)."""
        for column in self.columns:
            if column.name.lower() == name.lower():
                return column
        raise DataError(f"{self.path.name}: there is no column {name!r}; columns: {', '.join(self.all_names)}.")

    @property
    def all_names(self) -> tuple[str, ...]:
        """All column names in order."""
        return tuple(column.name for column in self.columns)

    def options(self, response: str) -> FinishedOptions:
        """How the columns are to be read, for one response."""

        def one(role: str) -> str | None:
            return next(iter(self.names(role)), None)

        return FinishedOptions(
            value=self.column(response).name, count=one("count"), top=self.names("top"), status=one("status"),
            lower_protection=one("lower"), upper_protection=one("upper"), cost=one("cost"), safe=self.safe,
            unsafe=self.unsafe, hidden="m", frozen=self.frozen, separator=self.separator,
        )  # fmt: skip

    def trees(self, name: str, codes: tuple[str, ...] = ()) -> tuple[Hierarchy, ...]:
        """The hierarchy of a column: from its file, from the digits of the codes, or none (flat)."""
        column = self.column(name)
        if column.tree_file is not None:
            path = find_file(self.path.parent, column.tree_file, self.notes)
            return (read_hrc(path, lead=column.lead, total=column.total, notes=self.notes),)
        if column.digits:
            listed = [code for code in codes if code not in (column.total, "", column.missing)]
            return (Hierarchy.from_digits(listed, column.digits, total=column.total),)
        return ()


def read_table_rda(path: Path) -> TableMetadata:
    """Read the metadata of a table file."""
    notes = Notes()
    columns: list[Column] = []
    separator, letters = ";", {"SAFE": "S", "UNSAFE": "U", "PROTECT": "P"}
    for line in lines_of(read_text(path, notes)):
        words = line.tokens
        if line.keyword == "SEPARATOR":
            separator = words[1] if len(words) > 1 else ";"
        elif line.keyword in letters:
            letters[line.keyword] = words[1] if len(words) > 1 else letters[line.keyword]
        elif line.keyword is None:
            columns.append(Column(words[0], missing=words[1] if len(words) > 1 else None, line=line.number))
        elif not columns:
            notes.add(f"{path.name}: keyword <{line.keyword}> before the first column is passed over.")
        else:
            _keywords(columns[-1], line, path, notes)
    if not columns:
        raise DataError(f"{path.name}: the file describes no column.")
    return TableMetadata(path, tuple(columns), separator, letters["SAFE"], letters["UNSAFE"], letters["PROTECT"], notes)


def _keywords(column: Column, line: Line, path: Path, notes: Notes) -> None:
    word = str(line.keyword)
    named = [token[1:-1] for token in line.tokens if token.startswith("<")]
    rest = [token for token in line.tokens[1:] if not token.startswith("<")]
    if word in ("TOTCODE", "HIERCODELIST", "HIERLEADSTRING") and not rest:
        raise DataError(f"{path.name}: line {line.number} ({column.name}): <{word}> needs a word after it.")
    for name in named:
        if name in _ROLES:
            column.role = _ROLES[name]
        elif name == "NUMERIC":
            column.role = "value" if column.role == "explanatory" else column.role
        elif name == "TOTCODE":
            column.total = rest[0]
        elif name == "HIERCODELIST":
            column.tree_file = rest[0]
        elif name == "HIERLEADSTRING":
            column.lead = rest[0]
        elif name == "HIERLEVELS":
            if not rest or not all(token.isdigit() for token in rest):
                raise DataError(f"{path.name}: line {line.number} ({column.name}): <HIERLEVELS> needs whole numbers.")
            column.digits = tuple(int(token) for token in rest if int(token))
        elif name == "DISTANCE":
            try:
                column.distance = read_distance(rest)
            except ValueError as err:
                raise DataError(f"{path.name}: line {line.number} ({column.name}): {err}") from None
        elif name not in _PASSED:
            notes.add(f"{path.name}: unknown keyword <{name}> is passed over.")
