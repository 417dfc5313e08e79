# SPDX-License-Identifier: Apache-2.0
"""Numbers of respondents and their weighted counts together, where weights differ: which of both are determined?

A weighted count is published as W·(k + u)/n: the true one, times the number of respondents as the p-table changes it and at most
half a respondent more or less, by the true number. So each possible n leaves an interval of W, and both add up.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.arrays import Floats, Ints, Mask
from reticent.data.relations import Relations
from reticent.solve.highs import HighsSession
from reticent.solve.model import LinearModel, Status
from reticent.tables.attack.noise_intervals import apart_rows, different
from reticent.tables.perturb.origins import Origins
from reticent.tables.perturb.ptable import PerturbationTable

FEW_DECIMALS = 2
"""Up to this many decimals of weights, the grid of weighted counts is followed; a finer one is taken for a continuum."""
MOST_CHOICES = 60
"""Of a cell with more possible numbers of respondents, only the range of mean weights is used."""
_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class Ranges:
    """What everybody knows of each cell: the value as `shown`, give or take `half`, and the ends of weights and numbers.

    The number of respondents was changed by a p-table (`changes`), or the weighted count is within `bottom` and `top`.
    """

    shown: Floats
    half: float
    least: Floats
    most: Floats
    low: Floats
    high: Floats
    bottom: Floats
    top: Floats
    changes: PerturbationTable | None

    def ends(self, cell: int, numbers: Ints) -> tuple[Floats, Floats]:
        """The least and largest weighted count for each number of respondents."""
        low, high = numbers * self.least[cell], numbers * self.most[cell]
        if self.changes is None:
            return np.maximum(low, self.bottom[cell]), np.minimum(high, self.top[cell])
        if self.shown[cell] > 0:
            fewest, largest = _reach(self.changes, numbers)
            low = np.maximum(low, (self.shown[cell] - self.half) * numbers / (largest + 0.5))
            high = np.minimum(high, (self.shown[cell] + self.half) * numbers / (fewest - 0.5))
        return low, high


def _reach(changes: PerturbationTable, numbers: Ints) -> tuple[Floats, Floats]:
    """The least above 0 and the largest that the p-table makes of each number."""
    moves = [row.changes[row.chances > 0] for row in changes.rows]
    ends = np.array([[each.min(initial=np.inf), each.max(initial=-np.inf)] for each in moves])
    at = np.minimum(numbers, len(moves) - 1)
    return np.maximum(numbers + ends[at, 0], changes.skipped + 1.0), np.maximum(numbers + ends[at, 1], 1.0)


def determined_with_weights(
    relations: Relations, origins: Origins, ranges: Ranges, true: tuple[Floats, Floats], decimals: int
) -> Mask:
    """Cells with somebody in them of which all that fits has one number of respondents, or one weighted count.

    The `true` numbers and weighted counts fit, so every solution with others proves that these are not determined.
    """
    counts, weighted = true
    scale = 10.0**decimals if decimals <= FEW_DECIMALS else 1.0
    session = HighsSession(_program(relations, origins, ranges, scale, whole=decimals <= FEW_DECIMALS))
    n = relations.n_cells
    truth = np.concatenate([counts, np.rint(weighted * scale) if decimals <= FEW_DECIMALS else weighted * scale])
    other = np.zeros(2 * n, dtype=bool)
    for column in range(2 * n):
        if decimals > FEW_DECIMALS and column >= n:
            other[n:] = True
            break
        for sign in (-1.0, 1.0):
            if other[column] or counts[column % n] == 0:
                break
            at = np.array([column], dtype=np.int32)
            session.set_cost(at, np.array([sign]))
            found = session.solve()
            session.set_cost(at, np.array([0.0]))
            if found.status is Status.OPTIMAL:
                other |= np.abs(found.values[: 2 * n] - truth) > 0.5
    return np.asarray(~(other[:n] & other[n:]) & (counts > 0))


def _program(relations: Relations, origins: Origins, ranges: Ranges, scale: float, *, whole: bool) -> LinearModel:
    """Numbers, weighted counts, and for each cell with few possible numbers a column for each of them, of which one is 1."""
    n = relations.n_cells
    blocks = [_cell_rows(ranges, cell, scale, whole=whole) for cell in range(n)]
    extra = sum(len(block.numbers) for block in blocks)
    width = 2 * n + extra
    rows: list[sparse.csr_array] = []
    lower: list[Floats] = []
    upper: list[Floats] = []
    after = 2 * n
    for cell, block in enumerate(blocks):
        rows.append(block.rows(cell, n, after, width))
        lower.append(block.lower)
        upper.append(block.upper)
        after += len(block.numbers)
    apart = different(relations, origins)
    matrix = relations.matrix()
    both = sparse.hstack([sparse.block_diag([matrix, matrix]), sparse.csr_array((2 * relations.n_rows, extra))])
    zeros = np.zeros(2 * relations.n_rows)
    ends = np.array([[block.low, block.high] for block in blocks]).reshape(n, 2)
    return LinearModel(
        np.zeros(width),
        np.concatenate([ranges.low, ends[:, 0], np.zeros(extra)]),
        np.concatenate([ranges.high, ends[:, 1], np.ones(extra)]),
        sparse.csr_array(sparse.vstack([both, apart_rows(apart, width), *rows])),
        np.concatenate([zeros, np.ones(len(apart)), *lower]),
        np.concatenate([zeros, np.full(len(apart), np.inf), *upper]),
        integer=np.concatenate([np.ones(n, dtype=bool), np.full(n, whole), np.ones(extra, dtype=bool)]),
    )


@dataclass(frozen=True, eq=False)
class _CellRows:
    """How the number and the weighted count of one cell belong together: one of `numbers`, each with its ends; or a cone."""

    numbers: Ints
    least: Floats
    most: Floats
    low: float
    high: float

    @property
    def lower(self) -> Floats:
        return np.array([1.0, 0.0, 0.0, -np.inf]) if len(self.numbers) else np.array([0.0, -np.inf])

    @property
    def upper(self) -> Floats:
        return np.array([1.0, 0.0, np.inf, 0.0]) if len(self.numbers) else np.array([np.inf, 0.0])

    def rows(self, cell: int, n: int, after: int, width: int) -> sparse.csr_array:
        """One of the numbers; the number is that one; the weighted count is not below its least, nor above its most."""
        wide = len(self.numbers)
        if not wide:
            cone = [1.0, -float(self.least[0]), 1.0, -float(self.most[0])]
            return sparse.csr_array((cone, ([0, 0, 1, 1], [n + cell, cell] * 2)), shape=(2, width))
        columns = np.arange(after, after + wide)
        entries = np.concatenate([np.ones(wide), [1.0], -self.numbers, [1.0], -self.least, [1.0], -self.most])
        at = np.concatenate([columns, [cell], columns, [n + cell], columns, [n + cell], columns])
        row = np.repeat([0, 1, 2, 3], [wide, wide + 1, wide + 1, wide + 1])
        return sparse.csr_array((entries, (row, at)), shape=(4, width))


def _cell_rows(ranges: Ranges, cell: int, scale: float, *, whole: bool) -> _CellRows:
    numbers = np.arange(int(ranges.low[cell]), int(ranges.high[cell]) + 1, dtype=np.int64)
    low, high = (end * scale for end in ranges.ends(cell, numbers))
    if whole:
        low, high = np.ceil(low - _CLOSE), np.floor(high + _CLOSE)
    fits: NDArray[np.bool_] = low <= high + _CLOSE
    ends = float(low[fits].min()), float(high[fits].max())
    if len(numbers) > MOST_CHOICES:
        cone = np.array([ranges.least[cell] * scale]), np.array([ranges.most[cell] * scale])
        return _CellRows(numbers[:0], *cone, *ends)
    return _CellRows(numbers[fits], low[fits], high[fits], *ends)
