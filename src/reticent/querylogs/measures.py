# SPDX-License-Identifier: Apache-2.0
"""Utility and risk of a protected log, measured on what is published, against the log it was made of."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from reticent.querylogs.aggregate import Centroids
from reticent.querylogs.classify import Classified, Counts
from reticent.querylogs.log import QueryLog
from reticent.querylogs.partition import Clusters

SAMPLE = 1000
"""Users whom the attacker tries to find: all of them, or this many drawn from a larger log."""


def remaining_shares(log: QueryLog, classified: Classified, clusters: Clusters, centroids: Centroids) -> list[float]:
    """SRP at each level: the mean over users of Σ over categories min(own, centroid) / own (users without any left out)."""
    published = np.repeat(centroids.queries, centroids.times), np.repeat(centroids.clusters, centroids.times)
    found = []
    for level in range(classified.n_levels):
        own = classified.counts(log.users, log.queries, log.n_users, level)
        shown = classified.counts(published[1], published[0], clusters.count, level)
        asked = np.asarray(own.sum(axis=1)).ravel()
        kept = np.asarray(_smaller(own, shown[clusters.of]).sum(axis=1)).ravel()
        with_any = asked > 0
        found.append(float(np.mean(kept[with_any] / asked[with_any])) if with_any.any() else float("nan"))
    return found


def _smaller(first: Counts, second: Counts) -> Counts:
    return sparse.csr_array(first.minimum(second))


@dataclass(frozen=True)
class LogRisk:
    """What an attacker finds. Linkage: someone who knows half of a user's queries looks for the user's pseudo-user.

    `own_queries`: users whose cluster shows a query that only they made. `linked_before`: against the log with numbers
    for names. `linked_cluster`: to the right cluster now; `linked_person`: divided by its users.
    """

    own_queries: int
    linked_before: float
    linked_cluster: float
    linked_person: float
    tried: int


def measure_risk(
    original: QueryLog, log: QueryLog, clusters: Clusters, centroids: Centroids, rng: np.random.Generator
) -> LogRisk:
    """Attack the published centroids with half of what each user asked (of a sample of users)."""
    who = np.sort(rng.permutation(log.n_users)[:SAMPLE])
    known, whole = _known_half(log, rng)
    shown = _matrix(centroids.clusters, centroids.queries, clusters.count, len(log.texts))
    sizes = clusters.sizes()
    right = _linked(known[who], shown, clusters.of[who])
    before = _linked(known[who], whole, who)
    return LogRisk(
        _own_queries(original, log, clusters, centroids), float(before.mean()), float(right.mean()),
        float((right / sizes[clusters.of[who]]).mean()), len(who),
    )  # fmt: skip


def _known_half(log: QueryLog, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """Half of each user's different queries, which the attacker knows, and all of them."""
    users, queries, _ = log.pairs()
    known = rng.random(len(users)) < 0.5
    shape = (log.n_users, len(log.texts))
    return _matrix(users[known], queries[known], *shape), _matrix(users, queries, *shape)


def _matrix(rows: np.ndarray, columns: np.ndarray, n_rows: int, n_columns: int) -> Counts:
    ones = np.ones(len(rows), dtype=np.float64)
    matrix = sparse.csr_array(sparse.coo_array((ones, (rows, columns)), shape=(n_rows, n_columns)))
    matrix.data[:] = 1.0
    return matrix


def _linked(known: Counts, candidates: Counts, truth: np.ndarray) -> np.ndarray:
    """For each user the chance that the candidate with the most shared (rare ones count more) is the right one."""
    makers = np.asarray(candidates.sum(axis=0)).ravel()
    weights = np.log1p(candidates.shape[0] / np.maximum(makers, 1.0))
    scores = sparse.csr_array(known.multiply(weights[np.newaxis, :])) @ candidates.T
    scores = sparse.csr_array(scores)
    found = np.zeros(known.shape[0])
    for user in range(known.shape[0]):
        own = scores.data[scores.indptr[user] : scores.indptr[user + 1]]
        where = scores.indices[scores.indptr[user] : scores.indptr[user + 1]]
        if len(own):
            best = where[own >= own.max() - 1e-9]
            found[user] = float(truth[user] in best) / len(best)
    return found


def _own_queries(original: QueryLog, log: QueryLog, clusters: Clusters, centroids: Centroids) -> int:
    """Users in whose centroid a query stands that nobody else made in the original log."""
    makers = dict(zip(original.texts, original.query_users().tolist(), strict=True))
    alone = np.array([makers.get(text, len(makers)) == 1 for text in log.texts], dtype=bool)
    return len(np.unique(centroids.givers[alone[centroids.queries]]))
