# SPDX-License-Identifier: Apache-2.0
"""What one respondent of a cell learns about another: why a dominance verdict misleads, in numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.checks import check_between, check_integer
from reticent.base.doors import door
from reticent.base.errors import ParameterError
from reticent.tables.rules import RuleCells


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


@door
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


@dataclass(frozen=True)
class DominanceFlaw:
    """Two cells that (n, k) judges the wrong way round: the insider knows the largest of `passed` better."""

    passed: tuple[float, ...]
    failed: tuple[float, ...]


@door
def dominance_flaw(n: int, k: float, *, step: float = 0.5) -> DominanceFlaw:
    """A counterexample for any (n, k), with total 100, for teaching.

    In `passed` the n largest hold `step` less than k %, nearly all of it in one hand (for n = 1 with a second that is as
    large as can be); in `failed` they hold `step` more than k %, evenly spread, and so is the rest.

    >>> flaw = dominance_flaw(1, 60, step=1)
    >>> flaw.passed
    (59.0, 40.5, 0.5)
    """
    check_integer(n, minimum=1, maximum=50, name="n", owner="dominance flaw")
    check_between(k, 0, 100, name="k", owner="dominance flaw")
    if not 2 * step < k < 100 - 2 * step:
        raise ParameterError(f"dominance flaw: k must be between {2 * step:g} and {100 - 2 * step:g}, got {k:g}.")
    low, high = float(k - step), float(k + step)
    if n == 1:
        sliver = min(step / 2, (100 - low) / 2)
        passed = [low, *_pieces(100 - low - sliver, low), sliver]
    else:
        small = step / n
        passed = [low - (n - 1) * small, *[small] * (n - 1), *_pieces(100 - low, small)]
    failed = [high / n] * n + _pieces(100 - high, min(high / n / 2, (100 - high) / 10))
    return DominanceFlaw(tuple(sorted(passed, reverse=True)), tuple(sorted(failed, reverse=True)))


def _pieces(total: float, largest: float) -> list[float]:
    """A total in equal pieces that are not larger than allowed."""
    count = max(1, math.ceil(total / largest - 1e-12))
    return [total / count] * count
