# SPDX-License-Identifier: Apache-2.0
"""The rare-query guard: what fewer than t users asked is dropped, or replaced by the category that enough of them share.

Clusters of k users make *who* asked uncertain; they do not hide *what* was asked. A query that only one user made names
that user to everybody who knows it, so without this guard k-anonymity of users protects no content.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.querylogs.classify import Classified
from reticent.querylogs.log import QueryLog
from reticent.querylogs.taxonomy import NONE

RARE = ("drop", "generalise")


@dataclass(frozen=True, eq=False)
class Guarded:
    """The log after the guard: which rows stayed, which were replaced by a category, which were dropped."""

    log: QueryLog
    rows: NDArray[np.bool_]
    generalised: int
    dropped: int


def guard_rare(log: QueryLog, classified: Classified, *, least: int, rare: str) -> Guarded:
    """Drop or generalise the rows whose query was made by fewer than `least` users."""
    scarce = log.query_users() < least
    rows = scarce[log.queries]
    if least <= 1 or not rows.any():
        return Guarded(log, np.ones(log.n_rows, dtype=bool), 0, 0)
    texts, queries = list(log.texts), log.queries.copy()
    replaced = np.zeros(log.n_rows, dtype=bool)
    if rare == "generalise":
        replaced, queries = _generalised(log, classified, rows, least, texts)
    kept = ~rows | replaced
    found = replace(log, queries=queries, texts=tuple(texts)).kept(kept)
    return Guarded(found.with_texts(found.texts), kept, int(replaced.sum()), int((~kept).sum()))


def _generalised(
    log: QueryLog, classified: Classified, rows: NDArray[np.bool_], least: int, texts: list[str]
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Replace rare queries, from the deepest level up, by categories that at least `least` users share by then."""
    queries, replaced = log.queries.copy(), np.zeros(log.n_rows, dtype=bool)
    first = np.full(len(log.texts), NONE, dtype=np.int64)
    has = np.diff(classified.starts) > 0
    first[has] = classified.found[classified.starts[:-1][has]]
    category = first[log.queries]
    for level in range(classified.n_levels - 1, -1, -1):
        waiting = rows & ~replaced & (category != NONE)
        at = np.full(log.n_rows, NONE, dtype=np.int64)
        at[waiting] = classified.paths[category[waiting], level]
        open_rows = np.flatnonzero(at != NONE)
        if not len(open_rows):
            continue
        pairs = np.unique(at[open_rows] * log.n_users + log.users[open_rows])
        makers = np.bincount(pairs // log.n_users, minlength=len(classified.names))
        enough = open_rows[makers[at[open_rows]] >= least]
        for number in np.unique(at[enough]).tolist():
            code = len(texts)
            texts.append(f"<category: {classified.names[number]}>")
            queries[enough[at[enough] == number]] = code
        replaced[enough] = True
    return replaced, queries
