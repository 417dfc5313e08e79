# SPDX-License-Identifier: Apache-2.0
"""A query log protected: scrub, classify, guard, cluster, aggregate; then measured and recounted by other code."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes
from reticent.base.errors import DataError, NotProtectedError, ParameterError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret
from reticent.data.parameters import Parameters
from reticent.querylogs.aggregate import Centroids, aggregate
from reticent.querylogs.classify import classify
from reticent.querylogs.guard import RARE, guard_rare
from reticent.querylogs.log import QueryLog
from reticent.querylogs.measures import LogRisk, measure_risk, remaining_shares
from reticent.querylogs.partition import BLOCK, Clusters, partition, random_clusters
from reticent.querylogs.scrub import Scrubber
from reticent.querylogs.taxonomy import Taxonomy

TIMES = {"drop": 0, "month": 7, "day": 10}
"""How much of a time such as 2006-03-07 07:04:11 is kept: nothing, the month, the day."""

OUTPUTS = ("one", "copies")
_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")
LEAST_LEVELS = REPORTED_LEVELS = 3


@dataclass(frozen=True)
class LogOptions(Parameters):
    """How a log is protected."""

    called: ClassVar[str] = "query log"
    k: int = field(default=3, metadata={"min": 2, "help": "users who become one pseudo-user, at least"})
    guard: int = field(
        default=3, metadata={"min": 1, "help": "a query made by fewer users is rare; 1 keeps everything"}
    )
    rare: str = field(
        default="drop", metadata={"choices": RARE, "help": "rare queries are dropped or become their category"}
    )
    levels: int | None = field(
        default=None,
        metadata={
            "min": 1,
            "help": "levels of the taxonomy; absent: those that half of the queries reach, at least three",
        },
    )
    categories: int = field(default=1, metadata={"min": 1, "help": "categories of a term that count, the first ones"})
    top: int = field(default=0, metadata={"min": 0, "help": "highest levels of the taxonomy that are left out"})
    time: str = field(default="drop", metadata={"choices": tuple(TIMES), "help": "how much of the time is published"})
    output: str = field(
        default="one", metadata={"choices": OUTPUTS, "help": "one pseudo-user per cluster, or one per user"}
    )
    block: int = field(default=BLOCK, metadata={"min": 100, "help": "users compared with one another at once"})


@dataclass(frozen=True, eq=False)
class MaskedLog:
    """A protected log that may be published: pseudo-users, queries and (if kept) coarse times."""

    users: NDArray[np.int64] = field(repr=False)
    queries: tuple[str, ...] = field(repr=False)
    times: tuple[str, ...] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<MaskedLog {len(self.queries)} rows, {len(np.unique(self.users))} pseudo-users>"

    def columns(self) -> dict[str, Sequence[Any]]:
        """The columns to write."""
        found: dict[str, Sequence[Any]] = {"user": self.users.tolist(), "query": list(self.queries)}
        return found if self.times is None else {**found, "time": list(self.times)}


@dataclass(frozen=True, eq=False)
class LogResult:
    """A protected log with what was done and what an attacker finds. Confidential; `masked` may leave."""

    masked: MaskedLog
    options: LogOptions
    rows: int
    users: int
    users_left_out: int
    clusters: int
    cluster_sizes: tuple[int, int]
    scrubbed: dict[str, int]
    dropped: int
    generalised: int
    levels_used: int
    level_shares: tuple[float, ...]
    remaining: tuple[float, ...]
    remaining_random: tuple[float, ...]
    risk: LogRisk
    risk_without_guard: int

    def summary(self) -> dict[str, Any]:
        """Everything as plain data (confidential)."""
        return {
            "rows": self.rows,
            "users": self.users,
            "users without queries left": self.users_left_out,
            "clusters": self.clusters,
            "users per cluster": list(self.cluster_sizes),
            "scrubbed": self.scrubbed,
            "rare rows dropped": self.dropped,
            "rare rows generalised": self.generalised,
            "rows published": len(self.masked.queries),
            "share of rows kept for clustering": 1 - self.dropped / self.rows,
            "levels used": self.levels_used,
            "share of queries that reach each level": list(self.level_shares),
            "remaining at each level": list(self.remaining),
            "remaining with random clusters": list(self.remaining_random),
            "worst case": 1 / self.options.k,
            "users with a query that only they made": self.risk.own_queries,
            "the same without the guard": self.risk_without_guard,
            "linked before": self.risk.linked_before,
            "linked to its own cluster": self.risk.linked_cluster,
            "linked to the person": self.risk.linked_person,
            "users tried": self.risk.tried,
        }


def protect_log(
    log: QueryLog, taxonomy: Taxonomy, *, options: LogOptions, secret: Secret,
    scrubber: Scrubber | None = None, progress: Progress = silent,
) -> LogResult:  # fmt: skip
    """Protect a log; the promises (k users per cluster, no rare query) are recounted on the result."""
    progress(0.0, "scrubbing")
    scrubbed, counts = _scrubbed(log, scrubber)
    progress(0.1, "classifying")
    whole = classify(scrubbed, taxonomy, most=options.categories, top=options.top)
    guarded = guard_rare(scrubbed, whole, least=options.guard, rare=options.rare)
    if guarded.log.n_rows == 0:
        raise DataError("query log: every query is rare, so nothing is left to publish; lower guard or generalise.")
    kept, users = _with_users(guarded.log)
    classified = classify(kept, taxonomy, most=options.categories, top=options.top)
    shares = classified.share_reaching(kept.queries)
    # levels that few queries reach decide little, but the first three are cheap and never hurt
    used = min(options.levels or max(classified.used_levels(kept.queries), LEAST_LEVELS), classified.n_levels)
    levels = [classified.counts(kept.users, kept.queries, kept.n_users, level) for level in range(used)]
    clusters = partition(levels, options.k, block=options.block, progress=part(progress, 0.2, 0.8))
    step = _stream_name(options, kept)
    centroids = aggregate(kept, clusters, secret.stream(step + "aggregate"))
    _recount(kept, clusters, centroids, options)
    progress(0.8, "measuring")
    at_random = random_clusters(kept.n_users, options.k, secret.stream("querylog random partition"))
    shown = replace(classified, paths=classified.paths[:, :REPORTED_LEVELS])
    by_chance = aggregate(kept, at_random, secret.stream("querylog random aggregate"))
    risk = measure_risk(scrubbed, kept, clusters, centroids, secret.stream("querylog attacker"))
    return LogResult(
        masked=_masked(kept, clusters, centroids, options, secret.stream(step + "order")), options=options,
        rows=log.n_rows, users=log.n_users, users_left_out=log.n_users - len(users), clusters=clusters.count,
        cluster_sizes=(int(clusters.sizes().min()), int(clusters.sizes().max())), scrubbed=dict(counts),
        dropped=guarded.dropped, generalised=guarded.generalised, levels_used=used, level_shares=tuple(shares),
        remaining=tuple(remaining_shares(kept, shown, clusters, centroids)),
        remaining_random=tuple(remaining_shares(kept, shown, at_random, by_chance)), risk=risk,
        risk_without_guard=_alone(scrubbed),
    )  # fmt: skip


def _stream_name(options: LogOptions, log: QueryLog) -> str:
    """Draws are keyed by every parameter and by the log: releases that differ in either share none."""
    digest = hashlib.blake2b(repr(log.texts).encode("utf-8", "surrogatepass"), digest_size=16)
    for column in log.pairs():
        digest.update(np.ascontiguousarray(column, dtype=np.int64).tobytes())
    return f"querylog {options!r} {digest.hexdigest()} "


def _scrubbed(log: QueryLog, scrubber: Scrubber | None) -> tuple[QueryLog, Counter[str]]:
    if scrubber is None:
        return log, Counter()
    texts, found = scrubber.scrub(log.texts)
    return log.with_texts(texts), found


def _with_users(log: QueryLog) -> tuple[QueryLog, Codes]:
    """The log with numbers for the users who have queries left, and who they were."""
    present, codes = np.unique(log.users, return_inverse=True)
    return replace(log, users=codes.astype(np.int32), n_users=len(present)), present


def _alone(log: QueryLog) -> int:
    """Users with a query that nobody else made."""
    users, queries, _ = log.pairs()
    return len(np.unique(users[log.query_users()[queries] == 1]))


def _recount(log: QueryLog, clusters: Clusters, centroids: Centroids, options: LogOptions) -> None:
    """The promises, counted again on what will be published."""
    if clusters.sizes().min() < options.k:
        raise NotProtectedError(f"query log: a cluster has fewer than {options.k} users; nothing was written.")
    makers: dict[int, set[int]] = {}
    shown = set(centroids.queries.tolist())
    for user, query in zip(log.users.tolist(), log.queries.tolist(), strict=True):
        if query in shown:
            known = makers.setdefault(query, set())
            if len(known) < options.guard:
                known.add(user)
    rare = sum(len(makers[query]) < options.guard for query in shown)
    if rare:
        raise NotProtectedError(f"query log: {rare} published queries are rare; nothing was written.")


def _masked(
    log: QueryLog, clusters: Clusters, centroids: Centroids, options: LogOptions, rng: np.random.Generator
) -> MaskedLog:
    """Rows of pseudo-users in random order; with copies, every user of a cluster is a pseudo-user with the same rows."""
    entry = np.repeat(np.arange(len(centroids.queries)), centroids.times)
    cluster, query = centroids.clusters[entry], centroids.queries[entry]
    times = _times(log, centroids, options, rng)
    if options.output == "copies":
        sizes = clusters.sizes()
        firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        copies = sizes[cluster]
        rows = np.repeat(np.arange(len(cluster)), copies)
        number = np.arange(len(rows)) - np.repeat(np.cumsum(copies) - copies, copies)
        owner = firsts[cluster[rows]] + number
        count = int(sizes.sum())
    else:
        rows, owner, count = np.arange(len(cluster)), cluster.astype(np.int64), clusters.count
    owner = rng.permutation(count)[owner]
    order = np.lexsort((rng.random(len(rows)), owner))
    shown = None if times is None else tuple(times[at] for at in rows[order].tolist())
    return MaskedLog(owner[order] + 1, tuple(log.texts[q] for q in query[rows[order]].tolist()), shown)


def _times(log: QueryLog, centroids: Centroids, options: LogOptions, rng: np.random.Generator) -> list[str] | None:
    """A time for each published row: one at which its giver asked the query, cut to month or day.

    It is left blank where fewer than `guard` users asked the query in that month or on that day.
    """
    if options.time == "drop":
        return None
    if log.times is None:
        raise ParameterError("query log: the log has no time column, so no time can be published; use time = 'drop'.")
    if not all(_DATE.match(text) for text in log.times.texts):
        raise DataError("query log: times must begin with a date such as 2006-03-07 to be cut to month or day.")
    cut = np.array([text[: TIMES[options.time]] for text in log.times.texts] or [""], dtype=object)
    periods, codes = np.unique(cut.astype(str), return_inverse=True)
    period = np.where(log.times.codes >= 0, codes[log.times.codes], -1)
    spread = len(periods) + 1
    event = log.queries.astype(np.int64) * spread + period + 1
    pairs = np.unique(event * log.n_users + log.users)
    events, makers = np.unique(pairs // log.n_users, return_counts=True)
    common = makers[np.searchsorted(events, event)] >= options.guard
    order = np.lexsort((rng.random(log.n_rows), log.queries, log.users))
    key = log.users[order].astype(np.int64) * len(log.texts) + log.queries[order]
    starts = np.searchsorted(key, centroids.givers.astype(np.int64) * len(log.texts) + centroids.queries)
    found: list[str] = []
    for start, count in zip(starts.tolist(), centroids.times.tolist(), strict=True):
        rows = order[start : start + count]
        found += [str(periods[period[row]]) if common[row] and period[row] >= 0 else "" for row in rows.tolist()]
    return found
