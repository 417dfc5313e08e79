"""Two-dimensional tables are networks: every protection is a cycle, and the cheapest is a cheapest flow."""

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.base.errors import ParameterError
from reticent.data.relations import Relations
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.method import SuppressionMethod
from reticent.tables.suppression.routing import route


@dataclass(frozen=True)
class Network(SuppressionMethod):
    """Cheapest flows through the network of a two-dimensional table, one primary after the other, then clean-up."""

    name: ClassVar[str] = "network"

    def _search(self, engine: Engine) -> None:
        problem = engine.problem
        if not is_network(problem.relations):
            raise ParameterError(
                "network: needs a table of two flat dimensions (each cell in two relations). Use heuristic or modular."
            )
        pattern = problem.forced.copy()
        waiting = engine.missing(pattern)
        waiting.sort(key=lambda demand: -demand.need)
        for number, demand in enumerate(waiting):
            if number % 20 == 0:
                engine.say("sending flows")
                still = {(d.cell, d.kind) for d in engine.missing(pattern)}
            if (demand.cell, demand.kind) in still:
                added = route(problem, pattern, demand, engine.cost)
                pattern[added if added is not None else []] = True
        engine.complete(pattern)
        engine.clean(until=time.monotonic() + 0.9 * engine.left())


def is_network(relations: Relations) -> bool:
    """Whether signs of rows can be chosen so that every cell leaves one relation and enters another.

    A cell joins its (at most two) relations; equal coefficients ask for opposite row signs, opposite ones for equal
    signs. In the graph with two copies of each row these demands contradict each other iff both copies meet.
    """
    indptr, rows, coefs = relations.by_cell
    degree = np.diff(indptr)
    if (degree > 2).any() or (np.abs(relations.coefs) != 1).any():
        return False
    first = indptr[:-1][degree == 2]
    a, b = rows[first].astype(np.int64), rows[first + 1].astype(np.int64)
    crossed = coefs[first] == coefs[first + 1]
    n = relations.n_rows
    ends_a = np.concatenate((a, a + n))
    ends_b = np.concatenate((np.where(crossed, b + n, b), np.where(crossed, b, b + n)))
    graph = sparse.coo_array((np.ones(len(ends_a)), (ends_a, ends_b)), shape=(2 * n, 2 * n))
    labels = np.asarray(connected_components(graph, directed=False)[1])
    return bool((labels[:n] != labels[n:]).all())
