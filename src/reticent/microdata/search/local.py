# SPDX-License-Identifier: Apache-2.0
"""Local recoding on top of the search: records that a coding leaves unsafe get a coarser coding of their own.

In each round the cheapest node that makes at least a given share of the remaining records safe is applied to them (the
iterative scheme of Prasser et al., 2016). Groups of different rounds that meet only grow together.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.base.arrays import Ints
from reticent.base.errors import InfeasibleError
from reticent.base.progress import Progress, silent
from reticent.kernels.lattice import Rows
from reticent.microdata.patience import Patience
from reticent.microdata.search.evaluate import Evaluator, Node
from reticent.microdata.search.lattice import NodeLoss, search, suppressed_rows

MOST_ROUNDS = 500


@dataclass(frozen=True)
class LocalCoding:
    """The nodes used, and which one each base row got (−1: suppressed)."""

    nodes: tuple[Node, ...]
    choice: Ints = field(repr=False)
    records: tuple[int, ...]
    suppressed: int
    loss: float

    def summary(self) -> dict[str, Any]:
        """How many codings, how many records suppressed, total loss."""
        return {"codings": len(self.nodes), "suppressed": self.suppressed, "loss": self.loss}


def local_coding(
    evaluator: Evaluator,
    loss: NodeLoss,
    *,
    allowed: int = 0,
    share: float = 0.05,
    patience: Patience | None = None,
    progress: Progress = silent,
) -> LocalCoding:
    """Choose a node for every base row, round by round, until at most `allowed` records are left to be suppressed.

    Where too few records are left to be safe among themselves, the last rounds are undone and joined with them.
    """
    base, patience = evaluator.base, patience or Patience()
    choice = np.full(base.counts.size, -1, dtype=np.int64)
    additive = NodeLoss(loss.record, loss.importance, count_suppressed=False)
    nodes: list[Node] = []
    while len(nodes) < MOST_ROUNDS:
        part, left = _left(evaluator, choice)
        if not left.size:
            break
        progress(1.0 - part.n_records / evaluator.n_records, "local recoding")
        most = part.n_records - max(1, int(share * part.n_records))
        try:
            node = search(part, additive, limit=most / part.n_records, patience=patience).node
        except InfeasibleError:
            break
        choice[left[~suppressed_rows(part, node)]] = len(nodes)
        nodes.append(node)
    while int(base.counts[choice < 0].sum()) > allowed:
        _join_last(evaluator, additive, nodes, choice, allowed, patience)
    records = np.bincount(choice[choice >= 0], weights=base.counts[choice >= 0], minlength=len(nodes))
    return LocalCoding(tuple(nodes), choice, tuple(int(r) for r in records), int(base.counts[choice < 0].sum()),
                       _total_loss(evaluator, loss, nodes, choice))  # fmt: skip


def _left(evaluator: Evaluator, choice: Ints) -> tuple[Evaluator, Ints]:
    """The rows without a node, as a problem of their own."""
    base, left = evaluator.base, np.flatnonzero(choice < 0)
    rest = Rows(np.ascontiguousarray(base.codes[left]), base.counts[left], base.weights[left])
    return Evaluator(evaluator.ladders, rest, evaluator.model), left


def _join_last(
    evaluator: Evaluator, loss: NodeLoss, nodes: list[Node], choice: Ints, allowed: int, patience: Patience
) -> None:
    """Undo the last round that can be made safe together with what is left; without any, say that it is impossible."""
    while True:
        if nodes:
            nodes.pop()
            choice[choice == len(nodes)] = -1
        part, left = _left(evaluator, choice)
        try:
            node = search(part, loss, limit=allowed / part.n_records, patience=patience).node
        except InfeasibleError:
            if not nodes:
                raise
            continue
        choice[left[~suppressed_rows(part, node)]] = len(nodes)
        nodes.append(node)
        return


def _total_loss(evaluator: Evaluator, loss: NodeLoss, nodes: list[Node], choice: Ints) -> float:
    """Loss of every base row at its own node; suppressed rows lose everything."""
    levels = np.array([*nodes, evaluator.top], dtype=np.int64)[choice]  # −1 picks the top
    total = 0.0
    for column, (record, importance) in enumerate(zip(loss.record, loss.importance)):
        codes = evaluator.base.codes[:, column]
        table = np.stack(record)
        each = np.where(codes >= 0, table[levels[:, column], codes], 0.0)
        total += importance * float(each @ evaluator.base.counts)
    return total
