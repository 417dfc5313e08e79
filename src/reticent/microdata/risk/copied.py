# SPDX-License-Identifier: Apache-2.0
"""Does a synthetic file copy the records that it was made from? Compare them with records that were held back.

A synthetic record may equal a true one by chance: many people are alike. It is a copy only as far as records that were used are
met more often than records of the same kind that were not. So a file is cut into two halves at random, one half is synthesised,
and both are looked up in the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind
from reticent.kernels.grouping import group_columns


@dataclass(frozen=True)
class MatchRates:
    """Shares of true records that equal a synthetic one, of those used and those held back; all, and uniques only."""

    used: float
    held_back: float
    uniques_used: float
    uniques_held_back: float
    records: int
    uniques: int

    @property
    def excess(self) -> float:
        """How much more often records are met that were used."""
        return self.used - self.held_back

    @property
    def standard_error(self) -> float:
        """Of the excess, from one cut into halves."""
        spread = self.used * (1 - self.used) + self.held_back * (1 - self.held_back)
        return float(np.sqrt(spread / max(self.records, 1)))


def match_rates(used: Microdata, held_back: Microdata, synthetic: Microdata, names: Sequence[str]) -> MatchRates:
    """Look the records of both halves up in the synthetic file; records are equal when all of `names` are."""
    files = (used, held_back, synthetic)
    columns = [_numbered(files, name) for name in names]
    group, n_groups = group_columns(columns, [int(column.max(initial=0)) + 1 for column in columns])
    sizes = [file.n_records for file in files]
    own, other, made = np.split(group, np.cumsum(sizes)[:-1])
    there = np.zeros(n_groups, np.bool_)
    there[made] = True
    count = np.bincount(np.concatenate((own, other)), minlength=n_groups)
    alone = [half[count[half] == 1] for half in (own, other)]
    return MatchRates(
        _share(there[own]), _share(there[other]), _share(there[alone[0]]), _share(there[alone[1]]),
        min(sizes[:2]), min(len(half) for half in alone),
    )  # fmt: skip


def _share(found: NDArray[np.bool_]) -> float:
    return float(found.mean()) if len(found) else 0.0


def _numbered(files: Sequence[Microdata], name: str) -> NDArray[np.int32]:
    """A variable of all files together as numbers from 0, equal values alike, missing ones too."""
    if files[0].schema[name].kind is Kind.NUMERIC:
        values = np.concatenate([file.numbers((name,))[:, 0] for file in files])
        return np.unique(values, return_inverse=True, equal_nan=True)[1].ravel().astype(np.int32)
    place: dict[str, int] = {}
    parts = []
    for file in files:
        table = [place.setdefault(text, len(place) + 1) for text in file.categories(name)]
        parts.append(np.array([0, *table], np.int32)[file.codes((name,))[:, 0] + 1])
    return np.concatenate(parts)
