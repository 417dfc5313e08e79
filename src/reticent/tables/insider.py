"""What one respondent of a cell learns about another: why a dominance verdict misleads, in numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.tables.rules import RuleCells

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class InsiderBounds:
    """The largest contribution of each cell, and the upper bound that the best placed coalition has for it."""

    largest: Floats
    upper: Floats

    @property
    def excess(self) -> Floats:
        """By how many per cent the bound is above the true value (0: known exactly)."""
        return np.asarray(np.divide(
            100.0 * (self.upper - self.largest), self.largest, out=np.full(len(self.upper), np.inf),
            where=self.largest > 0,
        ))  # fmt: skip


def insider_bounds(cells: RuleCells, *, coalition: int = 1) -> InsiderBounds:
    """Total less the contributions of the c next largest: what they cannot explain is at most the largest's.

    >>> found = insider_bounds(RuleCells.of_contributions([[59, 40, 1], [61, 20, 19]]))
    >>> found.upper.tolist()
    [60.0, 80.0]
    """
    total, top, _ = cells.contributions("insider", coalition + 1)
    return InsiderBounds(top[:, 0], total - top[:, 1 : coalition + 1].sum(axis=1))


def why_dominance_misleads(contributions: Sequence[float], n: int, k: float) -> str:
    """One sentence that sets the verdict of (n, k) beside what the second largest respondent really learns."""
    cells = RuleCells.of_contributions([list(contributions)])
    bounds = insider_bounds(cells)
    listed = sorted((abs(x) for x in contributions), reverse=True)
    share = 100.0 * sum(listed[:n]) / sum(listed) if sum(listed) else 0.0
    verdict = "unsafe" if share > k else "safe"
    return (
        f"({n}, {k:g}) calls the cell {verdict} because the share is {share:.1f} %; the second largest respondent "
        f"knows that the largest is at most {bounds.upper[0]:g} where it is {bounds.largest[0]:g} "
        f"({bounds.excess[0]:.1f} % too much)."
    )
