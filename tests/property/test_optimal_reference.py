"""The method `optimal` finds what trying all patterns finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import cheapest_by_trying, crossed, flat
from reticent.base.errors import InfeasibleError
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Optimal


@given(
    shape=st.sampled_from([(2, 2), (3, 2), (2, 2), (5,)]), seed=st.integers(0, 10**6), level=st.sampled_from([0, 0.2])
)
def test_optimal_equals_exhaustive(shape: tuple[int, ...], seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    inner = rng.integers(0, 15, shape).astype(float)
    values, relations = crossed([flat(n) for n in shape], inner)
    primary = (rng.random(len(values)) < 0.25) & (values > 0)
    frozen = (rng.random(len(values)) < 0.15) & ~primary
    problem = SuppressionProblem.from_values(
        values,
        relations,
        primary=primary,
        frozen=frozen,
        lower_protection=level * values,
        upper_protection=level * values,
        upper_bound=[np.inf, 2 * values + 5][seed % 2],
    )
    wanted = cheapest_by_trying(problem)
    if np.isinf(wanted):
        with pytest.raises(InfeasibleError):
            Optimal().protect(problem, time_limit=20)
        return
    found = Optimal().protect(problem, time_limit=20)
    assert found.status == "optimal"
    assert found.cost == pytest.approx(wanted)
