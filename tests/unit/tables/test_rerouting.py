"""Rerouting: a safe pattern becomes cheaper and stays safe."""

import math

import numpy as np

from reference.tables import crossed, flat, nested
from reticent.base import clock
from reticent.tables.attack import audit
from reticent.tables.attack.insiders import insiders
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.rerouting import reroute


def problem() -> SuppressionProblem:
    rng = np.random.default_rng(5)
    counts, relations = crossed([nested(2, 3), flat(5)], rng.integers(1, 6, (6, 5)).astype(float))
    leaves = counts.reshape(9, 6)[np.ix_([2, 3, 4, 6, 7, 8], range(1, 6))]
    values, _ = crossed([nested(2, 3), flat(5)], leaves * rng.integers(3, 30, (6, 5)))
    levels = 0.1 * values
    return SuppressionProblem.from_values(
        values,
        relations,
        primary=counts == 1,
        counts=counts.astype(np.int64),
        lower_protection=levels,
        upper_protection=levels,
    )


def test_everything_hidden_becomes_much_cheaper_and_stays_safe() -> None:
    table = problem()
    end = clock.now() + 20
    engine = Engine(table, table.cost, deadline=end, rng=np.random.default_rng(1), singletons=True)
    engine.offer(table.candidates | table.forced)
    dear = engine.best_cost
    reroute(engine, until=clock.now() + 3)
    assert engine.best is not None
    assert engine.best_cost < 0.5 * dear < math.inf
    assert audit(table, engine.best).n_exposed == 0
    assert not insiders(table, engine.best)
