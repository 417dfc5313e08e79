# SPDX-License-Identifier: Apache-2.0
"""Optimal and anytime search over the lattice of levels, with conclusions drawn from each evaluated node.

Nodes are taken by rising lower bound of their loss. From an undecided node a chain is followed to the top and searched
by bisection (as Flash does, Kohlmayer et al. 2012); what is unsafe makes all finer nodes unsafe, what is safe makes all
coarser ones safe. The first safe node whose loss is no higher than the next bound is optimal: that is the proof.
"""

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Floats
from reticent.base.errors import InfeasibleError
from reticent.base.progress import Progress, silent
from reticent.kernels.lattice import roll_up
from reticent.microdata.patience import Patience
from reticent.microdata.search.evaluate import Evaluator, Node, groups_of

UNKNOWN, SAFE, UNSAFE = 0, 1, 2
MOST_NODES = 20_000_000
MOST_QUEUED = 2_000_000


@dataclass(frozen=True)
class NodeLoss:
    """Loss of nodes: `record[j][g][c]` of a record with code c of key j at level g, times the importance of the key.

    `discernibility` replaces it by Σ size² over published groups plus n for each suppressed record.
    """

    record: tuple[tuple[Floats, ...], ...] = field(repr=False)
    importance: tuple[float, ...]
    count_suppressed: bool = True
    discernibility: bool = False

    def by_level(self, evaluator: Evaluator) -> list[Floats]:
        """Loss of the whole file per key and level if nothing is suppressed: a lower bound, key by key."""
        result = []
        for column, (levels, importance) in enumerate(zip(self.record, self.importance)):
            if self.discernibility:
                result.append(np.zeros(len(levels)))
                continue
            codes = evaluator.base.codes[:, column]
            known = codes >= 0
            counts = np.bincount(codes[known], weights=evaluator.base.counts[known], minlength=levels[0].size)
            result.append(importance * np.array([float(level @ counts) for level in levels]))
        return result

    def exact(self, evaluator: Evaluator, node: Node, additive: float) -> float:
        """Loss of a node with the records in unsafe groups suppressed (all keys at their top level)."""
        if self.discernibility:
            groups = evaluator.groups(evaluator.rows(node))
            unsafe = evaluator.model.unsafe(groups)
            sizes = groups.counts.astype(np.float64)
            return float((sizes[~unsafe] ** 2).sum() + evaluator.n_records * sizes[unsafe].sum())
        if not self.count_suppressed:
            return additive
        rows = evaluator.rows(node)
        groups = evaluator.groups(rows)
        gone = np.where(evaluator.model.unsafe(groups)[groups.cell_group], rows.counts, 0)
        extra = 0.0
        for column, importance in enumerate(self.importance):
            codes = rows.codes[:, column]
            more = self._to_the_top(evaluator, column, node[column])[codes]
            extra += importance * float((more * gone)[codes >= 0].sum())
        return additive + extra

    def _to_the_top(self, evaluator: Evaluator, column: int, level: int) -> Floats:
        """What a record at this level still has to lose, by its code there; for every loss it depends on no more."""
        ladder, levels = evaluator.ladders[column], self.record[column]
        more = np.zeros(len(ladder.labels[level]))
        np.maximum.at(more, ladder.steps[level], levels[-1] - levels[level])
        return more


def suppressed_rows(evaluator: Evaluator, node: Node) -> NDArray[np.bool_]:
    """Which of the evaluator's base rows are in unsafe groups at the node."""
    maps, offsets, length = [np.zeros(0, dtype=np.int32)], np.full(evaluator.base.codes.shape[1], -1), 0
    for column, ladder in enumerate(evaluator.ladders):
        maps.append(ladder.steps[node[column]])
        offsets[column] = length
        length += ladder.steps[node[column]].size
    rows, target = roll_up(evaluator.base, np.concatenate(maps), offsets)
    groups = groups_of(rows, len(evaluator.ladders))
    return np.asarray(evaluator.model.unsafe(groups)[groups.cell_group[target]])


@dataclass(frozen=True)
class SearchResult:
    """The best node found, its loss, a lower bound of the loss of any safe node, and how it was found."""

    node: Node
    loss: float
    bound: float
    optimal: bool
    unsafe_records: int
    nodes: int
    evaluations: int
    seconds: float

    @property
    def gap(self) -> float:
        """(loss − bound)/loss: 0 when the node is proven optimal."""
        return 0.0 if self.optimal or self.loss <= 0 else (self.loss - self.bound) / self.loss

    def summary(self) -> dict[str, Any]:
        """The numbers for a report."""
        return {**{k: v for k, v in vars(self).items() if k != "seconds"}, "gap": self.gap}


@dataclass
class _Search:
    """What both ways of searching share."""

    evaluator: Evaluator
    loss: NodeLoss
    allowed: int
    patience: Patience

    def __post_init__(self) -> None:
        self.by_level = self.loss.by_level(self.evaluator)
        model = self.evaluator.model
        self.infers = model.monotone or (model.convex and self.allowed == 0)
        self.best: tuple[float, Node] | None = None

    def safe(self, node: Node) -> bool:
        return self.evaluator.unsafe_records(node) <= self.allowed

    def additive(self, node: Node) -> float:
        return float(sum(levels[g] for levels, g in zip(self.by_level, node)))

    def take(self, node: Node) -> None:
        """Keep a safe node if it is the best so far."""
        loss = self.loss.exact(self.evaluator, node, self.additive(node))
        if self.best is None or loss < self.best[0]:
            self.best = loss, node

    def chain(self, node: Node) -> list[Node]:
        """From the node to the top, each step raising the key that costs least."""
        result = [node]
        while node != self.evaluator.top:
            steps = [
                (levels[g + 1] - levels[g], column)
                for column, (levels, g) in enumerate(zip(self.by_level, node))
                if g + 1 < levels.size
            ]
            column = min(steps)[1]
            node = (*node[:column], node[column] + 1, *node[column + 1 :])
            result.append(node)
        return result


def search(
    evaluator: Evaluator,
    loss: NodeLoss,
    *,
    limit: float = 0.0,
    patience: Patience | None = None,
    progress: Progress = silent,
) -> SearchResult:
    """The safe node of least loss; at most a share `limit` of the records may be in unsafe groups (and suppressed).

    When the time is up the best node found is returned with its bound; when none exists that is an error.
    """
    start = clock.now()
    allowed = int(limit * evaluator.n_records + 1e-9)
    state = _Search(evaluator, loss, allowed, patience or Patience())
    if state.infers and not state.safe(evaluator.top):
        raise InfeasibleError(_impossible(evaluator, allowed))
    heights = [ladder.height + 1 for ladder in evaluator.ladders]
    n_nodes = int(np.prod(heights, dtype=object))
    run = _search_array if n_nodes <= MOST_NODES else _search_queue
    bound, proven = run(state, tuple(heights), progress)
    if state.best is None:
        if not proven and state.infers:
            state.take(evaluator.top)
        else:
            raise InfeasibleError(_impossible(evaluator, allowed))
    assert state.best is not None
    value, node = state.best
    unsafe = evaluator.unsafe_in(evaluator.rows(node))
    return SearchResult(node, value, min(bound, value), proven, unsafe, n_nodes, evaluator.evaluations,
                        clock.now() - start)  # fmt: skip


def _impossible(evaluator: Evaluator, allowed: int) -> str:
    left = evaluator.unsafe_in(evaluator.rows(evaluator.top))
    return (
        f"generalize: no coding makes the file safe; the coarsest leaves {left} of {evaluator.n_records} records unsafe, "
        f"and {allowed} may be suppressed. Ask for less, or allow more suppression."
    )


def _search_array(state: _Search, shape: tuple[int, ...], progress: Progress) -> tuple[float, bool]:
    """Every node has a tag; conclusions are written to whole boxes of the lattice at once."""
    additive = np.zeros(shape)
    for column, levels in enumerate(state.by_level):
        additive += levels.reshape([-1 if i == column else 1 for i in range(len(shape))])
    height = sum(np.ix_(*[np.arange(size) / max(size - 1, 1) for size in shape]))  # ties: the lower node first
    order = np.lexsort((np.asarray(height).ravel(), additive.ravel()))
    tags = np.zeros(shape, dtype=np.int8)
    flat_tags, flat_loss = tags.reshape(-1), additive.reshape(-1)
    for position, index in enumerate(order):
        bound = float(flat_loss[index])
        if state.best is not None and bound >= state.best[0]:
            return bound, True
        if flat_tags[index] == UNSAFE:
            continue
        if state.patience.late():
            return bound, False
        node = tuple(int(i) for i in np.unravel_index(index, shape))
        if flat_tags[index] == UNKNOWN:
            progress(position / order.size, "searching codings")
            _decide(state, node, tags)
        if flat_tags[index] == SAFE:
            state.take(node)
    return float("inf"), True


def _decide(state: _Search, node: Node, tags: NDArray[np.int8]) -> None:
    """Evaluate the node; where conclusions hold, bisect the chain above it and mark all that follows."""
    if not state.infers:
        tags[node] = SAFE if state.safe(node) else UNSAFE
        return
    chain = state.chain(node)
    low, high = 0, len(chain) - 1
    while low <= high:
        middle = (low + high) // 2
        tag = tags[chain[middle]]
        if tag == UNKNOWN:
            tag = SAFE if state.safe(chain[middle]) else UNSAFE
        if tag == SAFE:
            tags[tuple(slice(g, None) for g in chain[middle])] = SAFE
            high = middle - 1
        else:
            tags[tuple(slice(0, g + 1) for g in chain[middle])] = UNSAFE
            low = middle + 1


def _search_queue(state: _Search, shape: tuple[int, ...], progress: Progress) -> tuple[float, bool]:
    """For lattices too large for tags: nodes are generated by rising bound, each once."""
    bottom = (0,) * len(shape)
    queue: list[tuple[float, Node, int]] = [(state.additive(bottom), bottom, 0)]
    unsafe = np.zeros((0, len(shape)), dtype=np.int64)
    while queue:
        bound, node, first = heapq.heappop(queue)
        if state.best is not None and bound >= state.best[0]:
            return bound, True
        if state.patience.late() or len(queue) > MOST_QUEUED:
            return bound, False
        known = state.infers and bool((unsafe >= np.array(node)).all(axis=1).any())
        if not known:
            progress(0.0, "searching codings")
            worst = _probe(state, node)
            if worst is not None:
                keep = unsafe[~(unsafe <= np.array(worst)).all(axis=1)]
                unsafe = np.vstack([keep, np.array(worst)])
        for column in range(first, len(shape)):
            if node[column] + 1 < shape[column]:
                up = (*node[:column], node[column] + 1, *node[column + 1 :])
                heapq.heappush(queue, (state.additive(up), up, column))
    return float("inf"), True


def _probe(state: _Search, node: Node) -> Node | None:
    """Bisect the chain above the node, keep the safe end, and return the highest unsafe node found."""
    if not state.infers:
        if state.safe(node):
            state.take(node)
        return None
    chain = state.chain(node)
    low, high = 0, len(chain) - 1
    while low <= high:
        middle = (low + high) // 2
        if state.safe(chain[middle]):
            high = middle - 1
        else:
            low = middle + 1
    if low < len(chain):
        state.take(chain[low])
    return chain[low - 1] if low else None
