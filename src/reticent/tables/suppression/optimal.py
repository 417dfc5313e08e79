# SPDX-License-Identifier: Apache-2.0
"""Proved optima by cutting planes: the master's integer optimum, attacked, cut, solved again until it is safe."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reticent.base import clock
from reticent.solve.model import Status
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.exchange import FAR, QUICK, exchange
from reticent.tables.suppression.method import SuppressionMethod
from reticent.tables.suppression.neighbourhood import improve


@dataclass(frozen=True)
class Optimal(SuppressionMethod):
    """Hides the cheapest safe set of cells, and proves it; when time is up, the best found and the bound."""

    name: ClassVar[str] = "optimal"

    def _search(self, engine: Engine) -> None:
        start, total = clock.now(), engine.left()
        engine.relax_and_cut(until=start + 0.2 * total)
        _first_incumbent(engine, until=start + 0.3 * total)
        if engine.problem.n_cells <= QUICK:
            prove(engine, until=start + 0.5 * total)
        if engine.gap() > FAR:
            exchange(engine, until=start + (0.7 if engine.problem.n_cells <= QUICK else 0.85) * total)
        if engine.gap() > FAR and engine.master.circular:
            engine.relax_and_cut(until=start + 0.95 * total)  # no proof is near: rows of circles raise the bound most
        prove(engine, until=engine.deadline)
        improve(engine, until=engine.deadline)


def prove(engine: Engine, *, until: float) -> None:
    """Integer optima of the master, attacked and cut, until one is safe (and so optimal) or time is up."""
    while clock.now() < until and not engine.closed():
        left = until - clock.now()
        found = engine.master.integer(time_limit=max(1.0, 0.7 * left), start=_start(engine))
        if math.isfinite(found.bound):
            engine.master.bound = max(engine.bound, min(found.bound, engine.best_cost))
        if not found.feasible:
            break
        engine.say("proving the optimum")
        pattern = found.values > 0.5
        simple = engine.master.add_simple_rows(found.values)
        verdict = engine.judge(pattern, until=until)
        if verdict.safe:
            engine.offer(pattern)
            if found.status is not Status.OPTIMAL:
                break
        elif not simple and not verdict.cuts:
            break
        elif clock.now() < until:
            engine.repair(pattern)
        engine.master.relax()


def _start(engine: Engine) -> np.ndarray | None:
    return None if engine.best is None else engine.best.astype(np.float64)


def _first_incumbent(engine: Engine, *, until: float) -> None:
    found = engine.integer_rounds(engine.narrow(0.05), until=until, gap=1e-3, rounds=3)
    if engine.best is None and engine.problem.n_cells > QUICK:
        exchange(engine, until=until + 0.3 * engine.left())
    if engine.best is None:
        engine.complete(found > 0.5 if found is not None else engine.problem.forced)
    assert engine.best is not None
    engine.clean(until=until + 0.1 * engine.left())
