# SPDX-License-Identifier: Apache-2.0
"""Blank as little as possible until each record's individual risk is at or below a threshold.

A record with the variables N blanked fits the true records that agree on the rest: its sample count and weight sum are
theirs, and its risk follows from the two. Records are independent, so the cheapest set per record is the optimum; sets
are tried by rising cost for all records at once.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from reticent.kernels.grouping import pattern_table
from reticent.kernels.wildcards import compatible_sums
from reticent.microdata.suppress.attacker import drawn_order
from reticent.microdata.suppress.lend import fitting, lend
from reticent.microdata.suppress.requirement import Prices

ROUNDS = 60
Risk = Callable[[NDArray[np.int64], NDArray[np.float64]], NDArray[np.float64]]


def risk_blanks(
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    threshold: float,
    risk: Risk,
    prices: Prices,
    *,
    chance: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The variables to blank in every record, and which records stay above the threshold whatever is blanked.

    `chance` draws the order of sets of equal cost.
    """
    first, counts, _, group = pattern_table(codes, [int(c) + 1 for c in codes.max(axis=0)])
    sums = np.bincount(group, weights=weights, minlength=len(first))
    patterns = codes[first]
    chosen = np.full(len(first), -1, np.int64)
    for mask in drawn_order(prices.candidates(), prices, chance).tolist():
        open_rows = np.flatnonzero(chosen < 0)
        if len(open_rows) == 0:
            break
        asked = patterns[open_rows].copy()
        asked[:, [v for v in range(codes.shape[1]) if mask >> v & 1]] = -1
        sample = compatible_sums(asked, patterns, counts, asking_wild=True, answering_wild=False)
        population = compatible_sums(asked, patterns, sums, asking_wild=True, answering_wild=False)
        safe = risk(sample, population) <= threshold
        chosen[open_rows[safe]] = mask
    return np.maximum(chosen, 0)[group], (chosen < 0)[group]


def lent_for_risk(
    codes: NDArray[np.int32],
    published: NDArray[np.int32],
    weights: NDArray[np.float64],
    threshold: float,
    risk: Risk,
    prices: Prices,
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Blank more, until the published records that fit each true one keep its risk at or below the threshold.

    How many must fit follows from their weights, which are known only when they fit; so the number asked for rises round
    by round, by half of what the present weights suggest.
    """
    out = published.copy()
    for _ in range(ROUNDS):
        sample, population = fitting(codes, out), fitting(codes, out, weights)
        risks = risk(sample, population)
        high = risks > threshold
        if not high.any() or threshold <= 0:
            break
        wanted = sample * np.minimum(risks / threshold, 1e6)
        need = np.where(high, np.maximum(sample + 1, (sample + wanted) // 2), 0).astype(np.int64)
        spent = ((out < 0) & (codes >= 0)).sum(axis=1)
        before = int((out < 0).sum())
        out, _ = lend(codes, out, np.minimum(need, len(codes)), prices, spent)
        if int((out < 0).sum()) == before:
            break
    return out, risk(fitting(codes, out), fitting(codes, out, weights)) > threshold
