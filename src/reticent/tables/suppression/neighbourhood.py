# SPDX-License-Identifier: Apache-2.0
"""Neighbourhood search: free part of the pattern, solve that part exactly, let the attacker judge, keep what is better."""

import numpy as np

from reticent.base import clock
from reticent.base.arrays import Mask
from reticent.tables.suppression.engine import Engine


def improve(engine: Engine, *, until: float) -> None:
    """Improve the best pattern until time is up, the bound is met, or nothing has helped for long."""
    size, failures = 0.15, 0
    while clock.now() < until and failures < 40 and engine.best is not None:
        if engine.closed():
            return
        engine.say("improving the pattern")
        better = _try_neighbourhood(engine, size, until)
        failures = 0 if better else failures + 1
        size = min(0.6, size * 1.15) if failures and failures % 5 == 0 else size


def _try_neighbourhood(engine: Engine, size: float, until: float) -> bool:
    best = engine.best
    assert best is not None
    region = _region(engine, size)
    before = engine.best_cost
    fixed_in, fixed_out = best & ~region, engine.problem.candidates & ~best & ~region
    for _ in range(12):
        left = until - clock.now()
        if left <= 0:
            return False
        found = engine.master.integer(
            time_limit=max(0.3, min(left / 4, 5.0)), relative_gap=1e-3, fixed_in=fixed_in, fixed_out=fixed_out
        )
        if not found.feasible or found.objective >= before - 1e-6 * max(1.0, before):
            return False
        pattern = found.values > 0.5
        simple = engine.master.add_simple_rows(found.values)
        verdict = engine.judge(pattern, until=until)
        if verdict.safe:
            return engine.offer(pattern)
        if not simple and not verdict.cuts:
            return False
    return False


def _region(engine: Engine, size: float) -> Mask:
    """Cells around a few random secondaries, grown over relations until a share of the secondaries is inside."""
    problem = engine.problem
    best = engine.best
    assert best is not None
    indptr, rows, _ = problem.relations.by_cell
    secondaries = np.flatnonzero(best & problem.candidates)
    region = np.zeros(problem.n_cells, dtype=bool)
    if len(secondaries) == 0:
        return region
    wanted = max(3, min(int(size * len(secondaries)), 400))
    weights = engine.cost[secondaries] + 1e-9
    front = [int(engine.rng.choice(secondaries, p=weights / weights.sum()))]
    inside = 0
    while front and inside < wanted:
        cell = front.pop(int(engine.rng.integers(len(front))))
        for row in rows[indptr[cell] : indptr[cell + 1]].tolist():
            cells = problem.relations.row(row)[0]
            fresh = cells[~region[cells]]
            region[fresh] = True
            hidden = fresh[best[fresh]]
            inside += int(problem.candidates[hidden].sum())
            front.extend(hidden.tolist())
    return region
