"""The method `optimal` finds what trying all patterns finds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference.tables import Together, Tree, cheapest_by_trying, crossed, flat, nested
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


def counted_problem(trees: list[Tree], seed: int, minimum: int) -> SuppressionProblem:
    """A table of counts as everybody sees it: somebody is in every hidden cell, and small ones must reach the minimum."""
    rng = np.random.default_rng(seed)
    inner = rng.poisson(rng.uniform(1, 4), [sum(not children for children in tree) for tree in trees]).astype(float)
    values, relations = crossed(trees, inner)
    primary, empty = (values > 0) & (values < minimum), values == 0
    frozen = (rng.random(len(values)) < 0.1) & ~primary & ~empty
    others = rng.permutation(np.flatnonzero(~primary & ~frozen & ~empty))
    frozen[others[MOST:]] = True
    low, _ = crossed(trees, np.minimum(inner, 1.0))
    return SuppressionProblem.from_values(
        values, relations, primary=primary, frozen=frozen, empty=empty, integral=True, lower_bound=low,
        lower_protection=np.minimum(1.0, values - low), upper_protection=minimum - values, counts=values.astype(np.int64),
    )  # fmt: skip


@given(shape=st.sampled_from(sorted(TREES)), seed=st.integers(0, 10**6), minimum=st.sampled_from([3, 4]))
def test_optimal_equals_exhaustive_for_counts(shape: str, seed: int, minimum: int) -> None:
    problem = counted_problem(TREES[shape], seed, minimum)
    check(Optimal(singletons=False), problem)


def summed_problem(trees: list[Tree], seed: int, minimum: int) -> SuppressionProblem:
    """A table of magnitudes in which few respondents are in one cell, or in several; sums of cells are judged too."""
    rng = np.random.default_rng(seed)
    shape = [sum(not children for children in tree) for tree in trees]
    members = [set(rng.integers(0, 12, rng.integers(1, 5)).tolist()) for _ in range(int(np.prod(shape)))]
    sizes = np.array([float(rng.integers(5, 15) * len(m)) for m in members]).reshape(shape)
    values, relations = crossed(trees, sizes)
    places, _ = crossed(trees, np.arange(len(members)).reshape(shape).astype(float) + 1000.0)
    totals = set(relations.cells[relations.coefs < 0].tolist())
    inner = [cell for cell in range(len(values)) if cell not in totals]
    who = [members[int(places[cell]) - 1000] for cell in inner]
    judge = Together(relations, inner, who, minimum)
    primary = np.array([judge.count([cell]) < minimum for cell in range(len(values))])
    frozen = (rng.random(len(values)) < 0.1) & ~primary
    others = rng.permutation(np.flatnonzero(~primary & ~frozen))
    frozen[others[12:]] = True
    problem = SuppressionProblem.from_values(values, relations, primary=primary, frozen=frozen)
    return replace(problem, judge=judge)


@given(shape=st.sampled_from(sorted(TREES)), seed=st.integers(0, 10**6), minimum=st.sampled_from([3, 4]))
def test_optimal_equals_exhaustive_with_sums(shape: str, seed: int, minimum: int) -> None:
    """Sums that follow from what is published are judged, and nothing is refused where a pattern exists."""
    problem = summed_problem(TREES[shape], seed, minimum)
    check(Optimal(singletons=False), problem)


def check(method: Optimal, problem: SuppressionProblem) -> None:
    """The method finds what trying finds."""
    wanted = cheapest_by_trying(problem)
    if np.isinf(wanted):
        with pytest.raises(InfeasibleError):
            method.protect(problem, time_limit=20)
        return
    found = method.protect(problem, time_limit=20)
    assert found.status == "optimal"
    assert found.cost == pytest.approx(wanted)
