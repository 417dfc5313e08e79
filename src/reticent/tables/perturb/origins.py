# SPDX-License-Identifier: Apache-2.0
"""Which true counts can be behind published ones, given the p-table, the largest adjustment and a measure of accuracy."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.tables.perturb.ptable import PerturbationTable

ALIKE = "that cells with the same records are changed in the same way, so that different values show somebody elsewhere"
"""What is known of noise that belongs to a set of records beyond the counts that it allows in each cell."""
_NUMBERED = 10_000_000
"""This many combinations are numbered in a table; more of them are sorted."""


@dataclass(frozen=True, eq=False)
class Origins:
    """For each cell a set of whole numbers: `patterns[pattern[cell]]` marks which of base, base + 1, … are possible.

    `weights` has, in the same places, how likely each true count leads to the published one (None: not calculated).
    `alike` has what each cell is published as, where cells with the same records get the same value (−1: no such rule):
    then two of them that are published differently have different records. `nested` are pairs of cells of which everybody knows
    that the first has all records of the second, although no relation says so. `apart` are pairs of which the first has a record
    more, as another release shows, or a rule for the same records that holds for some pairs only.
    """

    base: Ints = field(repr=False)
    pattern: NDArray[np.int32] = field(repr=False)
    patterns: Mask = field(repr=False)
    weights: Floats | None = field(default=None, repr=False)
    alike: Ints | None = field(default=None, repr=False)
    nested: Ints | None = field(default=None, repr=False)
    apart: Ints | None = field(default=None, repr=False)

    @property
    def low(self) -> Floats:
        """The least possible true count of each cell."""
        return np.asarray(self.base + np.argmax(self.patterns, axis=1)[self.pattern], dtype=np.float64)

    @property
    def high(self) -> Floats:
        """The largest possible true count of each cell."""
        last = self.patterns.shape[1] - 1 - np.argmax(self.patterns[:, ::-1], axis=1)
        return np.asarray(self.base + last[self.pattern], dtype=np.float64)

    def of(self, cells: Ints) -> "Origins":
        """The same for some of the cells."""
        alike = None if self.alike is None else self.alike[cells]
        return replace(self, base=self.base[cells], pattern=self.pattern[cells], alike=alike, nested=None, apart=None)

    def allows(self, values: Floats) -> Mask:
        """Whether each cell may have this true count."""
        at = np.rint(values).astype(np.int64) - self.base
        inside = (at >= 0) & (at < self.patterns.shape[1])
        return np.asarray(inside & self.patterns[self.pattern, np.clip(at, 0, self.patterns.shape[1] - 1)])

    def fixed(self, cells: Mask, values: Floats) -> "Origins":
        """The same where some cells are known exactly."""
        if not cells.any():
            return self
        only = np.zeros((1, self.patterns.shape[1]), dtype=bool)
        only[0, 0] = True
        weights = None if self.weights is None else np.vstack([self.weights, only.astype(np.float64)])
        return Origins(
            np.where(cells, np.rint(values).astype(np.int64), self.base),
            np.where(cells, len(self.patterns), self.pattern).astype(np.int32),
            np.vstack([self.patterns, only]),
            weights,
            None if self.alike is None else np.where(cells, -1, self.alike),
            self.nested,
        )


@dataclass(frozen=True, eq=False)
class Told:
    """What is published of the size of each change: `sizes` (NaN: nothing), and by which of the `chances` each was drawn.

    A matrix of chances has a row per absolute change and a column per published size: 0 says that it cannot be.
    """

    sizes: Floats
    by: Ints
    chances: tuple[Floats, ...]

    def of(self, cells: Ints) -> "Told":
        """The same for some of the cells."""
        return replace(self, sizes=self.sizes[cells], by=self.by[cells])

    def chance(self, change: int, size: int, by: int) -> float:
        """How likely a change of this size is published so; 1 where nothing is said."""
        if size < 0:
            return 1.0
        matrix = self.chances[by]
        return float(matrix[abs(change), size]) if abs(change) < len(matrix) else 0.0


Strata = Sequence[tuple[Ints, PerturbationTable]]
"""Groups of cells, each with the p-table that its noise was drawn by."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """How the noise of a table was drawn: p-tables by groups of cells, and the counts before they were made to add up.

    `alike` says that cells with the same records got the same noise, `within` that those of one group did.
    """

    strata: Strata = field(repr=False)
    noisy: Floats = field(repr=False)
    alike: bool = False
    within: bool = False


def origins_of(
    table: PerturbationTable,
    published: Floats,
    *,
    slack: int | Ints = 0,
    mean_slack: float = 0.0,
    told: Told | None = None,
    alike: bool = False,
) -> Origins:
    """The possible true counts behind each published one.

    Additivity moved noisy counts by at most `slack` (of each cell), and by `mean_slack` on average. `told` is what is
    published of each change. 0 stays 0: what is published above 0 has somebody in it.
    """
    shown = np.rint(published).astype(np.int64)
    moved = np.broadcast_to(np.asarray(slack, dtype=np.int64), shown.shape)
    last, span = len(table.rows) - 1, int(table.largest) + int(moved.max(initial=0))
    level = last + 2 * span + 1  # from here on only the last row plays a part
    none = np.full(len(shown), -1, dtype=np.int64)
    said = none if told is None else np.nan_to_num(told.sizes, nan=-1).astype(np.int64)
    by = none if told is None else np.asarray(told.by, dtype=np.int64)
    kinds, pattern = _kinds(np.minimum(shown, level), moved, said, by)
    chances = [dict(zip(row.changes.astype(int).tolist(), row.chances.tolist(), strict=True)) for row in table.rows]
    weights = np.zeros((len(kinds), 2 * span + 1))
    for place, (value, most, size, source) in enumerate(kinds.tolist()):
        moves = _moves(most, mean_slack)
        for at in range(2 * span + 1):
            true = value - span + at
            fits = 1.0 if told is None else told.chance(value - true, size, source)
            weights[place, at] = fits * _weight(true, value, chances, moves) if fits else 0.0
    return Origins(shown - span, pattern.astype(np.int32), weights > 0, weights, shown if alike else None)


def _kinds(*columns: Ints) -> tuple[Ints, Ints]:
    """Which combinations of small whole numbers occur, a row each, and which one each cell has.

    Combinations are numbered, and a table of all numbers says which occur: sorting millions of rows would take longer than the
    rest of the attack.
    """
    ends = [(int(column.min(initial=0)), int(column.max(initial=0))) for column in columns]
    sizes = [(least, most - least + 1) for least, most in ends]
    if math.prod(size for _, size in sizes) > _NUMBERED:
        kinds, pattern = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        return kinds, pattern.ravel()
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column, (least, size) in zip(columns, sizes, strict=True):
        number = number * size + (column - least)
    occurs = np.bincount(number, minlength=1) > 0
    left = np.flatnonzero(occurs)
    place = np.cumsum(occurs) - 1
    rows = []
    for least, size in reversed(sizes):
        left, rest = np.divmod(left, size)
        rows.append(rest + least)
    return np.column_stack(rows[::-1]), place[number]


def _moves(slack: int, mean_slack: float) -> dict[int, float]:
    """How likely additivity moved by so much: small movements are likelier than large ones."""
    ratio = mean_slack / (1.0 + mean_slack) if slack else 0.0
    return {moved: max(ratio, 1e-3) ** abs(moved) for moved in range(-slack, slack + 1)}


def _weight(true: int, value: int, chances: list[dict[int, float]], moves: dict[int, float]) -> float:
    """How likely the true count leads to the value, up to a factor that is the same for all: 0 if it cannot."""
    if true < 0 or (true == 0 and value > 0):
        return 0.0
    row = chances[min(true, len(chances) - 1)]
    return sum(row.get(value + moved - true, 0.0) * share for moved, share in moves.items() if value + moved >= 0)


def stacked(parts: Sequence[tuple[Ints, Origins]], n_cells: int) -> Origins:
    """The origins of groups of cells, each by a p-table of its own, as those of the table."""
    if len(parts) == 1 and len(parts[0][0]) == n_cells:
        return parts[0][1]
    width = max(found.patterns.shape[1] for _, found in parts)
    base, pattern = np.zeros(n_cells, dtype=np.int64), np.zeros(n_cells, dtype=np.int32)
    alike = np.full(n_cells, -1, dtype=np.int64)
    sets, weights, start = [], [], 0
    for cells, found in parts:
        assert found.weights is not None
        more = ((0, 0), (0, width - found.patterns.shape[1]))
        sets.append(np.pad(found.patterns, more))
        weights.append(np.pad(found.weights, more))
        base[cells], pattern[cells] = found.base, found.pattern + start
        alike[cells] = -1 if found.alike is None else found.alike
        start += len(found.patterns)
    return Origins(base, pattern, np.vstack(sets), np.vstack(weights), alike if (alike >= 0).any() else None)
