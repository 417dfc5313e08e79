# SPDX-License-Identifier: Apache-2.0
"""The partition `best`: annealing chains from a start, then exact re-partition of neighbouring groups.

The result is a function of the records, the secret and the number of proposals. Chains and blocks have their own
random words, so threads only change who computes what. A search is a row of steps, each the same whatever the machine: one
that was cut after some of them says after how many, and is repeated by that number.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.spatial import cKDTree

from reticent.base.arrays import Floats, Ints
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.kernels.improve import anneal, group_state, within_squares
from reticent.kernels.mdav import mdav
from reticent.kernels.repartition import repartition_sweep
from reticent.microdata.grouping.blocks import median_blocks, rotated_group_blocks
from reticent.microdata.patience import Patience

T = TypeVar("T")
Steps = Generator[float, bool, T]
"""A search: each yield is before a step, with the share that is done; it is sent whether it must end, and gives what it has."""

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
"""Proposals of a chain in one step."""
WAVE = 16
"""Blocks that are improved side by side: a fixed number, so that steps do not depend on the threads."""
TOGETHER = 64
"""Groups that are re-partitioned in one step."""
HEATS = (1.0, 5.0)
"""Heat at which chains start, in turn, in units of cost per record: skewed files have costly records that only the
hotter one moves, even ones are better served by the other."""
ROUNDS: tuple[tuple[float, float, float], ...] = ((1.0, 1e-3, 0.6), (0.1, 1e-3, 0.2), (0.05, 1e-3, 0.2))
"""Heat at the start (times the chain's own in the first round) and end of each round, and its share of the proposals."""


@dataclass(frozen=True)
class Search:
    """What a search may use: `proposals` in all, threads, the secret of this step."""

    secret: Secret
    proposals: int | None = None
    threads: int = 2

    def budget(self, n_records: int) -> int:
        """Proposals in all: as asked, else enough for a small file to settle and 40 per record of a large one."""
        return self.proposals if self.proposals is not None else max(120_000_000, 40 * n_records)


@dataclass(frozen=True)
class Chain:
    """One chain of the search: the words of its stream, its proposals, the heat it starts at."""

    words: tuple[int, int]
    proposals: int
    heat: float = 1.0


def take_turns(searches: Sequence[Steps[T]], patience: Patience, progress: Progress = silent) -> list[T]:
    """The results of several searches, which take their steps in turn while there is patience.

    Without a limit the order does not matter, so one follows the other: that takes less memory.
    """
    results: dict[int, T] = {}
    rows = [list(range(len(searches)))] if patience.limited else [[at] for at in range(len(searches))]
    for live in rows:
        shares = {at: _sent(searches[at], None, at, results) for at in live}
        while live := [at for at in live if at not in results]:
            for at in live:
                shares[at] = _sent(searches[at], patience.late(), at, results)
                done = sum(shares[one] for one in shares if one not in results)
                progress((len(results) + done) / len(searches), "improving groups")
    return [results[at] for at in range(len(searches))]


def _sent(search: Steps[T], late: bool | None, at: int, results: dict[int, T]) -> float:
    """Begin a search (None), let it take a step, or end it; its result is kept when it has one."""
    try:
        return next(search) if late is None else search.send(late)
    except StopIteration as end:
        results[at] = end.value
        return 1.0


def near_records(x: Floats, count: int, *, threads: int = 1) -> Ints:
    """The `count` nearest other records of each record (fewer in a small file)."""
    count = min(count, x.shape[0] - 1)
    found = np.atleast_2d(cKDTree(x).query(x, count + 1, workers=threads)[1]).astype(np.int64)
    rows = np.arange(x.shape[0])[:, None]
    # With equal records the record itself need not come first: it goes to the end, and the end is cut off.
    order = np.argsort(found == rows, axis=1, kind="stable")
    return np.ascontiguousarray(np.take_along_axis(found, order, axis=1)[:, :count])


class Annealing:
    """One partition that is being annealed by a chain: `best` are its labels, `cost` what they cost."""

    def __init__(self, x: Floats, near: Ints, labels: Ints, k: int, chain: Chain) -> None:
        self._x, self._near, self._k, self._chain = x, near, k, chain
        self.best = labels.copy()
        self.cost = within_squares(x, labels, int(labels.max()) + 1)
        self.slices = sum(-(-int(chain.proposals * share) // SLICE) for _, _, share in ROUNDS)
        self.done = self.cost <= 0.0 or not self.slices
        self._run = self._rounds()
        self._taken = 0

    def step(self) -> None:
        """Some proposals more."""
        next(self._run)
        self._taken += 1
        self.done = self._taken == self.slices

    def _rounds(self) -> Iterator[None]:
        x, k = self._x, self._k
        state = np.array(self._chain.words, dtype=np.uint64) | np.uint64(1)
        scale = self.cost / x.shape[0]
        for number, (start, end, share) in enumerate(ROUNDS):
            # Every round starts from the best so far, with sums that carry no rounding of a million moves.
            labels = self.best.copy()
            groups = group_state(x, labels, k)
            cost = within_squares(x, labels, groups.sizes.size)
            count = int(self._chain.proposals * share)
            first = start * self._chain.heat if number == 0 else start
            cooling = (end / first) ** (1.0 / max(count, 1))
            now = first * scale
            while count > 0:
                part = min(SLICE, count)
                cost += anneal(x, self._near, k, groups, state, part, now, cooling)
                now *= cooling**part
                count -= part
                if cost < self.cost:
                    self.best, self.cost = labels.copy(), cost
                yield


def _side_by_side(chains: Sequence[Annealing], threads: int, span: tuple[float, float]) -> Steps[bool]:
    """Anneal several partitions, a slice of each in one step; whether all came to their end."""
    steps = 0
    while live := [chain for chain in chains if not chain.done]:
        if (yield span[0] + (span[1] - span[0]) * steps / max(chain.slices for chain in chains)):
            return False
        _in_threads([chain.step for chain in live], threads)
        steps += 1
    return True


def _in_threads(jobs: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """Run the jobs on some threads; results in the order of the jobs."""
    with ThreadPoolExecutor(max_workers=threads) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise


def settle(x: Floats, near: Ints, labels: Ints, k: int) -> Steps[tuple[Ints, bool]]:
    """Exact re-partitions of neighbouring groups until nothing changes; False when it was ended before."""
    labels = labels.copy()
    groups = group_state(x, labels, k)
    for _ in range(SWEEPS if x.shape[0] <= FEW else 1):
        change = 0.0
        for first in range(0, groups.sizes.size, TOGETHER):
            if (yield 1.0):
                return labels, False
            change += repartition_sweep(x, near, k, groups, first, first + TOGETHER)
        if change > -1e-9:
            break
    return labels, True


def search_whole(x: Floats, k: int, search: Search, start: Ints) -> Steps[tuple[Ints, bool]]:
    """Best of CHAINS chains from one start (ties: the first), then re-partitioned exactly."""
    share = search.budget(x.shape[0]) // CHAINS
    near = near_records(x, NEAR, threads=search.threads)
    chains = [
        Annealing(x, near, start, k, Chain(search.secret.words(f"chain {at}"), share, HEATS[at % len(HEATS)]))
        for at in range(CHAINS)
    ]
    finished = yield from _side_by_side(chains, search.threads, (0.0, 1.0))
    best = min(chains, key=lambda chain: chain.cost)
    if not finished:
        return best.best, False
    return (yield from settle(x, near, best.best, k))


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
) -> Steps[tuple[Ints, bool]]:
    """Two passes over blocks: first median blocks, then blocks of whole groups whose borders lie elsewhere."""
    largest = max(largest, 8 * k)
    labels = blocked_mdav(x, k, threads=search.threads, largest=largest) if start is None else start
    for number, (share, span) in enumerate(((0.6, (0.0, 0.6)), (0.4, (0.6, 1.0)))):
        fresh = number == 0 and start is None
        blocks = median_blocks(x, largest) if fresh else rotated_group_blocks(x, labels, largest)
        per_record = search.budget(x.shape[0]) / x.shape[0] * share
        chains = [
            Chain(search.secret.words(f"pass {number} block {at}"), int(per_record * rows.size))
            for at, rows in enumerate(blocks)
        ]
        parts = [np.unique(labels[rows], return_inverse=True)[1].astype(np.int64) for rows in blocks]
        for first in range(0, len(blocks), WAVE):
            wave = slice(first, first + WAVE)
            jobs = [_block_job(x, *one, k) for one in zip(blocks[wave], parts[wave], chains[wave], strict=True)]
            begun, ended = (span[0] + (span[1] - span[0]) * min(at / len(blocks), 1.0) for at in (first, first + WAVE))
            if (yield begun):
                return _number_blocks(x.shape[0], blocks, parts), False
            made = _in_threads(jobs, search.threads)
            finished = yield from _side_by_side(made, search.threads, (begun, ended))
            parts[wave] = [one.best for one in made]
            if not finished:
                return _number_blocks(x.shape[0], blocks, parts), False
        labels = _number_blocks(x.shape[0], blocks, parts)
    return labels, True


def _block_job(x: Floats, rows: Ints, labels: Ints, chain: Chain, k: int) -> Callable[[], Annealing]:
    """One block and its chain, to be made ready later: near records take time and memory."""

    def make() -> Annealing:
        part = np.ascontiguousarray(x[rows])
        return Annealing(part, near_records(part, NEAR), labels, k, chain)

    return make
