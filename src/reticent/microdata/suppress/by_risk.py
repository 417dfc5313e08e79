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
from reticent.microdata.suppress.demand import Prices

Risk = Callable[[NDArray[np.int64], NDArray[np.float64]], NDArray[np.float64]]


def risk_blanks(
    codes: NDArray[np.int32], weights: NDArray[np.float64], threshold: float, risk: Risk, prices: Prices
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The variables to blank in every record, and which records stay above the threshold whatever is blanked."""
    first, counts, _, group = pattern_table(codes, [int(c) + 1 for c in codes.max(axis=0)])
    sums = np.bincount(group, weights=weights, minlength=len(first))
    patterns = codes[first]
    chosen = np.full(len(first), -1, np.int64)
    for mask in prices.candidates().tolist():
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
