# SPDX-License-Identifier: Apache-2.0
"""The default: relaxation with cuts, a small integer program near it, completion, reverse delete, neighbourhoods."""

from dataclasses import dataclass
from typing import ClassVar

from reticent.base import clock
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.exchange import FAR, QUICK, exchange
from reticent.tables.suppression.method import SuppressionMethod
from reticent.tables.suppression.neighbourhood import improve
from reticent.tables.suppression.optimal import prove
from reticent.tables.suppression.rerouting import reroute

_LEAST = 0.8  # seconds for each of the first two steps
_SURE = 0.9  # share of a cell in the relaxation from which on it is hidden at once
_PROVABLE = 20_000  # cells up to which the whole integer program is worth a try


@dataclass(frozen=True)
class Heuristic(SuppressionMethod):
    """Hides further cells at low cost, with a proved lower bound beside it; the default for tables of any size."""

    name: ClassVar[str] = "heuristic"

    def _search(self, engine: Engine) -> None:
        start, total = clock.now(), engine.left()
        # A short limit is best spent on the relaxation, a long one on what comes after. Less than a second is not worth
        # saving: what is not looked for here is paid for when the pattern is completed.
        support = engine.relax_and_cut(until=start + max(0.2 * total, min(0.5 * total, 5.0), _LEAST))
        if engine.crowded:
            _search_crowded(engine, until=start + 0.97 * total)
            return
        until = clock.now() + max(0.08 * total, min(0.5 * total, 2.5), _LEAST)
        found = engine.integer_rounds(engine.narrow(0.05), until=until, gap=1e-3, rounds=4)
        if engine.best is None and engine.problem.n_cells > QUICK and engine.left() > 0.6 * total:
            # the relaxation is far from safe: other starts may be cheaper than what its patterns grow into
            exchange(engine, until=start + 0.6 * total)
        if engine.best is None:
            engine.complete(found > 0.5 if found is not None else engine.problem.forced)
            if support is not None:
                engine.offer(support)
        assert engine.best is not None
        engine.clean(until=clock.now() + 0.5 * engine.left())
        if engine.gap() > FAR and engine.problem.n_cells > QUICK and engine.left() > 0.1 * total:
            exchange(engine, until=start + 0.95 * total)
        if engine.problem.n_cells <= _PROVABLE:
            prove(engine, until=clock.now() + (0.3 if engine.problem.n_cells <= QUICK else 0.6) * engine.left())
        if engine.gap() > FAR and engine.problem.n_cells <= QUICK:
            exchange(engine, until=clock.now() + 0.6 * engine.left())  # small, and yet no proof is near
        improve(engine, until=start + 0.97 * total)


def _search_crowded(engine: Engine, *, until: float) -> None:
    """Too many primaries for rounds of integer programs: from what the relaxation is sure of, by joint movements."""
    engine.complete(engine.master.x > _SURE)
    reroute(engine, until=until)
