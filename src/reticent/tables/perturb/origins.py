"""Which true counts can be behind published ones, for who knows the p-table, the largest adjustment and a measure of accuracy."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.tables.perturb.ptable import PerturbationTable


@dataclass(frozen=True, eq=False)
class Origins:
    """For each cell a set of whole numbers: `patterns[pattern[cell]]` marks which of base, base + 1, … are possible.

    `weights` has, in the same places, how likely each true count leads to the published one (None: not calculated).
    """

    base: Ints = field(repr=False)
    pattern: NDArray[np.int32] = field(repr=False)
    patterns: Mask = field(repr=False)
    weights: Floats | None = field(default=None, repr=False)

    @property
    def low(self) -> Floats:
        """The least possible true count of each cell."""
        return np.asarray(self.base + np.argmax(self.patterns, axis=1)[self.pattern], dtype=np.float64)

    @property
    def high(self) -> Floats:
        """The largest possible true count of each cell."""
        last = self.patterns.shape[1] - 1 - np.argmax(self.patterns[:, ::-1], axis=1)
        return np.asarray(self.base + last[self.pattern], dtype=np.float64)

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
        )


def origins_of(
    table: PerturbationTable,
    published: Floats,
    *,
    slack: int = 0,
    mean_slack: float = 0.0,
    measure: Floats | None = None,
    band: int = 0,
) -> Origins:
    """The possible true counts behind each published one.

    Additivity moved noisy counts by at most `slack`, and by `mean_slack` on the average. The published `measure` (NaN: none)
    is within `band` of the absolute change. 0 stays 0: what is published above 0 has somebody in it.
    """
    shown = np.rint(published).astype(np.int64)
    last, reach = len(table.rows) - 1, int(table.largest)
    span = reach + slack
    level = last + 2 * span + 1  # from here on only the last row plays a part
    told = (
        np.full(len(shown), -1, dtype=np.int64) if measure is None else np.nan_to_num(measure, nan=-1).astype(np.int64)
    )
    kinds, pattern = np.unique(np.column_stack([np.minimum(shown, level), told]), axis=0, return_inverse=True)
    chances = [dict(zip(row.changes.astype(int).tolist(), row.chances.tolist(), strict=True)) for row in table.rows]
    weights = np.zeros((len(kinds), 2 * span + 1))
    ratio = mean_slack / (1.0 + mean_slack) if slack else 0.0  # small movements are likelier than large ones
    moves = {moved: max(ratio, 1e-3) ** abs(moved) for moved in range(-slack, slack + 1)}
    for place, (value, said) in enumerate(kinds.tolist()):
        for at in range(2 * span + 1):
            weights[place, at] = _weight(value - span + at, value, said, band, chances, moves)
    return Origins(shown - span, pattern.ravel().astype(np.int32), weights > 0, weights)


def _weight(
    true: int, value: int, said: int, band: int, chances: list[dict[int, float]], moves: dict[int, float]
) -> float:
    """How likely the true count leads to the value, up to a factor that is the same for all: 0 if it cannot."""
    if true < 0 or (true == 0 and value > 0):
        return 0.0
    if said >= 0 and abs(abs(value - true) - said) > band:
        return 0.0
    row = chances[min(true, len(chances) - 1)]
    return sum(row.get(value + moved - true, 0.0) * share for moved, share in moves.items() if value + moved >= 0)
