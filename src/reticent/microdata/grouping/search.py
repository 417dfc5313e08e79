# SPDX-License-Identifier: Apache-2.0
"""The partition `best`: annealing chains from a start, then exact re-partition of neighbouring groups.

The result is a function of the records, the secret and the number of proposals. Chains and blocks have their own
random words, so threads only change who computes what; a time limit can end the search early and says so.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.spatial import cKDTree

from reticent.base import clock
from reticent.base.arrays import Floats, Ints
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.kernels.improve import anneal, group_state, within_squares
from reticent.kernels.mdav import mdav
from reticent.kernels.repartition import repartition_sweep
from reticent.microdata.grouping.blocks import median_blocks, rotated_group_blocks

T = TypeVar("T")

NEAR = 20
"""Near records per record: the moves that are proposed."""
CHAINS = 4
"""Independent chains on a file that is not cut into blocks; the best one counts."""
BLOCK = 2500
"""Records per block."""
LARGEST_WHOLE = 20_000
"""Files up to this size are searched as a whole."""
SWEEPS, FEW = 4, 5_000
"""Rounds of exact re-partition on a file of up to FEW records; a larger one gets a single round."""
SLICE = 400_000
"""Proposals between two looks at the clock."""
HEATS = (1.0, 5.0)
"""Heat at which chains start, in turn, in units of cost per record: skewed files have costly records that only the
hotter one moves, even ones are better served by the other."""
ROUNDS: tuple[tuple[float, float, float], ...] = ((1.0, 1e-3, 0.6), (0.1, 1e-3, 0.2), (0.05, 1e-3, 0.2))
"""Heat at the start (times the chain's own in the first round) and end of each round, and its share of the proposals."""


@dataclass(frozen=True)
class Search:
    """What a search may use: `proposals` in all, seconds (None = no limit), threads, the secret of this step."""

    secret: Secret
    proposals: int | None = None
    time_limit: float | None = None
    threads: int = 2
    progress: Progress = silent

    def budget(self, n_records: int) -> int:
        """Proposals in all: as asked, else enough for a small file to settle and 40 per record of a large one."""
        return self.proposals if self.proposals is not None else max(120_000_000, 40 * n_records)


@dataclass(frozen=True)
class Chain:
    """One chain of the search: the words of its stream, its proposals, when it must end, the heat it starts at."""

    words: tuple[int, int]
    proposals: int
    deadline: float
    heat: float = 1.0


def near_records(x: Floats, count: int, *, threads: int = 1) -> Ints:
    """The `count` nearest other records of each record (fewer in a small file)."""
    count = min(count, x.shape[0] - 1)
    found = np.atleast_2d(cKDTree(x).query(x, count + 1, workers=threads)[1]).astype(np.int64)
    rows = np.arange(x.shape[0])[:, None]
    # With equal records the record itself need not come first: it goes to the end, and the end is cut off.
    order = np.argsort(found == rows, axis=1, kind="stable")
    return np.ascontiguousarray(np.take_along_axis(found, order, axis=1)[:, :count])


def improve(
    x: Floats,
    near: Ints,
    labels: Ints,
    k: int,
    chain: Chain,
) -> tuple[Ints, float, bool]:
    """Anneal one partition; returns labels, cost and whether the proposals were used up."""
    labels = labels.copy()
    groups = group_state(x, labels, k)
    cost = within_squares(x, labels, groups.sizes.size)
    scale = cost / x.shape[0]
    if scale <= 0.0:
        return labels, cost, True
    state = np.array(chain.words, dtype=np.uint64) | np.uint64(1)
    best, best_cost = labels.copy(), cost
    for number, (start, end, share) in enumerate(ROUNDS):
        count = int(chain.proposals * share)
        first = start * chain.heat if number == 0 else start
        cooling = (end / first) ** (1.0 / max(count, 1))
        now = first * scale
        while count > 0:
            if clock.now() > chain.deadline:
                return best, best_cost, False
            part = min(SLICE, count)
            cost += anneal(x, near, k, groups, state, part, now, cooling)
            now *= cooling**part
            count -= part
            if cost < best_cost:
                best, best_cost = labels.copy(), cost
        # Every round starts from the best so far, with sums that carry no rounding of a million moves.
        labels, cost = best.copy(), within_squares(x, best, groups.sizes.size)
        groups = group_state(x, labels, k)
    return best, best_cost, True


def settle(x: Floats, near: Ints, labels: Ints, k: int, *, deadline: float) -> tuple[Ints, bool]:
    """Exact re-partitions of neighbouring groups until nothing changes; False when the time ran out."""
    labels = labels.copy()
    groups = group_state(x, labels, k)
    step = 64
    for _ in range(SWEEPS if x.shape[0] <= FEW else 1):
        change = 0.0
        for first in range(0, groups.sizes.size, step):
            if clock.now() > deadline:
                return labels, False
            change += repartition_sweep(x, near, k, groups, first, first + step)
        if change > -1e-9:
            break
    return labels, True


def _in_threads(jobs: list[Callable[[], T]], search: Search, what: str, span: tuple[float, float]) -> list[T]:
    """Run the jobs on the search's threads; results in the order of the jobs."""
    out: list[T] = []
    with ThreadPoolExecutor(max_workers=search.threads) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            for done, future in enumerate(futures):
                out.append(future.result())
                search.progress(span[0] + (span[1] - span[0]) * (done + 1) / len(jobs), what)
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return out


def search_whole(x: Floats, k: int, search: Search, start: Ints) -> tuple[Ints, bool]:
    """Best of CHAINS chains from one start (ties: the first), then re-partitioned exactly."""
    deadline = np.inf if search.time_limit is None else clock.now() + search.time_limit
    share = search.budget(x.shape[0]) // CHAINS
    near = near_records(x, NEAR, threads=search.threads)

    def chain(number: int) -> Callable[[], tuple[Ints, float, bool]]:
        words, heat = search.secret.words(f"chain {number}"), HEATS[number % len(HEATS)]
        return lambda: improve(x, near, start, k, Chain(words, share, deadline, heat))

    runs = _in_threads([chain(number) for number in range(CHAINS)], search, "improving groups", (0.0, 1.0))
    best = min(range(CHAINS), key=lambda number: runs[number][1])
    labels, settled = settle(x, near, runs[best][0], k, deadline=deadline)
    return labels, settled and all(finished for _, _, finished in runs)


def blocked_mdav(x: Floats, k: int, *, threads: int = 2, largest: int = BLOCK) -> Ints:
    """MDAV inside median blocks; O(n·B·d/k) instead of O(n²·d/k)."""
    blocks = median_blocks(x, max(largest, 4 * k))
    with ThreadPoolExecutor(max_workers=threads) as pool:
        parts = list(pool.map(lambda rows: mdav(np.ascontiguousarray(x[rows]), k), blocks))
    return _number_blocks(x.shape[0], blocks, parts)


def _number_blocks(n_records: int, blocks: list[Ints], parts: list[Ints]) -> Ints:
    """One numbering of the groups of all blocks."""
    labels = np.empty(n_records, np.int64)
    offset = 0
    for rows, part in zip(blocks, parts, strict=True):
        numbers, local = np.unique(part, return_inverse=True)
        labels[rows] = local + offset
        offset += numbers.size
    return labels


def search_blocks(
    x: Floats, k: int, search: Search, start: Ints | None = None, *, largest: int = BLOCK
) -> tuple[Ints, bool]:
    """Two passes over blocks: first median blocks, then blocks of whole groups whose borders lie elsewhere."""
    deadline = np.inf if search.time_limit is None else clock.now() + search.time_limit
    largest = max(largest, 8 * k)
    labels = blocked_mdav(x, k, threads=search.threads, largest=largest) if start is None else start
    whole = True
    for number, share in ((0, 0.6), (1, 0.4)):
        fresh = number == 0 and start is None
        blocks = median_blocks(x, largest) if fresh else rotated_group_blocks(x, labels, largest)
        per_record = search.budget(x.shape[0]) / x.shape[0] * share
        jobs = [
            _block_job(x, labels, rows, k, search.secret.words(f"pass {number} block {at}"), per_record, deadline)
            for at, rows in enumerate(blocks)
        ]
        runs = _in_threads(jobs, search, "improving blocks", (0.6 * number, 0.6 + 0.4 * number))
        labels = _number_blocks(x.shape[0], blocks, [run[0] for run in runs])
        whole = whole and all(run[2] for run in runs)
    return labels, whole


def _block_job(
    x: Floats, labels: Ints, rows: Ints, k: int, words: tuple[int, int], per_record: float, deadline: float
) -> Callable[[], tuple[Ints, float, bool]]:
    """The improvement of one block, to be run later."""

    def run() -> tuple[Ints, float, bool]:
        local = np.unique(labels[rows], return_inverse=True)[1].astype(np.int64)
        part = np.ascontiguousarray(x[rows])
        near = near_records(part, NEAR)
        return improve(part, near, local, k, Chain(words, int(per_record * rows.size), deadline))

    return run
