# SPDX-License-Identifier: Apache-2.0
"""The certificate of a file that SAFE made: everything is counted again, by code that shares nothing with the search."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.microdata import Microdata


@dataclass(frozen=True)
class SafeRecount:
    """Distinct combinations of both files: a row of numbers each, with its count before and after."""

    rows: Ints = field(repr=False)
    before: Ints = field(repr=False)
    after: Ints = field(repr=False)

    @classmethod
    def of(cls, before: Microdata, after: Microdata, names: Sequence[str]) -> "SafeRecount":
        """Number the texts of both files alike, and sort the records of both together."""
        n = before.n_records
        columns = [np.concatenate(_alike(before, after, name)) for name in names]
        joint = np.zeros(n + after.n_records, dtype=np.int64)
        for numbers in columns:
            joint = _joined(joint, numbers)
        _, first, joint = np.unique(joint, return_index=True, return_inverse=True)
        size = len(first)
        return cls(
            np.column_stack(columns)[first],
            np.bincount(joint[:n], minlength=size),
            np.bincount(joint[n:], minlength=size),
        )

    @property
    def small(self) -> int:
        """Combinations that are in 1 or 2 records of the new file."""
        return int(((self.after == 1) | (self.after == 2)).sum())

    @property
    def new(self) -> int:
        """Combinations of the new file that nobody has."""
        return int(((self.after > 0) & (self.before == 0)).sum())

    def largest(self, columns: Sequence[int]) -> int:
        """The largest deviation of a cell of one table."""
        cell = np.zeros(len(self.rows), dtype=np.int64)
        for column in columns:
            cell = _joined(cell, self.rows[:, column])
        return int(np.abs(np.bincount(cell, weights=self.after - self.before)).max())

    def summary(self, tables: Sequence[Sequence[int]]) -> dict[str, Any]:
        """What the certificate says."""
        single = [self.largest(columns) for columns in tables if len(columns) == 1]
        crossed = [self.largest(columns) for columns in tables if len(columns) > 1]
        return {
            "records": int(self.after.sum()),
            "combinations": int((self.after > 0).sum()),
            "smallest count": int(self.after[self.after > 0].min()),
            "counts of 1 or 2": self.small,
            "combinations that nobody has": self.new,
            "largest deviation": {"single": max(single, default=0), "crossed": max(crossed, default=0)},
        }


def _joined(joint: Ints, numbers: Ints) -> Ints:
    """Numbers from 0 for the pairs that occur."""
    _, found = np.unique(joint * (int(numbers.max()) + 1) + numbers, return_inverse=True)
    return np.asarray(found, dtype=np.int64)


def _alike(before: Microdata, after: Microdata, name: str) -> list[Ints]:
    """The texts of both files in one numbering (0: no value)."""
    place: dict[str, int] = {}
    found = []
    for data in (before, after):
        encoded = data.frame.encode(name)
        table = np.array([*(place.setdefault(text, len(place)) for text in encoded.categories), -1], dtype=np.int64)
        found.append(table[encoded.codes.astype(np.int64)] + 1)
    return found
