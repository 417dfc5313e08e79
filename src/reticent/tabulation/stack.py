# SPDX-License-Identifier: Apache-2.0
"""Cells of two tables, one behind the other."""

import numpy as np

from reticent.data.table import Measure, Respondents


def stack_respondents(one: Respondents, other: Respondents) -> Respondents:
    """What the rules see of both."""
    return Respondents(
        np.concatenate((one.counts, other.counts)),
        np.concatenate((one.weighted_counts, other.weighted_counts)),
        {name: stack_measures(m, other.measures[name]) for name, m in one.measures.items()},
        np.concatenate((one.judged_counts, other.judged_counts)),
        {name: stack_measures(m, other.judged[name]) for name, m in one.judged.items()},
        tuple(
            (np.concatenate((a[0], b[0])), np.concatenate((a[1], b[1])))
            for a, b in zip(one.requests, other.requests, strict=True)
        ),
    )


def stack_measures(one: Measure, other: Measure) -> Measure:
    """One variable over both."""
    weights = None
    if one.top_weights is not None and other.top_weights is not None:
        weights = np.concatenate((one.top_weights, other.top_weights))
    return Measure(
        one.name,
        np.concatenate((one.totals, other.totals)),
        np.concatenate((one.magnitudes, other.magnitudes)),
        np.concatenate((one.minimum, other.minimum)),
        np.concatenate((one.maximum, other.maximum)),
        np.concatenate((one.top, other.top)),
        np.concatenate((one.top_units, other.top_units)),
        weights,
        max(one.decimals, other.decimals),
    )
