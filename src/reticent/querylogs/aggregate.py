# SPDX-License-Identifier: Apache-2.0
"""The centroid of a cluster: a quota of each user's queries, the most repeated (then the most common) first.

User i of a cluster may give |Q_i| / (users of the cluster) queries. Each of the user's queries is taken (repetitions ×
|Q_i| / Σ|Q|) times, the fraction by chance; where that does not reach the quota, it is filled from what is left. So the
centroid has as many queries as its users have on average.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes
from reticent.querylogs.log import QueryLog
from reticent.querylogs.partition import Clusters


@dataclass(frozen=True, eq=False)
class Centroids:
    """How often each query is in each cluster's centroid, and from which user's queries it was taken."""

    clusters: Codes = field(repr=False)
    queries: Codes = field(repr=False)
    times: NDArray[np.int64] = field(repr=False)
    givers: Codes = field(repr=False)

    @property
    def n_rows(self) -> int:
        """Queries in all centroids together."""
        return int(self.times.sum())


def aggregate(log: QueryLog, clusters: Clusters, rng: np.random.Generator) -> Centroids:
    """The centroids of all clusters; draws are in order of user and query, so the rows' order does not matter."""
    pairs = log.pairs()
    luck = rng.random(len(pairs[0]))
    makers = np.bincount(pairs[1], minlength=len(log.texts))
    order = np.lexsort((pairs[1], -makers[pairs[1]], -pairs[2], pairs[0]))  # of equals, what most users ask
    users, queries, repetitions, chance = pairs[0][order], pairs[1][order], pairs[2][order], luck[order]
    own = np.bincount(log.users, minlength=log.n_users).astype(np.float64)
    total = np.bincount(clusters.of, weights=own, minlength=clusters.count)
    quota = np.ceil(own / clusters.sizes()[clusters.of] - 1e-9).astype(np.int64)
    want = np.minimum(_with_chance((own / total[clusters.of])[users] * repetitions, chance), repetitions)
    taken = np.where(_before(users, want) < quota[users], want, 0)  # the query that reaches the quota is taken whole
    missing = quota - np.bincount(users, weights=taken, minlength=log.n_users).astype(np.int64)
    left = repetitions - taken
    taken += np.clip(missing[users] - _before(users, left), 0, left)
    kept = taken > 0
    return Centroids(clusters.of[users[kept]], queries[kept], taken[kept], users[kept])


def _with_chance(amount: NDArray[np.float64], luck: NDArray[np.float64]) -> NDArray[np.int64]:
    """The whole part, and one more with the probability of the rest: 1.2 is 1, and 2 with probability 0.2."""
    whole = np.floor(amount + 1e-12)
    return (whole + (luck < amount - whole)).astype(np.int64)


def _before(users: Codes, amounts: NDArray[np.int64]) -> NDArray[np.int64]:
    """What the same user's entries before each one add up to (`users` is sorted)."""
    running = np.cumsum(amounts)
    starts = np.searchsorted(users, users, side="left")
    found: NDArray[np.int64] = running - amounts - np.where(starts > 0, running[starts - 1], 0)
    return found
