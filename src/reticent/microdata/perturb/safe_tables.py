# SPDX-License-Identifier: Apache-2.0
"""What SAFE counts: the combinations of a file's values as they are written, and tables of them before and after."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes, Ints
from reticent.data.draws import StepInput
from reticent.data.microdata import Microdata
from reticent.kernels.grouping import group_columns

WIDEST = 4
"""The most variables of a table that is looked at though nobody controls it."""
LOOKED_AT = 40
SIZES = (1, 20, 50, 100, 300, 500, 1000, 5000)
"""Classes of true counts, after table 4 of Giessing and Höhne."""


@dataclass(frozen=True, eq=False)
class Combinations:
    """The distinct combinations of values as written (missing codes are values): codes, counts, and each record's own.

    They are in the order of their codes, so nothing depends on the order of the records.
    """

    names: tuple[str, ...]
    codes: Codes = field(repr=False)
    counts: Ints = field(repr=False)
    group: Ints = field(repr=False)
    first: Ints = field(repr=False)
    words: NDArray[np.uint64] = field(repr=False)

    @classmethod
    def of(cls, data: Microdata, names: Sequence[str]) -> "Combinations":
        """Count them; a code 0 stands for no value at all."""
        encoded = [data.frame.encode(name) for name in names]
        columns = [np.asarray(column.codes, dtype=np.int32) for column in encoded]
        group, count = group_columns(columns, [len(column.categories) for column in encoded])
        first = np.empty(count, dtype=np.int64)
        first[group[::-1]] = np.arange(data.n_records - 1, -1, -1)
        codes = np.column_stack([column[first] + 1 for column in columns]).astype(np.int32)
        order = np.lexsort(codes.T[::-1])
        rank = np.empty(count, dtype=np.int64)
        rank[order] = np.arange(count)
        words = np.column_stack([_words(column.categories)[codes[order, at]] for at, column in enumerate(encoded)])
        group = rank[group]
        return cls(tuple(names), codes[order], np.bincount(group, minlength=count), group, first[order], words)

    def __len__(self) -> int:
        return len(self.counts)

    def as_input(self) -> StepInput:
        """What draws are keyed by: combinations and their counts, whoever has them and wherever they stand."""
        return StepInput(f"combinations of {self.names!r}", self.counts.astype(np.uint64), self.words)


def _words(categories: Sequence[str]) -> NDArray[np.uint64]:
    """A word for no value, then one for each text."""
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in categories)
    return np.append(np.zeros(1, dtype=np.uint64), np.frombuffer(digests, dtype="<u8").astype(np.uint64))


@dataclass(frozen=True)
class TableChange:
    """How far the cells of one table are from the truth."""

    variables: tuple[str, ...]
    controlled: bool
    cells: int
    largest: int
    mean: float
    largest_by_size: tuple[int, ...] = field(repr=False)

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "variables": list(self.variables), "controlled": self.controlled, "cells": self.cells,
            "largest": self.largest, "mean": round(self.mean, 4),
        }  # fmt: skip


def table_change(found: Combinations, new: Ints, columns: Sequence[int], *, controlled: bool) -> TableChange:
    """Compare one table of the new counts with the true one."""
    chosen = [np.ascontiguousarray(found.codes[:, column]) for column in columns]
    group, cells = group_columns(chosen, [int(column.max(initial=0)) + 1 for column in chosen])
    true = np.bincount(group, weights=found.counts, minlength=cells).astype(np.int64)
    away = np.abs(np.bincount(group, weights=new - found.counts, minlength=cells)).astype(np.int64)
    place = np.searchsorted(np.array(SIZES), true, side="right") - 1
    by_size = np.zeros(len(SIZES), dtype=np.int64)
    np.maximum.at(by_size, place, away)
    names = tuple(found.names[column] for column in columns)
    return TableChange(names, controlled, cells, int(away.max()), float(away.mean()), tuple(by_size.tolist()))


def other_tables(
    n_variables: int, controlled: Sequence[Sequence[int]], stream: np.random.Generator
) -> Iterator[tuple[int, ...]]:
    """Tables of up to four variables that are not controlled: all of them if they are few, else a drawn choice."""
    taken = {tuple(sorted(columns)) for columns in controlled}
    widest = min(WIDEST, n_variables)
    if sum(comb(n_variables, size) for size in range(1, widest + 1)) <= LOOKED_AT + len(taken):
        for size in range(1, widest + 1):
            yield from (columns for columns in combinations(range(n_variables), size) if columns not in taken)
        return
    left = LOOKED_AT
    while left:
        size = int(stream.integers(min(2, widest), widest + 1))
        columns = tuple(sorted(stream.permutation(n_variables)[:size].tolist()))
        if columns not in taken:
            taken.add(columns)
            left -= 1
            yield columns
