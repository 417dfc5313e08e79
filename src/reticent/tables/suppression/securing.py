# SPDX-License-Identifier: Apache-2.0
"""A safe pattern soon, when the time of a search is up before it has found one: costly, but something to publish."""

import numpy as np

from reticent.base import clock
from reticent.base.arrays import Mask
from reticent.base.errors import OutOfTime
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.cubes import CubeFinder
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.watch import Watch

_FEW = 300  # cells that fail, up to which each is given a cube of its own
_SETTLED = 20  # cells that fail, up to which programs say which
_SHARE = 0.25  # of the time that is left, for a pattern that is cheaper than everything
_WIDTHS = (1, 4, 16)  # cells hidden in each relation of one that fails; then everything


def secure(engine: Engine, pattern: Mask) -> None:
    """Offer everything that may be hidden, if that is safe, then a pattern that grows as fast as it can."""
    problem = engine.problem
    everything = problem.candidates | problem.forced
    engine.say("hiding generously")
    if engine.missing(everything):
        raise OutOfTime(
            "Suppression: no pattern was found in time, and that all that may be hidden is safe is not proved."
        )
    engine.offer(everything)
    # the rest is for the attacks to come
    with clock.within(clock.peek() + _SHARE * clock.left()):
        _grow(engine, pattern | problem.forced)


def _grow(engine: Engine, pattern: Mask) -> None:
    """Hide generously around what fails, more each time, until nothing does; what hangs alone is completed at once.

    The attacks are few and joint: which cell of many fails for certain takes programs, and is not asked.
    """
    watch, steps = engine.watch(), _Growth(engine)
    while failing := _failing(watch, pattern):
        engine.say("hiding generously")
        clock.check()
        if not (engine.problem.candidates & ~pattern).any():
            return
        pattern = steps.grow(pattern, failing)
    engine.offer(pattern)


def _failing(watch: Watch, pattern: Mask) -> list[int]:
    """Cells that fail; where they are many, perhaps some more. Of a few, programs for single cells say which."""
    # whole movements are proved for single cells only
    lost = [] if watch.problem.whole.any() else watch.lost(pattern).tolist()
    return lost if len(lost) > _SETTLED else sorted({demand.cell for demand in watch.demands(pattern)})


class _Growth:
    """What is hidden next around cells that fail: cubes for a few, then more and more of their relations."""

    def __init__(self, engine: Engine) -> None:
        self._problem, self._cost = engine.problem, engine.cost
        self._cubed: set[int] = set()
        self._widths = iter(_WIDTHS)

    def grow(self, pattern: Mask, failing: list[int]) -> Mask:
        """A pattern that hides more: everything in the end. There must be something to hide."""
        while True:
            new = set(failing) - self._cubed
            if new and len(failing) <= _FEW:
                self._cubed |= new
                grown = self._cubes(pattern, sorted(new))
            else:
                grown = self._around(pattern, failing, next(self._widths, None))
            grown = closed(self._problem, grown, self._cost)
            if (grown != pattern).any():
                return grown

    def _cubes(self, pattern: Mask, cells: list[int]) -> Mask:
        grown, finder = pattern.copy(), CubeFinder(self._problem, self._cost)
        for cell in cells:
            clock.check()
            grown[finder.cheapest(cell, grown)] = True
        return grown

    def _around(self, pattern: Mask, failing: list[int], width: int | None) -> Mask:
        """The cheapest cells in each relation of those that fail; all there are without a width."""
        if width is None:
            return pattern | self._problem.candidates
        grown = pattern.copy()
        indptr, rows, _ = self._problem.relations.by_cell
        for row in sorted({int(row) for cell in failing for row in rows[indptr[cell] : indptr[cell + 1]]}):
            cells = self._problem.relations.row(row)[0]
            free = cells[self._problem.candidates[cells] & ~grown[cells]]
            grown[free[np.argsort(self._cost[free], kind="stable")[:width]]] = True
        return grown


def closed(problem: SuppressionProblem, pattern: Mask, cost: np.ndarray) -> Mask:
    """Hide the cheapest cell beside each that is hidden alone in a relation, until none is that could have company."""
    relations, grown = problem.relations, pattern.copy()
    row_of = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    while True:
        clock.check()
        alone = np.bincount(row_of[grown[relations.cells]], minlength=relations.n_rows) == 1
        free = alone[row_of] & (problem.candidates & ~grown)[relations.cells]
        if not free.any():
            return grown
        rows, cells = row_of[free], relations.cells[free]
        order = np.lexsort((cost[cells], rows))
        first = np.append(True, np.diff(rows[order]) > 0)
        grown[cells[order][first]] = True
