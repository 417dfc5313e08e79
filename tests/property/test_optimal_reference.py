"""The method `optimal` finds what trying all patterns finds."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference.tables import Tree, cheapest_by_trying, crossed, flat, nested
from reticent.base.errors import InfeasibleError
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Optimal

MOST = 16  # candidates: 65,536 patterns
TREES: dict[str, list[Tree]] = {
    "one list": [flat(5)],
    "groups": [nested(2, 3)],
    "2 by 2": [flat(2), flat(2)],
    "3 by 2": [flat(3), flat(2)],
    "3 by 3": [flat(3), flat(3)],
    "2 by 2 by 2": [flat(2), flat(2), flat(2)],
    "groups by 2": [nested(2, 2), flat(2)],
}


def small_problem(trees: list[Tree], seed: int, level: float) -> SuppressionProblem:
    """A table with random values, numbers of respondents, unsafe and frozen cells."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(0, 15, [sum(not children for children in tree) for tree in trees]).astype(float)
    values, relations = crossed(trees, inner)
    counts, _ = crossed(trees, np.where(inner > 0, rng.integers(1, 4, inner.shape), 0).astype(float))
    primary = (rng.random(len(values)) < 0.25) & (values > 0)
    frozen = (rng.random(len(values)) < 0.15) & ~primary
    others = rng.permutation(np.flatnonzero(~primary & ~frozen))
    frozen[others[MOST:]] = True
    return SuppressionProblem.from_values(
        values,
        relations,
        primary=primary,
        frozen=frozen,
        lower_protection=level * values,
        upper_protection=level * values,
        upper_bound=[np.inf, 2 * values + 5][seed % 2],
        counts=counts.astype(np.int64),
    )


@pytest.mark.parametrize("singletons", [False, True])
@given(shape=st.sampled_from(sorted(TREES)), seed=st.integers(0, 10**6), level=st.sampled_from([0, 0.2]))
@example(shape="2 by 2 by 2", seed=159, level=0)
@example(shape="3 by 2", seed=192, level=0)
def test_optimal_equals_exhaustive(singletons: bool, shape: str, seed: int, level: float) -> None:
    problem = small_problem(TREES[shape], seed, level)
    wanted = cheapest_by_trying(problem, singletons=singletons)
    method = Optimal(singletons=singletons)
    if np.isinf(wanted):
        with pytest.raises(InfeasibleError):
            method.protect(problem, time_limit=20)
        return
    found = method.protect(problem, time_limit=20)
    assert found.status == "optimal"
    assert found.cost == pytest.approx(wanted)
