# SPDX-License-Identifier: Apache-2.0
"""Two-dimensional tables are networks: every protection is a cycle, and the cheapest is a cheapest flow."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lsqr

from reticent.base import clock
from reticent.base.errors import ParameterError
from reticent.data.relations import Relations
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.method import SuppressionMethod
from reticent.tables.suppression.routing import route


@dataclass(frozen=True)
class Network(SuppressionMethod):
    """Hides cells along cheapest flows in a two-dimensional table, one unsafe cell after another, then cleans up."""

    name: ClassVar[str] = "network"

    def _search(self, engine: Engine) -> None:
        problem = engine.problem
        if not is_network(own_relations(problem)):
            raise ParameterError(
                "network: needs a table of two dimensions, of which at most one is hierarchical. Use heuristic or modular."
            )
        pattern = engine.under_way = problem.forced.copy()  # grows in place
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
        engine.clean(until=clock.now() + 0.9 * engine.left())


def own_relations(problem: SuppressionProblem) -> Relations:
    """The relations of the table, without those that say what a sum of its cells is."""
    relations, n = problem.relations, problem.relations.n_rows - len(problem.sums)
    end = int(relations.indptr[n])
    return Relations.from_arrays(
        relations.n_cells, relations.indptr[: n + 1], relations.cells[:end], relations.coefs[:end]
    )


def is_network(relations: Relations) -> bool:
    """Whether signs of rows can be chosen so that every cell leaves one relation and enters another.

    A cell joins its (at most two) relations; equal coefficients ask for opposite row signs, opposite ones for equal
    signs. In the graph with two copies of each row these demands contradict each other iff both copies meet. A table with
    one hierarchical dimension is a network once the sums over subtotals, which follow from the others, are left out.
    """
    relations = _without_repeats(relations)
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


def _without_repeats(relations: Relations) -> Relations:
    """Without the sums over subtotals (each of whose cells is the total of another relation), if they follow."""
    rows = [relations.row(number) for number in range(relations.n_rows)]
    totals = [cells[coefs < 0] for cells, coefs in rows]
    if any(len(total) != 1 for total in totals):
        return relations
    degree = np.diff(relations.by_cell[0])
    as_total = np.bincount([int(total[0]) for total in totals], minlength=relations.n_cells)
    over = [bool((degree[cells] > 2).all()) for cells, _ in rows]
    over = [
        deep and bool((as_total[cells] > (cells == total)).all())
        for deep, (cells, _), total in zip(over, rows, totals, strict=True)
    ]
    shared = np.zeros(relations.n_cells, dtype=np.int64)
    for (cells, _), candidate in zip(rows, over, strict=True):
        shared[cells] += candidate
    # a cell that only one of them could relieve decides for that one
    repeats = np.array([deep and bool((shared[c] == 1).any()) for deep, (c, _) in zip(over, rows, strict=True)])
    if not repeats.any() or not _follow(relations, repeats):
        return relations
    kept = [(cells.tolist(), coefs.tolist()) for (cells, coefs), drop in zip(rows, repeats, strict=True) if not drop]
    return Relations.from_rows(relations.n_cells, kept, relations.rhs[~repeats].tolist())


def _follow(relations: Relations, repeats: NDArray[np.bool_]) -> bool:
    """Whether these relations are combinations of the others."""
    matrix = relations.matrix().astype(np.float64)
    others = sparse.csr_array(matrix[np.flatnonzero(~repeats)].T)
    for number in np.flatnonzero(repeats).tolist():
        wanted = matrix[[number]].toarray().ravel()
        found = lsqr(others, wanted, atol=1e-12, btol=1e-12)[0]
        if float(np.abs(others @ found - wanted).max()) > 1e-6:
            return False
    return True
