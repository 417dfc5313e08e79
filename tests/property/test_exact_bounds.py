"""Bounds in exact arithmetic: never above the cheapest safe pattern, and what the solver says up to its rounding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from property.test_circles import overlapping
from reference.tables import cheapest_by_trying
from reticent.base import clock
from reticent.tables.suppression.engine import Engine


@given(st.integers(0, 2**20), st.sampled_from([0.1, 0.4]))
def test_multipliers_prove_the_bound(seed: int, level: float) -> None:
    problem = overlapping(1, seed, level)
    engine = Engine(problem, problem.cost, deadline=clock.now() + 60, rng=np.random.default_rng(seed), singletons=False)
    cheapest = cheapest_by_trying(problem)
    if np.isinf(cheapest):
        return
    engine.relax_and_cut(until=clock.now() + 60)
    found = engine.master.exact_bound()
    assert abs(float(found) - engine.bound) <= 1e-6 * max(1.0, engine.bound)
    assert found <= cheapest
