# SPDX-License-Identifier: Apache-2.0
"""One door to all partitions of numeric records: standardise, group, prove that every size is k to 2k − 1.

Records are first brought into the order of their values, so that the order in a file matters only between records
that are equal in everything that is grouped.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.checks import check_between, check_choice, check_integer
from reticent.base.errors import DataError, NotProtectedError, ParameterError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret, as_secret
from reticent.kernels.improve import within_squares
from reticent.kernels.mdav import cbfs, mdav, vmdav
from reticent.microdata.grouping import axes
from reticent.microdata.grouping.bound import mutual_bound
from reticent.microdata.grouping.search import (
    BLOCK,
    LARGEST_WHOLE,
    Search,
    Steps,
    blocked_mdav,
    search_blocks,
    search_whole,
    take_turns,
)
from reticent.microdata.grouping.ward import modified_ward
from reticent.microdata.patience import Patience

PARTITIONS = (
    "best", "mdav", "v-mdav", "cbfs", "ward", "first-component", "z-scores", "variable", "individual-ranking", "exact",
    "genetic",
)  # fmt: skip
"""Names of the partitions. `exact` and `genetic` take one variable; `individual-ranking` groups each one by itself."""
STARTS = ("mdav", "v-mdav", "cbfs", "ward", "first-component", "z-scores")
LARGEST_BOUND = 50_000
"""Files above this size get no lower bound: it needs the nearest records of every record."""


@dataclass(frozen=True)
class Partitioning:
    """How to group: the partition's name, k, and the options of the partitions that have some."""

    k: int = 3
    name: str = "mdav"
    sort_by: int = 0
    gain: float = 0.2
    start: str = "mdav"
    random_sizes: bool = False
    proposals: int | None = None
    time_limit: float | None = None
    steps: int | None = None
    threads: int = 2
    block_size: int | None = None

    def __post_init__(self) -> None:
        owner = f"partition {self.name!r}"
        check_choice(self.name, PARTITIONS, name="partition", owner="microaggregation")
        check_integer(self.k, minimum=1, name="k", owner=owner)
        check_choice(self.start, STARTS, name="start", owner=owner)
        check_between(self.gain, 0.0, float("inf"), name="gain", owner=owner)
        check_integer(self.threads, minimum=1, name="threads", owner=owner)
        if self.proposals is not None:
            check_integer(self.proposals, minimum=0, name="proposals", owner=owner)
        if self.time_limit is not None:
            check_between(self.time_limit, 0.0, float("inf"), name="time_limit", owner=owner)
        if self.steps is not None:
            check_integer(self.steps, minimum=0, name="steps", owner=owner)
        if self.block_size is not None:
            check_integer(self.block_size, minimum=4 * self.k, name="block_size", owner=owner)
            check_choice(self.name, ("mdav", "best"), name="partition", owner="block_size")
        if self.random_sizes and self.name not in ("first-component", "z-scores", "variable"):
            raise ParameterError(
                "random_sizes needs a partition along one axis (first-component, z-scores, variable).",
                option="random_sizes",
            ).at(owner)


@dataclass(frozen=True)
class Grouping:
    """A partition: `labels` 0 … groups − 1, the within and total sums of squares on standardised numbers.

    `lower_bound` is a proven bound of `within` over all k-partitions, or None; `finished` is False when a limit of time or
    steps ended the search before its proposals were used up.
    """

    labels: Ints = field(repr=False)
    k: int
    method: str
    within: float
    total: float
    lower_bound: float | None = None
    finished: bool = True

    @property
    def loss(self) -> float:
        """L = SSE / SST, between 0 (nothing lost) and 1."""
        return self.within / self.total if self.total > 0 else 0.0

    @property
    def sizes(self) -> Ints:
        """Number of records in each group."""
        return np.bincount(self.labels).astype(np.int64)


def standardise(x: Floats, names: tuple[str, ...] = ()) -> Floats:
    """Mean 0 and variance 1 (divisor n) for each variable; a constant variable is refused by name."""
    spread = x.std(axis=0)
    flat = np.flatnonzero((x.max(axis=0) == x.min(axis=0)) | ~(spread > 0))
    if flat.size:
        which = names[flat[0]] if names else f"number {flat[0] + 1}"
        raise DataError(
            f"microaggregation: variable {which!r} is constant, so it cannot be standardised. Leave it out.",
            variables=tuple(names[i] for i in flat) if names else (),
        )
    return np.asarray((x - x.mean(axis=0)) / spread)


def recheck_sizes(labels: Ints, k: int) -> int:
    """How many groups have fewer than k or more than 2k − 1 records (0: the promise holds); k = 1 allows only 1."""
    counts = np.unique(labels, return_counts=True)[1]
    return int(np.sum((counts < k) | (counts > max(2 * k - 1, 1))))


def partition(
    x: Floats,
    how: Partitioning,
    *,
    secret: Secret | int = 0,
    progress: Progress = silent,
    names: tuple[str, ...] = (),
) -> Grouping:
    """Group complete numeric records, shape (n, d), as `how` says.

    Raises DataError for fewer than k records, missing values or a constant variable.

    >>> import numpy as np
    >>> x = np.array([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0], [14.0]])
    >>> partition(x, Partitioning(k=3, name="exact")).labels.tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    searched = partition_in_steps(x, how, secret=secret, names=names)
    return take_turns([searched], Patience(how.time_limit, how.steps), progress)[0]


def partition_in_steps(
    x: Floats, how: Partitioning, *, secret: Secret | int = 0, names: tuple[str, ...] = ()
) -> Steps[Grouping]:
    """The same, one step of the search after the other; partitions that search nothing have none."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    if x.ndim != 2:
        raise ParameterError("microaggregation: the numbers must have the shape (records, variables).")
    if not np.isfinite(x).all():
        raise DataError(
            "microaggregation: numbers must be present and finite; use the mixed grouping for missing ones."
        )
    _check_count(x.shape[0], how.k)
    if how.name in ("exact", "genetic") and x.shape[1] != 1:
        raise ParameterError(f"partition {how.name!r} takes one variable, got {x.shape[1]}. Use mdav or best.")
    if how.name == "individual-ranking":
        raise ParameterError(
            "partition 'individual-ranking' groups each variable by itself: call it once per variable."
        )
    order = np.lexsort(x.T[::-1])
    z = standardise(np.ascontiguousarray(x[order]), names)
    secret = secret if isinstance(secret, Secret) else as_secret(secret)
    labels = np.arange(z.shape[0]) if how.k == 1 else None
    finished, bound = True, None
    if labels is None and how.name == "best":
        labels, finished, bound = yield from _best(z, how, secret)
    elif labels is None:
        labels = _simple(z, how.name, how, secret)
    labels = _renumber(split_large(z, labels, how.k))
    if recheck_sizes(labels, how.k):
        raise NotProtectedError("microaggregation: a group left the range k to 2k − 1; nothing was made of it.")
    within = within_squares(z, labels, int(labels.max()) + 1)
    out = np.empty_like(labels)
    out[order] = labels
    return Grouping(out, how.k, how.name, float(within), float(np.sum(z * z)), bound, finished)


def _check_count(n_records: int, k: int) -> None:
    if n_records < k:
        raise DataError(
            f"microaggregation: {n_records} records cannot make a group of k = {k}. Take a smaller k or a wider stratum."
        )


def _simple(z: Floats, name: str, how: Partitioning, secret: Secret) -> Ints:
    """Labels of every partition but `best`; a few groups may be too large, the caller splits those."""
    k = how.k
    if name in ("first-component", "z-scores", "variable"):
        scores = _axis(z, name, how.sort_by)
        return axes.random_runs(scores, k, secret.stream("sizes")) if how.random_sizes else axes.fixed_runs(scores, k)
    makers: dict[str, Callable[[], Ints]] = {
        "mdav": lambda: mdav(z, k) if how.block_size is None else blocked_mdav(z, k, threads=how.threads, largest=how.block_size),
        "v-mdav": lambda: vmdav(z, k, how.gain),
        "cbfs": lambda: cbfs(z, k),
        "ward": lambda: modified_ward(z, k, z[:, 0] if z.shape[1] == 1 else None),
        "exact": lambda: axes.exact_runs(z[:, 0], k)[0],
        "genetic": lambda: axes.genetic_runs(z[:, 0], k, secret.words("genetic")),
    }  # fmt: skip
    return makers[name]()


def _axis(z: Floats, name: str, sort_by: int) -> Floats:
    if name == "first-component":
        return axes.first_component(z)
    if name == "z-scores":
        return np.asarray(z.sum(axis=1))
    check_integer(sort_by, minimum=0, maximum=z.shape[1] - 1, name="sort_by", owner="partition 'variable'")
    return np.asarray(z[:, sort_by])


def _best(z: Floats, how: Partitioning, secret: Secret) -> Steps[tuple[Ints, bool, float | None]]:
    """The search with its start; one variable is solved exactly."""
    n, k = z.shape[0], how.k
    if z.shape[1] == 1:
        labels, cost = axes.exact_runs(z[:, 0], k)
        return labels, True, cost
    search = Search(secret, how.proposals, how.threads)
    whole = n <= LARGEST_WHOLE and how.block_size is None
    start = None
    if whole or how.start != "mdav":
        start = _renumber(split_large(z, _simple(z, how.start, how, secret), k))
    if whole and start is not None:
        labels, finished = yield from search_whole(z, k, search, start)
    else:
        labels, finished = yield from search_blocks(z, k, search, start, largest=how.block_size or BLOCK)
    cost = float(within_squares(z, labels, int(labels.max()) + 1))
    return labels, finished, mutual_bound(z, k, cost) if n <= LARGEST_BOUND else None


def split_large(z: Floats, labels: Ints, k: int) -> Ints:
    """Cut every group of 2k or more by MDAV: an optimal group is never that large."""
    counts = np.bincount(labels)
    for group in np.flatnonzero(counts >= 2 * k):
        rows = np.flatnonzero(labels == group)
        parts = mdav(np.ascontiguousarray(z[rows]), k)
        labels[rows[parts > 0]] = labels.max() + parts[parts > 0]
    return labels


def _renumber(labels: Ints) -> Ints:
    """Group numbers 0 … groups − 1 in order of first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    return np.asarray(rank[inverse], dtype=np.int64)
