# SPDX-License-Identifier: Apache-2.0
"""Perturbation tables: for each size the changes that may happen and how likely each is.

Row i holds changes v = j − i with their probabilities; a key below the first cumulated bound takes the first change, and
so on. The last row serves all larger sizes. Files are those of tau-ARGUS and of the R package ptable:
`i;j;p;v;p_ij_ub` and, for magnitudes, a sixth column all | even | odd.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.doors import door
from reticent.base.errors import DataError, ParameterError
from reticent.kernels.ptables import look_up, perturbed

KINDS = ("all", "even", "odd")
TOLERANCE = 1e-6
"""How far the probabilities of a row in a file may be from 1: files are rounded."""


@dataclass(frozen=True, eq=False)
class Row:
    """One size: changes in rising order, the probability of each, and the cumulated bounds that keys are held against."""

    size: float
    changes: Floats
    chances: Floats
    bounds: Floats

    @classmethod
    def of(cls, size: float, changes: Floats, chances: Floats) -> "Row":
        """A row of its probabilities; the last bound is 1."""
        bounds = np.minimum(np.cumsum(chances), 1.0)
        bounds[-1] = 1.0
        return cls(size, np.asarray(changes, np.float64), np.asarray(chances, np.float64), bounds)

    @property
    def mean(self) -> float:
        """Expected change."""
        return float(self.changes @ self.chances)

    @property
    def variance(self) -> float:
        """Expected squared change."""
        return float(self.changes**2 @ self.chances)

    def change(self, keys: Floats) -> Floats:
        """The change for each key: the first whose bound lies above the key."""
        at = np.searchsorted(self.bounds, keys, side="right")
        return self.changes[np.minimum(at, len(self.changes) - 1)]


@dataclass(frozen=True, eq=False)
class PerturbationTable:
    """Rows in rising order of size, the first of size 0."""

    rows: tuple[Row, ...] = field(repr=False)
    name: str = "p-table"

    def __post_init__(self) -> None:
        if not self.rows or self.rows[0].size != 0:
            raise DataError(f"{self.name}: the first row must be that of size 0.")
        sizes = [row.size for row in self.rows]
        if sizes != sorted(set(sizes)):
            raise DataError(f"{self.name}: the rows must be in rising order of i, each once.")
        for row in self.rows:
            if bool((np.diff(row.changes) <= 0).any()):
                raise DataError(f"{self.name}: the changes of row {row.size:g} must rise.")
            if bool((row.chances < 0).any()) or abs(float(row.chances.sum()) - 1.0) > TOLERANCE:
                raise DataError(
                    f"{self.name}: the probabilities of row {row.size:g} must be at least 0 and add up to 1."
                )
            if bool((np.diff(row.bounds) < 0).any()) or row.bounds[0] < 0 or abs(row.bounds[-1] - 1.0) > TOLERANCE:
                raise DataError(f"{self.name}: the bounds of row {row.size:g} must rise to 1.")
            if row.size + row.changes[0] < 0:
                raise DataError(f"{self.name}: row {row.size:g} would make a value negative.")

    def __repr__(self) -> str:
        return f"<PerturbationTable {self.name!r}: sizes 0 to {self.rows[-1].size:g}, changes up to {self.largest:g}>"

    @property
    def sizes(self) -> Floats:
        """The size of each row."""
        return np.array([row.size for row in self.rows])

    @property
    def largest(self) -> float:
        """D, the largest change of any size."""
        return float(max(np.abs(row.changes).max() for row in self.rows))

    @property
    def gap(self) -> float:
        """The largest distance of neighbouring changes that happen: noise spread over it leaves no gap between them."""
        return float(max(np.diff(row.changes[row.chances > 0]).max(initial=0.0) for row in self.rows))

    @property
    def skipped(self) -> int:
        """Counts from 1 to this one are never a result, although smaller or larger ones are."""
        results = {int(row.size + v) for row in self.rows for v in row.changes[row.chances > 0].tolist()}
        above = sorted(results - {0})
        return above[0] - 1 if above else 0

    def for_counts(self) -> "PerturbationTable":
        """The same, if it can serve counts: a row for every whole size, whole changes, and 0 stays 0."""
        whole = all(bool((row.changes == np.rint(row.changes)).all()) for row in self.rows)
        if not whole or not np.array_equal(self.sizes, np.arange(len(self.rows))):
            raise DataError(f"{self.name}: counts need a row for each i = 0, 1, 2, … and whole changes.")
        return self

    def changes(self, counts: NDArray[np.int64], keys: Floats) -> Floats:
        """The change of each count for its key."""
        bounds, changes, lengths = self._padded
        found = look_up(
            np.asarray(counts, dtype=np.int64), np.asarray(keys, dtype=np.float64), bounds, changes, lengths
        )
        return np.asarray(found)

    def perturbed(
        self, counts: NDArray[np.int64], keys: Floats, *, zeros: bool = False
    ) -> tuple[Floats, Floats, Floats]:
        """Counts with their change, and the least and largest origin of each; 0 stays 0 unless `zeros`."""
        own = np.asarray(counts, dtype=np.int64), np.asarray(keys, dtype=np.float64)
        values, low, high = perturbed(*own, *self._padded, self._origin_steps, zeros)
        return values, low, high

    @cached_property
    def _padded(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Bounds and changes of all rows in matrices, and the length of each row."""
        lengths = np.array([len(row.changes) for row in self.rows])
        bounds, changes = (np.zeros((len(self.rows), int(lengths.max()))) for _ in range(2))
        for number, row in enumerate(self.rows):
            bounds[number, : lengths[number]] = row.bounds
            changes[number, : lengths[number]] = row.changes
        return bounds, changes, lengths

    def interpolated(self, sizes: Floats, keys: Floats) -> Floats:
        """The change for any size: between two rows in proportion to the distance, the last row beyond it."""
        own = self.sizes
        upper = np.searchsorted(own, sizes, side="right")
        low = np.clip(upper - 1, 0, len(own) - 1)
        high = np.minimum(upper, len(own) - 1)
        span = own[high] - own[low]
        share = np.divide(sizes - own[low], span, out=np.zeros(len(sizes)), where=span > 0)
        by_row = np.stack([row.change(keys) for row in self.rows])
        each = np.arange(len(sizes))
        return np.asarray((1.0 - share) * by_row[low, each] + share * by_row[high, each])

    def origins(self, published: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """The least and the largest true count from which each published one can come; 0 is known to stay 0.

        A published 0 may have been 0. A value that no true count gives is its own origin.
        """
        steps = self._origin_steps
        at = np.minimum(published, len(steps) - 1)
        return (published + steps[at, 0]).astype(np.float64), (published + steps[at, 1]).astype(np.float64)

    @cached_property
    def _origin_steps(self) -> NDArray[np.int64]:
        """For each result how far its least and its largest origin are from it."""
        last, reach = len(self.rows) - 1, int(self.largest)
        possible = [set(row.changes[row.chances > 0].tolist()) for row in self.rows]
        steps = np.zeros((last + reach + 1, 2), dtype=np.int64)  # from there on only the last row plays a part
        for value in range(len(steps)):
            found = [i for i in range(max(0, value - reach), value + reach + 1) if value - i in possible[min(i, last)]]
            steps[value] = (min(found) - value, max(found) - value) if found else (0, 0)
        return steps


def read_ptables(path: Path, mend: Callable[[Row], Row] | None = None) -> dict[str, PerturbationTable]:
    """All tables of a file by kind: `all`, or `even` and `odd`; `mend` makes rows exact that are printed with few digits."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as err:
        raise DataError(f"{path.name}: the p-table file cannot be read.") from err
    except UnicodeDecodeError as err:
        raise DataError(f"{path.name}: the p-table file must be plain text.") from err
    return parse_ptables(text.splitlines(), path.name, mend)


def parse_ptables(
    lines: Iterable[str], name: str, mend: Callable[[Row], Row] | None = None
) -> dict[str, PerturbationTable]:
    """The tables of the lines of a p-table file; the first line holds the names and is passed over."""
    found: dict[str, dict[float, list[tuple[float, float, float]]]] = {}
    for number, line in enumerate(lines, start=1):
        if number == 1 or not line.strip():
            continue
        kind, size, entry = _entry(line, f"{name}, line {number}")
        found.setdefault(kind, {}).setdefault(size, []).append(entry)
    if not found:
        raise DataError(f"{name}: the p-table has no rows.")
    made = {kind: [_row(size, entries) for size, entries in rows.items()] for kind, rows in found.items()}
    return {kind: PerturbationTable(tuple(map(mend, rows) if mend else rows), name) for kind, rows in made.items()}


def _entry(line: str, where: str) -> tuple[str, float, tuple[float, float, float]]:
    parts = [part.strip().strip('"') for part in line.split(";")]
    if len(parts) not in (5, 6):
        raise DataError(f"{where}: a line must have five or six fields: i;j;p;v;p_ij_ub[;type].")
    try:
        size, result, chance, change, bound = (float(part.replace(",", ".")) for part in parts[:5])
    except ValueError:
        raise DataError(f"{where}: i, j, p, v and p_ij_ub must be numbers.") from None
    if not all(np.isfinite((size, result, chance, change, bound))):
        raise DataError(f"{where}: i, j, p, v and p_ij_ub must be finite numbers.")
    if abs(result - size - change) > 1e-9:
        raise DataError(f"{where}: v must be j − i.")
    kind = parts[5].lower() if len(parts) == 6 else "all"
    if kind not in KINDS:
        raise DataError(f"{where}: the type must be one of {', '.join(KINDS)}, got {kind!r}.")
    return kind, size, (change, chance, bound)


def _row(size: float, entries: list[tuple[float, float, float]]) -> Row:
    change, chance, bound = (np.array(column) for column in zip(*entries, strict=True))
    return Row(size, change, chance, bound)


@door
def ptable_text(tables: PerturbationTable | dict[str, PerturbationTable]) -> str:
    """The text of a p-table file; several kinds get the sixth column. Numbers are written so that they read back exactly."""
    kinds = {"all": tables} if isinstance(tables, PerturbationTable) else tables
    if not set(kinds) <= set(KINDS):
        raise ParameterError(f"p-table: the types must be among {', '.join(KINDS)}.")
    typed = not isinstance(tables, PerturbationTable)
    lines = ["i;j;p;v;p_ij_ub" + (";type" if typed else "")]
    for kind, table in kinds.items():
        for row in table.rows:
            for change, chance, bound in zip(row.changes, row.chances, row.bounds, strict=True):
                numbers = (row.size, row.size + change, chance, change, bound)
                lines.append(";".join(_text(float(x)) for x in numbers) + (f";{kind}" if typed else ""))
    return "\n".join(lines) + "\n"


def _text(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
