# SPDX-License-Identifier: Apache-2.0
"""Exchange: take some published cells back, publish others instead, keep what hides less.

A descent over spans of published cells (`span`), where a lost protection level costs a little too; when it is stuck,
what it has is completed over single ways, cleaned and offered, and a small step uphill starts the next descent. Where
relations close circles (`circles`) the relaxation is a good guide: it says what to publish first, and when steps uphill
no longer help, the search starts from it again.
"""

import numpy as np

from reticent.base import clock
from reticent.base.arrays import Mask
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.cleaning import clean
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.routing import route
from reticent.tables.suppression.span import Span, Trial

FAR = 0.2  # gap between pattern and bound beyond which a proof is not near and the search by exchange pays
QUICK = 1_000  # cells up to which a proof is mostly a matter of seconds and is tried first
_LARGEST_TABLEAU = 1_000_000  # cells times the dimension of their movements
_LARGEST_EXCHANGE = 60  # classes that leave the basis at once, at most
_PATIENCE = 400  # trials without success that end a descent
_LOST = 1e-3  # what a lost level costs in the descent, as a share of the cost of the first pattern
_KICK = 0.05  # how far uphill a new descent may start
_MENDING = 0.3  # share of the time for completing and cleaning
_HOPELESS = 200  # primaries that fail, beyond which a pattern is not completed way by way
_STALE = 24  # descents without a new best after which the search starts again, where there is a guide
_DEPTH = 8  # descents without a new best after which the search goes back to the best


def exchange(engine: Engine, *, until: float) -> None:
    """Search by exchange, where the table is small enough for a tableau, and offer the safe patterns found."""
    if fits(engine.problem) and engine.problem.candidates.any() and engine.problem.primary.any():
        with clock.within(until + engine.slack()):
            _Search(engine).run(until)


def fits(problem: SuppressionProblem) -> bool:
    """Whether the tableau of a problem is small."""
    totals = np.unique(problem.relations.cells[problem.relations.coefs < 0])
    return (problem.n_cells - len(totals)) * problem.n_cells <= _LARGEST_TABLEAU


class _Search:
    """Repeated descents; `here` is the best pattern by merit since the last start, `best` that of all; neither need be safe."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.span = Span(engine.problem, engine.cost, engine.rng)
        self._guide = engine.master.x if engine.master.circular else None
        self._begin()
        self.best = self.now
        self.weight = _LOST * self.now.cost
        self._mending = 0.0
        self._mended = np.zeros(0, dtype=bool)
        self._hopeless = False

    def _begin(self) -> None:
        """Start from nothing published."""
        self.span.restart(np.ones(self.engine.problem.n_cells, dtype=bool))
        self.now = self.here = self.span.fill(self._guide)
        self.span.take(self.now)

    def run(self, until: float) -> None:
        """Descend, mend, step uphill, until time is up, the bound is met or nothing has helped for long."""
        start, since = clock.now(), 0
        patience = _DEPTH + self.engine.problem.n_cells // 20
        while clock.now() < until and since < patience and not (self._hopeless or self.engine.closed()):
            self._descend(until)
            since += 1
            if self.now.merit(self.weight) < self.here.merit(self.weight):
                self.here, since = self.now, 0
            if self.here.merit(self.weight) < self.best.merit(self.weight):
                self.best = self.here
            if self.engine.best is None or self._mending < _MENDING * (clock.now() - start):
                self._mend(until)
            if self._guide is not None and since >= _STALE:
                self._begin()
                since = 0
                continue
            # Iterated local search (Lourenço, Martin and Stützle 2003): small kicks, and back to the best when they fail.
            if since % _DEPTH == _DEPTH - 1:
                self.span.restart(self.span.pattern(self.here.hidden))
                self.now = self.here
            self._step_uphill()
        if not self._hopeless:
            self._mend(until)

    def _mend(self, until: float) -> None:
        """Make a safe pattern of the best one, unless that has been tried."""
        if not np.array_equal(self.best.hidden, self._mended):
            start = clock.now()
            self._mended = self.best.hidden
            self._hopeless = not mend(self.engine, self.span.pattern(self.best.hidden), until=until)
            self._mending += clock.now() - start

    def _descend(self, until: float) -> None:
        failures = 0
        while failures < _PATIENCE and clock.now() < until:
            if failures % 50 == 0:
                self.engine.say("exchanging published cells")
            failures += 1
            merit = self.now.merit(self.weight)
            trial = self.span.propose(largest=_LARGEST_EXCHANGE, give_up=merit * (1 + 1e-12) + 1e-9)
            if trial is None or len(trial.entered) == 0:
                continue
            gain = merit - trial.merit(self.weight)
            if gain > 1e-9 * merit:
                failures = 0
                self._take(trial)
            elif gain >= 0 and len(trial.entered) <= 8:
                self._take(trial)  # another basis of an equal pattern opens other exchanges

    def _step_uphill(self) -> None:
        merit = self.now.merit(self.weight)
        for _ in range(50):
            trial = self.span.propose(largest=_LARGEST_EXCHANGE, give_up=merit * (1 + _KICK))
            if trial is not None and 1e-4 < trial.merit(self.weight) / merit - 1 < _KICK:
                self._take(trial)
                return

    def _take(self, trial: Trial) -> None:
        self.span.take(trial)
        self.now = trial


def mend(engine: Engine, pattern: Mask, *, until: float) -> bool:
    """Complete a pattern over single ways, clean it, offer it; given up once it is clearly costlier than the best.

    False if it is so far from safe that others like it need not be tried.
    """
    pattern = pattern | engine.problem.forced
    before = pattern.copy()
    while float(engine.cost[pattern].sum()) < engine.best_cost * 1.02:
        lost = engine.missing(pattern)
        if not lost:
            engine.offer(pattern)
            if (pattern != before).any():
                end = clock.now() + 0.2 * max(0.0, until - clock.now())
                engine.offer(clean(engine.problem, pattern, engine.cost, until=end, singletons=engine.singletons))
            return True
        failing = list({demand.cell: demand for demand in reversed(lost)}.values())
        if len(failing) > _HOPELESS:
            return False
        for demand in failing[: max(4, len(failing) // 4)]:
            added = route(engine.problem, pattern, demand, engine.cost)
            if added is None or clock.now() > until:
                return True
            pattern[added] = True
    return True
