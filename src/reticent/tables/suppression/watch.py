# SPDX-License-Identifier: Apache-2.0
"""What a pattern leaves open, looked at again and again while it grows: what is safe stays safe, and is not asked again."""

import math

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Floats, Mask
from reticent.base.progress import Progress, silent
from reticent.tables.attack.certify import certify
from reticent.tables.attack.inside import Breaches
from reticent.tables.attack.insiders import Insider, insiders, single_respondents
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.demands import Demand, Kind, demands_of, inside_demands
from reticent.tables.suppression.together import Together

EXACT_INSIDERS = 20_000
"""Cells up to which the attacks of single respondents are settled by programs."""
SETTLED = 20
"""Respondents that algebra does not clear, up to which programs have the last word in larger tables too."""
_BREACHES = 12  # coalitions whose findings are mended in one round
_FEW = 4  # primaries up to which a single way for each is better than a movement for all
_SAMPLE = (
    300  # of the primaries that fail, this many are served by one movement (fewer in small tables, where it is quick),
)
_SHARE = 0.17  # or this share of them
_LATE = 0.2  # share of its time by which the last of them may be late


class Watch:
    """The demands of a pattern that only grows from one call to the next (a new watch for every other pattern)."""

    def __init__(
        self,
        problem: SuppressionProblem,
        rng: np.random.Generator,
        *,
        singletons: bool,
        breaches: Breaches | None = None,
    ) -> None:
        self.problem, self.rng, self.singletons = problem, rng, singletons
        self.breaches = breaches or Breaches(problem)
        # in large tables respondents that only bounds keep out are taken for successful: safe, and much quicker
        self._exact = problem.n_cells <= EXACT_INSIDERS
        self._asked: Mask | None = None
        self._before: Mask | None = None
        self._open: set[int] = set()

    def lost(self, pattern: Mask) -> NDArray[np.int32]:
        """Primaries that no movement for many cells proves safe: all that fail, and perhaps some more."""
        reach, _ = certify(self.problem, pattern, rng=self.rng, asked=self._asked, settle=False)
        assert reach.lost is not None
        lost = reach.reduced.cells[reach.lost]
        self._ask(lost)
        return lost

    def inside(self, pattern: Mask) -> list[Insider]:
        """Respondents whom algebra does not keep from working out another primary: all who can, and perhaps some more."""
        found = self._insiders(pattern, settle=self._exact) if self.singletons else []
        if found and not self._exact and len(found) <= SETTLED:
            found = insiders(self.problem, pattern, among=self._open)
            self._open = {one.respondent for one in found}
        return found

    def demands(self, pattern: Mask) -> list[Demand]:
        """The demands that a pattern does not meet."""
        reach, wants = certify(self.problem, pattern, rng=self.rng, asked=self._asked)
        assert reach.lost is not None
        cells = reach.reduced.cells
        self._ask(cells[reach.lost])
        short = {
            Kind.UP: set(cells[wants.missing_up(reach)].tolist()),
            Kind.DOWN: set(cells[wants.missing_down(reach)].tolist()),
        }
        found = [d for d in demands_of(self.problem, cells[reach.lost]) if d.cell in short.get(d.kind, {d.cell})]
        found += [Demand(cell, Kind.MOVE, 1.0, one.known) for one in self.inside(pattern) for cell in one.exposed]
        if found or not self.singletons:
            return found
        # what the public finds, or one respondent exactly, is mended first: then respondents seldom come close
        return inside_demands(self.breaches.find(pattern, most=_BREACHES))

    def _ask(self, lost: NDArray[np.int32]) -> None:
        self._asked = np.zeros(self.problem.n_cells, dtype=bool)
        self._asked[lost] = True

    def _insiders(self, pattern: Mask, *, settle: bool) -> list[Insider]:
        """Those of the respondents who could before, or who know more by now."""
        among: set[int] | None = None
        if self._before is not None:
            who = single_respondents(self.problem)
            among = self._open | set(who[pattern & ~self._before & (who >= 0)].tolist())
        found = insiders(self.problem, pattern, settle=settle, among=among) if among is None or among else []
        # who is beaten to it by the public may still come first when the pattern has grown: he is not cleared for good
        cleared = self._asked is not None and not self._asked.any()
        self._before, self._open = (pattern.copy() if cleared else None), {one.respondent for one in found}
        return found


def serve_all(
    watch: Watch,
    together: Together,
    pattern: Mask,
    cost: Floats,
    *,
    until: float,
    give_up: float = math.inf,
    progress: Progress = silent,
) -> Mask:
    """Hide further cells until nearly all primaries are safe, or the pattern is too costly: many at once.

    A sample of the primaries that fail is served first: what that hides mostly serves the others. Then come the
    respondents. What is left (it may be nothing) is for single ways.
    """
    with clock.within(until + _LATE * max(0.0, until - clock.peek())):
        while clock.now() < until and float(cost[pattern].sum()) < give_up:
            progress(0.0, "moving many cells at once")
            lost = watch.lost(pattern)
            if len(lost) > _FEW:
                size = max(min(_SAMPLE, watch.problem.n_cells // 30), int(_SHARE * len(lost)))
                chosen = lost if len(lost) <= size else np.sort(watch.rng.choice(lost, size, replace=False))
                grown = together.serve(pattern, chosen, watch.rng, until=until)
            else:
                grown = together.serve_insiders(pattern, watch.inside(pattern), watch.rng, until=until)
            if np.array_equal(grown, pattern):
                break
            pattern = grown
    return pattern
