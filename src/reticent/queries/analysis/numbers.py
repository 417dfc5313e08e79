# SPDX-License-Identifier: Apache-2.0
"""How many regressions on public numbers the same records may be in.

A coefficient of a number that everybody can look up is a weighted sum of the response with known weights, so as many of them
as there are records give every value, even rounded. So ten records are needed for each of them, over all models and users: a
column about n records adds 1/n to each one, and what a record has may reach a tenth. A number rounded to a tenth of its
standard error has about five bits, so an attacker has at most half of the bits of ten values of 0 or 1. A correlation with such
a number, and a regression that explains it by a confidential one, show the same sum and count alike.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.queries.analysis.linked import Units
from reticent.queries.canonical import RecordSet, Universe, Version
from reticent.queries.design import columns_of, label_of
from reticent.queries.terms import Model

MOST = 0.1
SLACK = 1e-9


@dataclass(frozen=True)
class NumberColumn:
    """A column with a public number: the sample, the response and the column by name, and the records it is about."""

    name: tuple[int, str, str]
    rows: Ints


def number_columns(universe: Universe, records: RecordSet, model: Model, draw: int) -> list[NumberColumn]:
    """The columns of a model that have a public number and a confidential one, or the other as response, over one sample."""
    version, rows = universe.versions[records.version], universe.records(records)
    public = is_public_number(universe, records, model.response.variable)
    found = []
    for column in columns_of(universe, records, model):
        confidential = any(part.level is None and not part.known for part in column)
        if not (confidential if public else any(part.known for part in column)):
            continue
        inside = np.ones(len(rows), dtype=bool)
        for part in column:
            if part.level is not None:
                inside &= version.codes[part.name][version.atom[rows]] == part.level
        known = {part.name for part in column if part.known} | ({model.response.variable} if public else set())
        name = f"{label_of(version, column)} {_numbers_of(version, rows, sorted(known))}"
        found.append(NumberColumn((draw, str(model.response), name), rows[inside]))
    return found


def _numbers_of(version: Version, rows: Ints, names: list[str]) -> str:
    """A hash of public numbers: the same records with other numbers, in another version, show another sum."""
    data = version.data
    order = rows[np.argsort(data.record_ids()[rows], kind="stable")]
    return hashlib.blake2b(np.ascontiguousarray(data.numbers(tuple(names))[order]).tobytes(), digest_size=8).hexdigest()


def correlated_numbers(universe: Universe, records: RecordSet, names: tuple[str, ...]) -> list[NumberColumn]:
    """The public number of a correlation with a confidential one; it has the sample of all plain statistics."""
    public = [name for name in names if is_public_number(universe, records, name)]
    if len(public) != 1:
        return []
    sample = int.from_bytes(hashlib.blake2b(records.key.encode(), digest_size=7).digest(), "big")
    other = next(name for name in names if name != public[0])
    return [NumberColumn((sample, f"corr {other}", public[0]), universe.records(records))]


def is_public_number(universe: Universe, records: RecordSet, name: str) -> bool:
    """Whether a variable is a filter of numbers that anybody may select by."""
    levels = universe.versions[records.version].levels
    return name in levels and levels[name].numbers is not None


@dataclass
class PublicNumbers:
    """What each record has been part of; a column that was shown before reveals nothing new."""

    units: Units
    _had: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    _shown: set[tuple[int, str, str]] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        self._had = np.zeros(len(self.units.respondent))

    def too_many(self, columns: Sequence[NumberColumn], version: int) -> bool:
        """Whether a model would bring a record beyond the limit."""
        more = self._more(columns, version)
        return bool((more + self._had)[more > 0].max(initial=0.0) > MOST + SLACK)

    def answer(self, columns: Sequence[NumberColumn], version: int) -> None:
        """Remember a model that was answered."""
        self._had += self._more(columns, version)
        self._shown.update(column.name for column in columns)

    def _more(self, columns: Sequence[NumberColumn], version: int) -> Floats:
        more = np.zeros(len(self._had))
        for column in columns:
            units = self.units.of_rows[version][column.rows]
            hidden = units[~self.units.known[units]]
            if column.name not in self._shown and len(hidden):
                more[hidden] += 1 / len(hidden)
        return more
