# SPDX-License-Identifier: Apache-2.0
"""Groups must hold k respondents, not k rows: where one respondent has several records, groups are joined."""

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError
from reticent.microdata.grouping.aggregate import group_means


def entity_counts(labels: Ints, entity: Ints) -> Ints:
    """Distinct respondents in each group."""
    pairs = np.unique(np.stack((labels, entity), axis=1), axis=0)
    return np.bincount(pairs[:, 0], minlength=int(labels.max()) + 1).astype(np.int64)


def join_few_entities(values: Floats, labels: Ints, entity: Ints, k: int) -> Ints:
    """Join each group of fewer than k respondents to the nearest other one, fewest respondents first.

    Sizes can then pass 2k − 1 records; the number of respondents is what is promised.
    """
    if np.unique(entity).size < k:
        raise DataError(
            f"microaggregate: a stratum has fewer than k = {k} respondents (though enough records). Use fewer strata."
        )
    spread = np.nanstd(values, axis=0)
    scaled = np.nan_to_num((values - np.nanmean(values, axis=0)) / np.where(spread > 0, spread, 1.0))
    labels = labels.copy()
    while True:
        counts = entity_counts(labels, entity)
        if counts.min() >= k:
            return labels
        group = int(np.argmin(counts))
        means = np.stack([group_means(column, labels) for column in scaled.T], axis=1)
        distance = np.sum((means - means[group]) ** 2, axis=1)
        distance[group] = np.inf
        labels[labels == group] = int(np.argmin(distance))
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
