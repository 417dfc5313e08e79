"""One movement for many primaries: with all cells free to move it protects every primary that can be protected."""

import time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import crossed, flat, nested
from reticent.tables.attack import audit
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.together import move_together


@given(seed=st.integers(0, 10**6), level=st.sampled_from([0.0, 0.1, 0.2]))
def test_what_a_movement_uses_protects_what_it_serves(seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    values, relations = crossed([nested(2, 3), flat(4)], rng.integers(3, 60, (6, 4)).astype(float))
    primary = rng.random(len(values)) < 0.15
    problem = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=level * values, upper_protection=level * values
    )
    lost = np.flatnonzero(primary).astype(np.int32)
    if len(lost) == 0:
        return
    pattern = problem.forced
    for _ in range(6):
        grown = move_together(problem, pattern, lost, problem.cost, rng, until=time.monotonic() + 5)
        assert (grown >= pattern).all()
        found = audit(problem, grown, mode="certify")
        pattern, lost = grown, np.asarray(found.exposed_cells, dtype=np.int32)
        if len(lost) == 0:
            break
    assert len(lost) == 0
