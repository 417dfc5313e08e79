# SPDX-License-Identifier: Apache-2.0
"""The attacker of noise by quotas: every true table whose movements are a controlled rounding of what its own matrix expects.

Which tables these are follows from what is published and the rules alone, not from the truth. So whether a run is refused because
one of its counts is the same in all of them reveals nothing either.
"""

import numpy as np

from reticent.tables.attack.noise_intervals import Narrowed, narrowed
from reticent.tables.attack.noise_worlds import all_worlds
from reticent.tables.outcome import Outcome
from reticent.tables.problem import SuppressionProblem

MOST = 20_000_000
"""This many counts, over all tables that sums allow, are looked at."""


def quota_ends(problem: SuppressionProblem, outcome: Outcome) -> tuple[Narrowed, int] | None:
    """The ends of each cell over all tables that fit, and how many these are; None where they are too many to look at."""
    rule, values = outcome.quotas, outcome.values
    if rule is None or rule.origins is None or values is None:
        return None
    wide = rule.origins
    found = narrowed(
        problem.relations,
        wide,
        np.maximum(wide.low, problem.lower_bound),
        np.minimum(wide.high, problem.upper_bound),
    )
    worlds = all_worlds(problem.relations, wide, found.low, found.high, MOST)
    if worlds is None:
        return None
    left = worlds.counts[worlds.fits]
    allowed = np.ones(len(left), dtype=bool)
    for cell in range(problem.n_cells):
        at = left[:, cell] - wide.base[cell]
        allowed &= wide.patterns[wide.pattern[cell], np.clip(at, 0, wide.patterns.shape[1] - 1)]
    left = left[allowed]
    fits = rule.fits(left, np.rint(values).astype(np.int64))
    if fits is None:
        return None
    left = left[fits]
    low, high = left.min(axis=0).astype(np.float64), left.max(axis=0).astype(np.float64)
    return Narrowed(low, high, exact=True), len(left)
