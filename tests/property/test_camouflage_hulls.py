"""Camouflage: an attacker with linear programs and insider values never narrows a record's protected interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from reticent.base.errors import InfeasibleError
from reticent.base.randomness import as_secret
from reticent.queries.camouflage.hulls import BlockHull, CommonHull, Demand, block_hull, common_hull
from reticent.queries.camouflage.intervals import (
    least_quadratic,
    mean_interval,
    outward,
    quantile_interval,
    regression_intervals,
    sum_interval,
    variance_interval,
)


def _demand(n: int, seed: int) -> Demand:
    values = np.random.default_rng(seed).uniform(10, 100, n).round()
    return Demand(values, 0.8 * values, 1.2 * values, floor=0.0)


def _hulls(n: int, seed: int, insiders: int) -> tuple[Demand, CommonHull | BlockHull]:
    demand = _demand(n, seed)
    group = np.random.default_rng(seed + 1).integers(0, 2, n)
    if insiders:
        ids = np.arange(n, dtype=np.uint64)
        return demand, block_hull(demand, group, insiders=insiders, secret=as_secret(seed), ids=ids)
    return demand, common_hull(demand, group, vectors=4, secret=as_secret(seed))


@given(st.integers(3, 12), st.integers(0, 10**6), st.integers(0, 2))
def test_transcripts_narrow_nothing(n: int, seed: int, insiders: int) -> None:
    """Many sums are asked; an attacker who also knows `insiders` values bounds every other record by programs."""
    demand, hull = _hulls(n, seed, insiders)
    rng = np.random.default_rng(seed + 2)
    queries = np.unique(rng.random((40, n)) < 0.5, axis=0)
    queries = np.concatenate([queries[queries.any(axis=1)], np.eye(n, dtype=bool)])
    ranges = [outward(sum_interval(hull, np.flatnonzero(q)), 0.01) for q in queries]
    for q, (low, high) in zip(queries, ranges):
        assert low <= demand.values[q].sum() <= high
    matrix = np.concatenate([queries, -queries.astype(int)]).astype(float)
    limits = np.array([high for _, high in ranges] + [-low for low, _ in ranges])
    known = rng.choice(n, insiders, replace=False)
    bounds = [(0.0, None)] * n
    for record in known:
        bounds[record] = (demand.values[record], demand.values[record])
    for record in range(n):
        if record in known:
            continue
        cost = np.eye(n)[record]
        low = linprog(cost, A_ub=matrix, b_ub=limits, bounds=bounds, method="highs")
        high = linprog(-cost, A_ub=matrix, b_ub=limits, bounds=bounds, method="highs")
        assert low.fun <= demand.lower[record] + 1e-6
        assert -high.fun >= demand.upper[record] - 1e-6


@given(st.integers(3, 12), st.integers(0, 10**6), st.integers(1, 3))
def test_insiders_leave_a_whole_hull(n: int, seed: int, insiders: int) -> None:
    """Even with the hull itself known: fixing t records of a block leaves every other record its whole range."""
    demand, hull = _hulls(n, seed, insiders)
    assert isinstance(hull, BlockHull)
    for block in range(len(hull.odd)):
        members = np.flatnonzero(hull.block == block)
        patterns = np.array(np.meshgrid(*[[0, 1]] * len(members))).reshape(len(members), -1).T
        corners = patterns[(patterns.sum(axis=1) % 2 == 1) == hull.odd[block]]
        points = hull.low[members] + corners * (hull.high - hull.low)[members]
        for target in range(len(members)):
            others = [m for m in range(len(members)) if m != target][:insiders]
            equal = np.concatenate([points[:, others].T, np.ones((1, len(points)))])
            right = np.append(demand.values[members[others]], 1.0)
            least = linprog(points[:, target], A_eq=equal, b_eq=right, method="highs")
            most = linprog(-points[:, target], A_eq=equal, b_eq=right, method="highs")
            assert least.fun <= demand.lower[members[target]] + 1e-6
            assert -most.fun >= demand.upper[members[target]] - 1e-6


@given(st.integers(3, 9), st.integers(0, 10**6))
def test_truth_is_a_hidden_combination(n: int, seed: int) -> None:
    demand, hull = _hulls(n, seed, 0)
    assert isinstance(hull, CommonHull)
    assert np.allclose(hull.shares @ hull.vectors, demand.values)
    assert (np.abs(hull.vectors - demand.values) > 1e-9).any(axis=1).all()
    assert (hull.vectors >= 0).all()


@given(st.integers(4, 10), st.integers(0, 10**6), st.integers(0, 1))
def test_points_of_the_hull_lie_in_every_interval(n: int, seed: int, insiders: int) -> None:
    demand, hull = _hulls(n, seed, insiders)
    rng = np.random.default_rng(seed)
    rows = np.arange(n)
    design = np.column_stack([np.ones(n), rng.uniform(0, 1, n)])
    points = [demand.values]
    if isinstance(hull, CommonHull):
        points += [weights @ hull.vectors for weights in rng.dirichlet(np.ones(4), 20)]
    intervals = {
        "mean": mean_interval(hull, rows),
        "variance": variance_interval(hull, rows),
        "median": quantile_interval(hull, rows, 0.5),
        "max": quantile_interval(hull, rows, 1.0),
        "slope": regression_intervals(hull, rows, design)[1],
    }
    for point in points:
        found = {
            "mean": point.mean(),
            "variance": point.var(ddof=1),
            "median": np.median(point),
            "max": point.max(),
            "slope": np.linalg.lstsq(design, point, rcond=None)[0][1],
        }
        for name, value in found.items():
            low, high = outward(intervals[name], 1e-6)
            assert low <= value <= high, name


@given(st.integers(3, 8), st.integers(0, 10**6), st.integers(1, 2))
def test_block_range_equals_enumeration(n: int, seed: int, insiders: int) -> None:
    _, hull = _hulls(n, seed, insiders)
    assert isinstance(hull, BlockHull)
    weight = np.random.default_rng(seed).normal(size=n).round(1)
    best = -np.inf
    for pattern in np.ndindex(*[2] * n):
        highs = np.array(pattern, dtype=bool)
        parity = [(highs[hull.block == b].sum() % 2 == 1) == hull.odd[b] for b in range(len(hull.odd))]
        if all(parity):
            best = max(best, float(weight @ np.where(highs, hull.high, hull.low)))
    assert hull.linear_range(np.arange(n), weight)[1] == pytest.approx(best)


def test_sums_are_far_narrower_than_without_cancelling() -> None:
    demand, hull = _hulls(2000, 5, 0)
    low, high = sum_interval(hull, np.arange(2000))
    naive = float((demand.upper - demand.lower).sum())
    assert (high - low) < naive / np.sqrt(2000)


def test_least_quadratic_on_a_known_case() -> None:
    assert least_quadratic(np.diag([1.0, 1.0])) == pytest.approx(0.5, abs=1e-6)


def test_values_at_a_known_bound_are_refused() -> None:
    demand = Demand(np.array([0.0, 5.0]), np.array([-1.0, 4.0]), np.array([1.0, 6.0]), floor=0.0)
    with pytest.raises(InfeasibleError, match="1 records cannot be protected"):
        common_hull(demand, np.zeros(2, dtype=np.int64), vectors=3, secret=as_secret(1))
