# SPDX-License-Identifier: Apache-2.0
"""The attacker's (k,1): every published record must fit at least k true records. Exact, record by record.

Blanking a record changes only what is published of it, never the true counts, so records are independent. What is left
of a combination S after blanking N has too few records exactly if it contains a minimal rare set of the record (counts
fall as sets grow); so N must hit every minimal rare set, and the cheapest hitting set is the optimum. Household
variables tie the members of a household together: there the optimum is over the household.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes
from reticent.kernels.grouping import pattern_table
from reticent.kernels.hits import cheapest_hits, count_ties, drawn_hits, household_hits
from reticent.kernels.uniques import minimal_rare_sets
from reticent.microdata.suppress.requirement import ENUMERATED, Prices, Requirement, variables_of

Masks = NDArray[np.int64]


@dataclass(frozen=True)
class Families:
    """The minimal rare sets of every pattern, and each record's pattern: what the blanks of a record must meet."""

    bounds: NDArray[np.int64]
    sets: Masks
    group: NDArray[np.int64]

    def met_by(self, record: int, mask: int) -> bool:
        """Whether blanking the mask makes the record safe."""
        pattern = self.group[record]
        return bool((self.sets[self.bounds[pattern] : self.bounds[pattern + 1]] & mask != 0).all())


def cheapest_of(
    rare: Families, prices: Prices, *, chance: NDArray[np.float64] | None = None
) -> tuple[Masks, NDArray[np.bool_]]:
    """The variables to blank in every record at least cost, and which records cannot be made safe.

    Among sets of equal cost, `chance` (a uniform of each record) draws one; without it the first is taken.
    """
    if len(prices.costs) > ENUMERATED:
        chosen = _searched(rare.bounds, rare.sets, prices, chance)[rare.group]
        return np.maximum(chosen, 0), chosen < 0
    candidates = prices.candidates()
    if chance is None:
        by_pattern = np.empty(len(rare.bounds) - 1, np.int64)
        cheapest_hits(rare.bounds, rare.sets, candidates, by_pattern)
        chosen = by_pattern[rare.group]
    else:
        rank = np.unique(np.round(prices.of_masks(candidates), 9), return_inverse=True)[1].astype(np.int64)
        ties = np.empty(len(rare.bounds) - 1, np.int64)
        count_ties(rare.bounds, rare.sets, candidates, rank, ties)
        chosen = np.empty(len(rare.group), np.int64)
        drawn_hits(rare.bounds, rare.sets, candidates, rare.group, ties, chance, chosen)
    return np.maximum(chosen, 0), chosen < 0


def household_blanks(
    rare: Families,
    prices: Prices,
    household: NDArray[np.int64],
    shared: int,
    *,
    chance: NDArray[np.float64] | None = None,
) -> tuple[Masks, NDArray[np.bool_]]:
    """The same when the variables `shared` (a mask) are blanked for a whole household or for none of its members.

    `chance` draws the order in which sets of equal cost are tried, the same for all households.
    """
    common = drawn_order(prices.candidates(within=shared), prices, chance)
    own = drawn_order(prices.candidates(within=~shared & ((1 << len(prices.costs)) - 1)), prices, chance)
    order = np.argsort(household, kind="stable")
    edges = np.flatnonzero(np.diff(household[order], prepend=-1, append=-2))
    chosen = np.zeros(len(household), np.int64)
    household_hits(
        edges, order, rare.group, rare.bounds, rare.sets, common, prices.of_masks(common), own, prices.of_masks(own),
        -1 if prices.cap is None else prices.cap, chosen,
    )  # fmt: skip
    return np.maximum(chosen, 0), chosen < 0


def drawn_order(masks: Masks, prices: Prices, chance: NDArray[np.float64] | None) -> Masks:
    """The masks by rising cost, equal ones in drawn order."""
    if chance is None:
        return masks
    drawn = np.resize(chance, len(masks)) if len(chance) else np.zeros(len(masks))
    return masks[np.lexsort((drawn, np.round(prices.of_masks(masks), 9)))]


def families(codes: Codes, requirement: Requirement) -> Families:
    """Minimal rare sets sorted by pattern, and each record's pattern."""
    first, counts, _, group = pattern_table(codes, [int(c) + 1 for c in codes.max(axis=0)])
    rows, sets, _ = minimal_rare_sets(codes[first], counts, **requirement.limits())  # type: ignore[arg-type]
    order = np.argsort(rows, kind="stable")
    return Families(np.searchsorted(rows[order], np.arange(len(first) + 1)), sets[order], group)


def _searched(
    bounds: NDArray[np.int64], sets: Masks, prices: Prices, chance: NDArray[np.float64] | None = None
) -> Masks:
    """Cheapest hitting sets by branching, for more variables than can be listed; equal families are solved once."""
    rank = np.arange(len(prices.costs)) if chance is None else np.argsort(np.resize(chance, len(prices.costs)))

    @lru_cache(maxsize=100_000)
    def solve(family: tuple[int, ...]) -> int:
        return cheapest_hitting_set(family, prices, rank=rank.tolist())

    return np.array([solve(tuple(sorted(sets[a:b].tolist()))) for a, b in pairwise(bounds.tolist())], np.int64)


def cheapest_hitting_set(family: tuple[int, ...], prices: Prices, *, rank: Sequence[int] | None = None) -> int:
    """The cheapest set of variables that meets every set of the family, or −1; branch and bound on the smallest one.

    Variables of equal cost are tried in the order of `rank`, which decides between sets of equal cost.
    """
    first = list(range(len(prices.costs))) if rank is None else rank
    best, best_cost = -1, float("inf")
    stack = [(0, 0.0, 0)]  # chosen, its cost, variables ruled out
    while stack:
        chosen, cost, out = stack.pop()
        if cost >= best_cost:
            continue
        open_sets = [s & ~out for s in family if not s & chosen]
        if not open_sets:
            best, best_cost = chosen, cost
            continue
        if prices.cap is not None and chosen.bit_count() >= prices.cap:
            continue
        branch = min(open_sets, key=lambda s: s.bit_count()) & ~prices.frozen
        ruled = out
        options = []
        for v in sorted(variables_of(branch), key=lambda v: (prices.costs[v], first[v])):
            options.append((chosen | 1 << v, cost + prices.costs[v], ruled))
            ruled |= 1 << v
        stack.extend(reversed(options))
    return best
