# SPDX-License-Identifier: Apache-2.0
"""Queries by meaning: the categories of each query at every level, and how often each user asked about each of them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.errors import DataError
from reticent.querylogs.log import QueryLog
from reticent.querylogs.taxonomy import NONE, Taxonomy

MAX_LEVELS = 12
LEVEL_SHARE = 0.5
"""A level is used if at least this share of the classified queries reaches it (as in the source)."""

Counts = sparse.csr_array


@dataclass(frozen=True, eq=False)
class Classified:
    """For each query (by number) the numbers of its categories, as `paths` through the levels."""

    starts: NDArray[np.int64] = field(repr=False)
    found: NDArray[np.int32] = field(repr=False)
    paths: NDArray[np.int32] = field(repr=False)
    names: tuple[str, ...] = field(repr=False)

    @property
    def n_levels(self) -> int:
        """Levels of the taxonomy, from the top."""
        return int(self.paths.shape[1])

    def counts(self, users: NDArray[np.int32], queries: NDArray[np.int32], n_users: int, level: int) -> Counts:
        """How often each user's queries fall into each category of a level (0 is the top)."""
        per_query = np.diff(self.starts)
        repeated = per_query[queries]
        rows = np.repeat(users, repeated)
        offsets = np.arange(repeated.sum()) - np.repeat(np.cumsum(repeated) - repeated, repeated)
        at = self.paths[self.found[np.repeat(self.starts[queries], repeated) + offsets], level]
        kept = at != NONE
        ones = np.ones(int(kept.sum()), dtype=np.int32)
        matrix = sparse.coo_array((ones, (rows[kept], at[kept])), shape=(n_users, len(self.names)))
        return sparse.csr_array(matrix)

    def share_reaching(self, queries: NDArray[np.int32]) -> list[float]:
        """For each level, the share of classified rows with a category there."""
        deepest = np.zeros(len(self.starts) - 1, dtype=np.int64)
        depth = (self.paths != NONE).sum(axis=1)
        for query in range(len(deepest)):
            own = self.found[self.starts[query] : self.starts[query + 1]]
            deepest[query] = depth[own].max() if len(own) else 0
        reached = deepest[queries]
        classified = int((reached > 0).sum())
        if classified == 0:
            raise DataError("query log: no query leads to a category of the taxonomy; another taxonomy may fit better.")
        return [float((reached > level).sum()) / classified for level in range(self.n_levels)]

    def used_levels(self, queries: NDArray[np.int32]) -> int:
        """How many levels, from the top, enough of the queries reach."""
        shares = self.share_reaching(queries)
        used = 0
        while used < len(shares) and shares[used] >= LEVEL_SHARE:
            used += 1
        return max(1, used)


def classify(log: QueryLog, taxonomy: Taxonomy, *, most: int = 1, top: int = 0) -> Classified:
    """Categories of every different query: from the log's own column if it has one, else by the terms of its text.

    `top` leaves out the highest levels of a taxonomy that are too general (WordNet's first levels).
    """
    lists = _given(log, taxonomy) if log.categories is not None else [taxonomy.find(t, most=most) for t in log.texts]
    starts = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(own) for own in lists], out=starts[1:])
    found = np.array([category for own in lists for category in own], dtype=np.int32)
    paths = taxonomy.paths()[:, top : top + MAX_LEVELS]
    if paths.shape[1] == 0:
        raise DataError(f"query log: the taxonomy has {taxonomy.depth} levels, leaving out {top} of them leaves none.")
    return Classified(starts, found, paths, taxonomy.names)


def _given(log: QueryLog, taxonomy: Taxonomy) -> list[list[int]]:
    assert log.categories is not None
    keys = log.categories.texts
    unknown = sum(key not in taxonomy.ids for key in keys)
    if unknown:
        raise DataError(
            f"query log: {unknown} categories of the log are not in the taxonomy; give the taxonomy that the log was made with."
        )
    numbers = np.array([taxonomy.ids[key] for key in keys], dtype=np.int64)
    given = log.categories.codes >= 0
    pair = log.queries[given].astype(np.int64) * max(1, len(keys)) + log.categories.codes[given]
    found, counts = np.unique(pair, return_counts=True)
    lists: list[list[int]] = [[] for _ in log.texts]
    for at in np.argsort(counts, kind="stable").tolist():  # the most frequent category of a query is written last
        query, key = divmod(int(found[at]), len(keys))
        lists[query] = [int(numbers[key])]
    return lists
