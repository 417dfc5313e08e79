# SPDX-License-Identifier: Apache-2.0
"""Weights that were changed by how rare a record is (`massc`): the attacker counts the true keys and expects that change."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reticent.data.microdata import Microdata
from reticent.microdata.risk.linkage_attackers import Column

MOST = 20
"""Key combinations that occur more often are taken together."""
LEAST_CONTRAST = 0.02
"""Changes that differ less between rare and frequent combinations reveal nothing."""


def expected_weights(original: Microdata, columns: Sequence[Column], weight: int) -> list[Column]:
    """The columns with each true weight times the change that records as rare have; none if rarity reveals nothing of it."""
    column, keys = columns[weight], original.schema.keys
    if not keys or not original.n_records:
        return []
    rarity = np.minimum(original.sample_counts(keys), MOST)
    here = (column.own >= 0) & ~np.isnan(column.shown)
    here[here] &= column.true[column.own[here]] > 0
    ratio = column.shown[here] / column.true[column.own[here]]
    change = np.ones(MOST + 1)
    for count in np.unique(rarity[column.own[here]]).tolist():
        change[count:] = np.median(ratio[rarity[column.own[here]] == count])
    if change[1:].max() - change[1:].min() < LEAST_CONTRAST:
        return []
    return [*columns[:weight], replace(column, true=column.true * change[rarity]), *columns[weight + 1 :]]
