# SPDX-License-Identifier: Apache-2.0
"""Top-down: protect the highest totals first, keep what was hidden, go down level by level."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Ints
from reticent.data.cells import CellStatus
from reticent.data.relations import Relations
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.method import SuppressionMethod


@dataclass(frozen=True)
class Modular(SuppressionMethod):
    """Hides cells level by level, as HiTaS does (de Wolf 2002); every level is judged with all relations above it."""

    name: ClassVar[str] = "modular"

    def _search(self, engine: Engine) -> None:
        problem = engine.problem
        depth = relation_depths(problem.relations)
        pattern = engine.under_way = problem.forced.copy()  # grows in place
        levels = np.unique(depth)
        for number, level in enumerate(levels.tolist()):
            engine.say("protecting level by level")
            stage = _stage(problem, pattern, depth <= level)
            if not stage.primary.any():
                continue
            part = Engine(
                stage,
                engine.given_cost,
                deadline=clock.now() + max(1.0, engine.left() / (len(levels) - number + 1)),
                rng=engine.rng,
                singletons=engine.singletons,
            )
            part.relax_and_cut(until=clock.now() + 0.4 * part.left(), rounds=4)
            found = part.integer_rounds(part.narrow(0.2), until=clock.now() + 0.5 * part.left(), gap=1e-3, rounds=4)
            if part.best is None:
                part.complete(found > 0.5 if found is not None else stage.forced)
            if part.best is not None:
                pattern |= part.best
        engine.complete(pattern)
        engine.clean(until=clock.now() + 0.5 * engine.left())


def relation_depths(relations: Relations) -> Ints:
    """How far each relation is below the top: the number of totals above its own total, at the longest."""
    depth_of_cell = np.zeros(relations.n_cells, dtype=np.int64)
    row_of = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    total = relations.coefs < 0
    depth = np.zeros(relations.n_rows, dtype=np.int64)
    for _ in range(64):
        before = depth_of_cell.copy()
        depth = np.zeros(relations.n_rows, dtype=np.int64)
        np.maximum.at(depth, row_of[total], depth_of_cell[relations.cells[total]])
        np.maximum.at(depth_of_cell, relations.cells[~total], depth[row_of[~total]] + 1)
        if np.array_equal(before, depth_of_cell):
            break
    return depth


def _stage(problem: SuppressionProblem, hidden: NDArray[np.bool_], rows: NDArray[np.bool_]) -> SuppressionProblem:
    """The problem of some relations only; cells hidden so far stay hidden, primaries not reached yet wait."""
    relations = problem.relations
    keep = np.repeat(rows, np.diff(relations.indptr))
    lengths = np.diff(relations.indptr)[rows]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    part = Relations.from_arrays(relations.n_cells, indptr, relations.cells[keep], relations.coefs[keep])
    reached = np.zeros(problem.n_cells, dtype=bool)
    reached[part.cells] = True
    status = problem.status.copy()
    status[hidden & ~problem.primary] = CellStatus.SECONDARY
    status[problem.primary & ~reached] = CellStatus.SECONDARY
    return replace(problem, relations=part, status=status)
