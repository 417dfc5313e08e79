# SPDX-License-Identifier: Apache-2.0
"""Rerouting: take part of the pattern out, serve what that leaves unsafe by other movements, keep what is cheaper.

For tables in which the attack on a pattern takes so long that cells cannot be tried one by one.
"""

import numpy as np

from reticent.base import clock
from reticent.base.arrays import Mask
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.routing import route
from reticent.tables.suppression.together import Together
from reticent.tables.suppression.watch import SETTLED, Watch, serve_all

_SHARES = (0.15, 0.4)  # of the secondaries that are taken out at once
_PATIENCE = 12  # trials without success that end the search


def reroute(engine: Engine, *, until: float) -> None:
    """Improve the best pattern until time is up, the bound is met, or nothing has helped for long."""
    failures, longest = 0, 0.0
    everything = Together(engine.problem, engine.problem.candidates | engine.problem.forced, engine.cost)
    # over the cells hidden now (that publishes some), or over all: worth trying once nothing more can be published
    gains = np.tile((np.inf, 1e-9), (len(_SHARES), 1))
    while failures < _PATIENCE and engine.best is not None and not engine.closed():
        start = clock.now()
        if start + longest > until:
            return
        engine.say("moving cells another way")
        before = engine.best_cost
        # what has gained most in its time so far, is tried next
        share, wide = np.unravel_index(int(np.argmax(gains)), gains.shape)
        together = everything if wide else Together(engine.problem, engine.best, engine.cost)
        better = _try(engine, together, _SHARES[int(share)], until)
        seconds = clock.now() - start
        longest = max(longest, seconds)
        gains[share, wide] = (before - engine.best_cost) / seconds
        failures = 0 if better else failures + 1
        if gains.max() <= 0:
            gains[:] = np.inf


def _try(engine: Engine, together: Together, share: float, until: float) -> bool:
    best = engine.best
    assert best is not None
    secondaries = np.flatnonzero(best & engine.problem.candidates)
    weights = np.sqrt(engine.cost[secondaries]) + 1e-9
    size = max(1, int(share * len(secondaries)))
    pattern = best.copy()
    pattern[engine.rng.choice(secondaries, size, replace=False, p=weights / weights.sum())] = False
    watch = engine.watch()
    pattern = serve_all(watch, together, pattern, engine.cost, until=until, give_up=engine.best_cost)
    return _finish(engine, watch, pattern)


def _finish(engine: Engine, watch: Watch, pattern: Mask) -> bool:
    """Ways for the few demands that may still be open, then offer; given up where it becomes too costly."""
    while float(engine.cost[pattern].sum()) < engine.best_cost:
        lost = watch.demands(pattern)
        if not lost:
            return engine.offer(pattern)
        if len({d.cell for d in lost}) > SETTLED:
            return False
        pattern = pattern.copy()
        for demand in lost:
            added = route(engine.problem, pattern, demand, engine.cost)
            if added is None or len(added) == 0:
                return False
            pattern[added] = True
    return False
