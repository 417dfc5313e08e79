"""The attacker's intervals equal those of a plain linear program on the whole system."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from reference.tables import crossed, flat, full_intervals, nested
from reticent.tables.attack import audit
from reticent.tables.problem import SuppressionProblem

SHAPES = {
    "one dimension": [flat(5)],
    "two dimensions": [flat(4), flat(3)],
    "three dimensions": [flat(2), flat(3), flat(2)],
    "hierarchical": [nested(2, 2), flat(3)],
}


@given(kind=st.sampled_from(sorted(SHAPES)), seed=st.integers(0, 10**6), share=st.floats(0.2, 0.9))
def test_intervals_agree(kind: str, seed: int, share: float) -> None:
    trees = SHAPES[kind]
    rng = np.random.default_rng(seed)
    inner = rng.integers(0, 30, [sum(not c for c in t) for t in trees]).astype(float)
    values, relations = crossed(trees, inner)
    hidden = rng.random(len(values)) < share
    primary = hidden & (rng.random(len(values)) < 0.3)
    upper = [np.inf, values * 1.5 + 3, values + 40][seed % 3]
    problem = SuppressionProblem.from_values(values, relations, primary=primary, upper_bound=upper)
    found = audit(problem, hidden)
    wanted = full_intervals(problem, hidden)
    for cell, low, high in zip(found.cells, found.low, found.high, strict=True):
        assert (low, high) == pytest.approx(wanted[int(cell)], abs=1e-5), f"cell {cell}"


@given(kind=st.sampled_from(sorted(SHAPES)), seed=st.integers(0, 10**6), share=st.floats(0.3, 0.95))
def test_certifying_finds_the_same_exposed_cells(kind: str, seed: int, share: float) -> None:
    """Levels, sliding levels, no levels at all, zero cells hidden: the fast proof and the exact ends agree."""
    trees = SHAPES[kind]
    rng = np.random.default_rng(seed)
    inner = rng.integers(0, 20, [sum(not c for c in t) for t in trees]).astype(float)
    values, relations = crossed(trees, inner)
    hidden = rng.random(len(values)) < share
    primary = hidden & (rng.random(len(values)) < 0.5)
    level = [0.0, 0.2, 0.5][seed % 3] * values
    problem = SuppressionProblem.from_values(
        values,
        relations,
        primary=primary,
        lower_protection=level,
        upper_protection=level,
        sliding_protection=level * (1 + seed % 2),
        upper_bound=[np.inf, values * 1.5 + 3][seed % 2],
    )
    exact, fast = audit(problem, hidden), audit(problem, hidden, mode="certify")
    assert fast.exposed_cells.tolist() == exact.exposed_cells.tolist()
    proved = ~fast.exposed
    assert (fast.low >= exact.low - 1e-6)[proved].all()
    assert (fast.high <= exact.high + 1e-6)[proved].all()


@given(seed=st.integers(0, 10**6), share=st.floats(0.4, 0.95))
def test_whole_numbers_are_attacked_as_such(seed: int, share: float) -> None:
    """Counts of a 3-D table: the interval is that of the integer program on the whole system."""
    rng = np.random.default_rng(seed)
    values, relations = crossed([flat(2), flat(3), flat(2)], rng.integers(0, 3, (2, 3, 2)).astype(float))
    hidden = rng.random(len(values)) < share
    primary = hidden & (values == 1)
    problem = SuppressionProblem.from_values(values, relations, primary=primary, upper_bound=40.0, integral=True)
    found = audit(problem, hidden)
    bounds = Bounds(np.where(hidden, 0.0, values), np.where(hidden, 40.0, values))
    system = LinearConstraint(relations.matrix().toarray(), 0.0, 0.0)
    for cell, low, high in zip(found.cells, found.low, found.high, strict=True):
        for sign, end in ((1.0, low), (-1.0, high)):
            objective = np.zeros(len(values))
            objective[cell] = sign
            wanted = milp(objective, constraints=system, bounds=bounds, integrality=np.ones(len(values)))
            assert sign * wanted.fun == pytest.approx(end, abs=1e-6)
    fast = audit(problem, hidden, mode="certify")
    assert fast.exposed_cells.tolist() == found.exposed_cells.tolist()
