# SPDX-License-Identifier: Apache-2.0
"""Empty combinations of codes that a ground lists where it cannot list all: where somebody could be.

Which are listed decides only how much can be shown to be possible: any of them may be left out. What matters is that records
can be thought of elsewhere, in cells that are hidden anyway and alike in everything else.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.data.facts import LARGEST

MOST_NEAR = 20_000
"""This many empty combinations near those that occur are listed at most, where not all are."""
MOST_MOVED = 60_000
"""This many combinations are listed at most because a record of a hidden cell could be there."""


@dataclass(frozen=True)
class HiddenCells:
    """The hidden inner cells of a table of counts, by codes of its variables; `watched` must not be found out."""

    variables: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    watched: frozenset[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class _Hidden:
    """The same by numbers: the columns of the variables, and which of all their cells are hidden or watched."""

    columns: tuple[int, ...]
    hidden: Mask
    watched: Mask


def near_atoms(
    codes: Ints, sizes: Sequence[int], names: Sequence[str], categories: Sequence[Sequence[str]],
    hidden: Sequence[HiddenCells],
) -> Ints:  # fmt: skip
    """Empty combinations to list beside those that occur (`codes`, from 0 on; a text has the number of its place from the end).

    First where records of hidden cells could be, so that a watched cell is left or entered, then between those that occur.
    """
    if math.prod(sizes) >= LARGEST:
        return np.zeros((0, codes.shape[1]), dtype=np.int64)
    steps = np.array([math.prod(sizes[at + 1 :]) for at in range(len(sizes))], dtype=np.int64)
    here = codes @ steps
    found = [np.zeros(0, dtype=np.int64)]
    for one in hidden:
        found.append(_moved(codes, here, steps, sizes, _numbered(one, names, categories, sizes)))
    wanted = np.unique(np.concatenate(found))
    wanted = wanted[~np.isin(wanted, here)]
    wanted = wanted[:: -(-len(wanted) // MOST_MOVED) or 1]
    kept = np.union1d(wanted, _between(codes, here, steps, sizes))
    return np.column_stack(np.unravel_index(kept, tuple(sizes))).astype(np.int64).reshape(-1, codes.shape[1])


def _numbered(
    one: HiddenCells, names: Sequence[str], categories: Sequence[Sequence[str]], sizes: Sequence[int]
) -> _Hidden:
    columns = tuple(names.index(name) for name in one.variables)
    places = []
    for column in columns:
        first = sizes[column] - len(categories[column])  # 1 where codes may be missing
        places.append({text: first + at for at, text in enumerate(categories[column])})
    shape = [sizes[column] for column in columns]
    masks = []
    for cells in (one.cells, sorted(one.watched)):
        mask = np.zeros(math.prod(shape), dtype=bool)
        for cell in cells:
            if all(text in own for text, own in zip(cell, places, strict=True)):
                mask[np.ravel_multi_index([own[t] for t, own in zip(cell, places, strict=True)], shape)] = True
        masks.append(mask)
    return _Hidden(columns, masks[0] | masks[1], masks[1])


def _moved(codes: Ints, here: Ints, steps: Ints, sizes: Sequence[int], one: _Hidden) -> Ints:
    """Where records of hidden cells are if they change one code of the table and come to another hidden cell.

    One of the two is watched: of the others enough are listed anyway.
    """
    shape = [sizes[column] for column in one.columns]
    cell = np.ravel_multi_index(tuple(codes[:, column] for column in one.columns), shape)
    source = np.flatnonzero(one.hidden[cell])
    found = [np.zeros(0, dtype=np.int64)]
    for at, column in enumerate(one.columns):
        step = math.prod(shape[at + 1 :])
        for code in range(sizes[column]):
            by = code - codes[source, column]
            target = cell[source] + by * step
            able = one.hidden[target] & (one.watched[target] | one.watched[cell[source]]) & (by != 0)
            found.append(here[source[able]] + by[able] * steps[column])
    return np.concatenate(found)


def _between(codes: Ints, here: Ints, steps: Ints, sizes: Sequence[int]) -> Ints:
    """Empty combinations that differ in one variable from two that occur, those with most such neighbours first."""
    found = []
    for at, size in enumerate(sizes):
        rest = here - codes[:, at] * steps[at]
        lines, times = np.unique(rest, return_counts=True)
        shared = lines[times > 1]
        found.append((shared[:, None] + np.arange(size) * steps[at]).ravel())
    every, times = np.unique(np.concatenate(found), return_counts=True)
    fresh = ~np.isin(every, here)
    every, times = every[fresh], times[fresh]
    return every[np.argsort(-times, kind="stable")[:MOST_NEAR]]
