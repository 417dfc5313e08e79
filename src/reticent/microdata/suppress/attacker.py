"""The attacker's (k,1): every published record must fit at least k true records. Exact, record by record.

Blanking a record changes only what is published of it, never the true counts, so records are independent. What is left
of a combination S after blanking N has too few records exactly if it contains a minimal rare set of the record (counts
fall as sets grow); so N must hit every minimal rare set, and the cheapest hitting set is the optimum. Household
variables tie the members of a household together: there the optimum is over the household.
"""

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reticent.kernels.grouping import pattern_table
from reticent.kernels.suppression import cheapest_hits, household_hits
from reticent.kernels.uniques import minimal_rare_sets
from reticent.microdata.suppress.demand import ENUMERATED, Demand, Prices, variables_of

Codes = NDArray[np.int32]
Masks = NDArray[np.int64]


def cheapest_blanks(codes: Codes, demand: Demand, prices: Prices) -> tuple[Masks, NDArray[np.bool_]]:
    """The variables to blank in every record at least cost, and which records cannot be made safe."""
    rows, sets, _, group, n_patterns = _rare_sets(codes, demand)
    bounds = np.searchsorted(rows, np.arange(n_patterns + 1))
    if len(prices.costs) <= ENUMERATED:
        chosen = np.empty(n_patterns, np.int64)
        cheapest_hits(bounds, sets, prices.candidates(), chosen)
    else:
        chosen = _searched(bounds, sets, prices)
    return np.maximum(chosen, 0)[group], (chosen < 0)[group]


def household_blanks(
    codes: Codes, demand: Demand, prices: Prices, household: NDArray[np.int64], shared: int
) -> tuple[Masks, NDArray[np.bool_]]:
    """The same when the variables `shared` (a mask) are blanked for a whole household or for none of its members."""
    rows, sets, _, group, n_patterns = _rare_sets(codes, demand)
    bounds = np.searchsorted(rows, np.arange(n_patterns + 1))
    common = prices.candidates(within=shared)
    own = prices.candidates(within=~shared & ((1 << len(prices.costs)) - 1))
    order = np.argsort(household, kind="stable")
    edges = np.flatnonzero(np.diff(household[order], prepend=-1, append=-2))
    chosen = np.zeros(len(codes), np.int64)
    household_hits(
        edges, order, group, bounds, sets, common, prices.of_masks(common), own, prices.of_masks(own),
        -1 if prices.cap is None else prices.cap, chosen,
    )  # fmt: skip
    return np.maximum(chosen, 0), chosen < 0


def _rare_sets(
    codes: Codes, demand: Demand
) -> tuple[NDArray[np.int32], Masks, NDArray[np.int32], NDArray[np.int64], int]:
    """Minimal rare sets sorted by pattern, each record's pattern, and the number of patterns."""
    first, counts, _, group = pattern_table(codes, [int(c) + 1 for c in codes.max(axis=0)])
    rows, sets, found = minimal_rare_sets(codes[first], counts, **demand.limits())  # type: ignore[arg-type]
    order = np.argsort(rows, kind="stable")
    return rows[order], sets[order], found[order], group, len(first)


def _searched(bounds: NDArray[np.int64], sets: Masks, prices: Prices) -> Masks:
    """Cheapest hitting sets by branching, for more variables than can be listed; equal families are solved once."""

    @lru_cache(maxsize=100_000)
    def solve(family: tuple[int, ...]) -> int:
        return cheapest_hitting_set(family, prices)

    return np.array([solve(tuple(sorted(sets[a:b].tolist()))) for a, b in pairwise(bounds.tolist())], np.int64)


def cheapest_hitting_set(family: tuple[int, ...], prices: Prices) -> int:
    """The cheapest set of variables that meets every set of the family, or −1; branch and bound on the smallest one."""
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
        for v in sorted(variables_of(branch), key=lambda v: prices.costs[v]):
            options.append((chosen | 1 << v, cost + prices.costs[v], ruled))
            ruled |= 1 << v
        stack.extend(reversed(options))
    return best
