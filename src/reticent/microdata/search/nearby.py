# SPDX-License-Identifier: Apache-2.0
"""What else could have been chosen: the safe nodes of least loss besides the chosen one."""

from itertools import product
from math import prod

from reticent.microdata.search.evaluate import Evaluator, Node
from reticent.microdata.search.lattice import NodeLoss

MOST_NODES = 400
"""Lattices up to this size are looked at whole; in larger ones the nodes within two steps of the chosen one."""
MOST_WORK = 20_000_000
"""Rows of combinations that may be rolled up for it, over all nodes; beyond nothing is looked at."""
LISTED = 3


def next_best(
    evaluator: Evaluator, loss: NodeLoss, chosen: Node, allowed: int
) -> tuple[float, list[tuple[Node, float]]]:
    """The share of all that can be lost at the chosen node, and the next best safe nodes with theirs."""
    levels = loss.by_level(evaluator)

    def lost(node: Node) -> float:
        return loss.exact(evaluator, node, sum(float(one[g]) for one, g in zip(levels, node, strict=True)))

    whole = lost(evaluator.top) or 1.0
    nodes = _nodes(evaluator, chosen)
    if len(nodes) * evaluator.base.counts.size > MOST_WORK:
        return lost(chosen) / whole, []
    safe = [node for node in nodes if node != chosen and evaluator.unsafe_records(node) <= allowed]
    ranked = sorted((lost(node) / whole, node) for node in safe)
    return lost(chosen) / whole, [(node, share) for share, node in ranked[:LISTED]]


def _nodes(evaluator: Evaluator, chosen: Node) -> list[Node]:
    heights = [ladder.height for ladder in evaluator.ladders]
    if prod(height + 1 for height in heights) <= MOST_NODES:
        return list(product(*(range(height + 1) for height in heights)))
    found = {chosen}
    for _ in range(2):
        found |= {
            (*node[:at], node[at] + step, *node[at + 1 :])
            for node in found
            for at, height in enumerate(heights)
            for step in (-1, 1)
            if 0 <= node[at] + step <= height
        }
    return sorted(found)
