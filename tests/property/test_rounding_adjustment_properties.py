"""Rounding and adjustment on generated tables: brute force, additivity, bounds, unbiasedness, bad input."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from reticent.base.errors import InfeasibleError, ParameterError
from reticent.base.randomness import as_secret
from reticent.solve.quadratic import QuadraticModel, solve_quadratic
from reticent.tables.perturb.adjustment import adjust
from reticent.tables.perturb.rounding import round_controlled, round_randomly, round_rapidly
from reticent.tables.problem import SuppressionProblem
from table_makers import with_totals

small_tables = arrays(np.int64, (2, 3), elements=st.integers(0, 12))
cubes = arrays(np.int64, (2, 3, 2), elements=st.integers(0, 9))


def _best_by_enumeration(inner: np.ndarray, base: int) -> float:
    values, _, _ = with_totals(inner)
    choices = [[x] if x % base == 0 else [x - x % base, x - x % base + base] for x in inner.ravel()]
    best = np.inf
    for chosen in product(*choices):
        rounded, _, _ = with_totals(np.array(chosen).reshape(inner.shape))
        if np.all(np.abs(rounded - values) < base):
            best = min(best, float(np.abs(rounded - values).sum()))
    return best


@given(small_tables, st.sampled_from([3, 5]))
def test_controlled_rounding_equals_enumeration(inner, base) -> None:
    values, relations, _ = with_totals(inner)
    rounded = round_controlled(values, relations, base)
    assert rounded.distance == _best_by_enumeration(inner, base)
    assert np.all(rounded.values % base == 0)


@given(cubes, st.sampled_from([3, 5]))
def test_controlled_rounding_is_additive_and_near(inner, base) -> None:
    values, relations, _ = with_totals(inner)
    rounded = round_controlled(values, relations, base, steps=2)
    assert np.abs(relations.residuals(rounded.values)).max() == 0
    assert np.all(np.abs(rounded.values - values) < base * (rounded.steps + 1))
    assert np.all(rounded.values >= 0)


@given(cubes, st.sampled_from([3, 5]))
def test_rapid_rounding_is_additive(inner, base) -> None:
    values, relations, ids = with_totals(inner)
    rounded = round_rapidly(values, relations, base)
    assert np.abs(relations.residuals(rounded.values)).max() == 0
    leaves = ids[:-1, :-1, :-1].ravel()
    assert np.all(np.abs(rounded.values[leaves] - values[leaves]) <= base / 2)


def test_relax_and_fix_gives_an_additive_table(monkeypatch) -> None:
    from reticent.tables.perturb import rounding

    monkeypatch.setattr(rounding, "MONOLITH", 10)
    inner = np.random.default_rng(3).integers(0, 20, (5, 4, 3))
    values, relations, _ = with_totals(inner)
    rounded = round_controlled(values, relations, 5, steps=2, time_limit=10)
    assert np.abs(relations.residuals(rounded.values)).max() == 0
    assert rounded.bound is not None
    assert rounded.bound <= rounded.distance


def test_random_rounding_is_unbiased_and_repeatable() -> None:
    values = np.tile([1.0, 2.0, 3.0, 7.0], 20_000)
    rounded = round_randomly(values, 3, secret=as_secret(1))
    for value in (1, 2, 3, 7):
        found = rounded[values == value]
        error = found.std() / np.sqrt(len(found))
        assert abs(found.mean() - value) <= 4 * error + 1e-12
    assert np.array_equal(rounded, round_randomly(values, 3, secret=as_secret(1)))


@given(small_tables, st.data())
def test_adjustment_moves_sensitive_cells_and_keeps_sums(inner, data) -> None:
    values, relations, ids = with_totals(inner + 1)
    sensitive = data.draw(st.sets(st.sampled_from(ids[:-1, :-1].ravel().tolist()), min_size=1, max_size=3))
    primary = np.isin(np.arange(len(values)), list(sensitive))
    problem = SuppressionProblem.from_values(values, relations, primary=primary, lower_protection=1, upper_protection=2)
    for norm in ("l1", "linf"):
        adjusted = adjust(problem, secret=None, norm=norm)
        move = adjusted.values - values
        assert np.abs(relations.residuals(adjusted.values)).max() < 1e-6
        assert np.all((move[primary] >= 2 - 1e-6) | (move[primary] <= -1 + 1e-6))
        assert np.all(adjusted.values >= -1e-6)
    whole = adjust(problem, secret=None, integers=True)
    assert np.array_equal(whole.values, np.rint(whole.values))


@given(arrays(np.float64, 6, elements=st.floats(0.2, 5)), st.integers(0, 3))
def test_quadratic_solver_agrees_with_scipy(curvature, fixed) -> None:
    matrix = np.array([[1, 1, 1, -1, 0, 0], [0, 0, 1, 1, -1, -1.0]])
    target = np.array([1.0, -2.0])
    low, high = np.full(6, -1.5), np.full(6, 2.5)
    low[fixed] = high[fixed] = 0.5
    from scipy import sparse

    found = solve_quadratic(QuadraticModel(curvature, sparse.csr_array(matrix), target, low, high))
    wanted = minimize(
        lambda x: 0.5 * curvature @ x**2, np.zeros(6), jac=lambda x: curvature * x, bounds=list(zip(low, high)),
        constraints={"type": "eq", "fun": lambda x: matrix @ x - target, "jac": lambda x: matrix}, method="SLSQP",
    )  # fmt: skip
    assert 0.5 * curvature @ found**2 == pytest.approx(wanted.fun, rel=1e-5, abs=1e-7)
    assert np.allclose(matrix @ found, target, atol=1e-7)


def test_five_dimensions_are_rounded_and_adjusted() -> None:
    inner = np.random.default_rng(5).integers(0, 9, (2, 2, 2, 2, 2))
    values, relations, _ = with_totals(inner)
    rounded = round_controlled(values, relations, 5, steps=2, time_limit=20)
    assert np.abs(relations.residuals(rounded.values)).max() == 0
    assert np.abs(rounded.values - values).max() < 5 * (rounded.steps + 1)
    problem = SuppressionProblem.from_values(
        values, relations, primary=values == 1, lower_protection=1, upper_protection=2
    )
    assert np.abs(relations.residuals(adjust(problem, secret=None, time_limit=20).values)).max() < 1e-6


def test_levels_need_steps_and_the_number_is_told() -> None:
    values, relations, _ = with_totals(np.array([[6, 12], [9, 3]]))
    needs = np.where(values == 6, 7.0, 0.0)
    with pytest.raises(InfeasibleError, match="allow more steps"):
        round_controlled(values, relations, 5, lower_protection=needs, upper_protection=needs)
    rounded = round_controlled(values, relations, 5, steps=4, lower_protection=needs, upper_protection=needs)
    assert rounded.steps == 1
    reach = 5 * (rounded.steps + 1)
    assert np.all(rounded.values - reach <= values - needs)
    assert np.all(rounded.values + reach >= values + needs)


def test_rapid_is_the_way_out_where_controlled_finds_nothing() -> None:
    values, relations, _ = with_totals(np.array([[6, 12], [9, 3]]))
    needs = np.where(values == 6, 7.0, 0.0)
    rounded = round_controlled(values, relations, 5, lower_protection=needs, upper_protection=needs, rapid=True)
    assert rounded.status == "rapid"
    assert np.array_equal(rounded.values, round_rapidly(values, relations, 5).values)


def _many_sensitive(n: int) -> SuppressionProblem:
    values, relations, _ = with_totals(np.random.default_rng(n).integers(1, 40, (n, n)))
    primary = values < 12
    return SuppressionProblem.from_values(values, relations, primary=primary, lower_protection=1, upper_protection=3)


def test_block_descent_comes_near_the_optimum(monkeypatch) -> None:
    from reticent.tables.perturb import adjustment

    problem = _many_sensitive(9)
    best = adjust(problem, secret=None, time_limit=20)
    assert best.status == "optimal"
    monkeypatch.setattr(adjustment, "BLOCK", 3)
    blocks = adjust(problem, secret=None, time_limit=10)
    assert blocks.status == "stopped"
    assert blocks.bound <= best.distance + 1e-6 <= blocks.distance + 2e-6
    assert blocks.distance <= 1.25 * best.distance
    whole = adjust(problem, secret=None, time_limit=10, integers=True)
    assert np.array_equal(whole.values, np.rint(whole.values))


def test_random_directions_are_drawn_from_the_secret_alone() -> None:
    problem = _many_sensitive(12)
    one, again, other = (adjust(problem, signs="random", secret=as_secret(k)).up for k in (1, 1, 2))
    drawn = problem.primary & (problem.values > 1)
    assert np.array_equal(one, again)
    assert 0.3 < one[drawn].mean() < 0.7
    assert (one != other)[drawn].any()
    with pytest.raises(ParameterError, match="need a secret"):
        adjust(problem, secret=None, signs="random")


def test_fixed_totals_stay() -> None:
    from reticent.tables.perturb.adjustment import largest_total

    problem = _many_sensitive(5)
    fixed = largest_total(problem)
    assert fixed.sum() == 1
    held = adjust(problem, secret=None, fixed=fixed)
    assert held.values[fixed] == pytest.approx(problem.values[fixed])
    everything = ~problem.primary
    inner = np.zeros(problem.n_cells, dtype=bool)
    inner[problem.relations.cells[problem.relations.coefs > 0]] = True
    margins = everything & ~inner
    kept = adjust(problem, secret=None, fixed=margins, integers=True)
    assert np.array_equal(kept.values[margins], problem.values[margins])


def test_bad_input_is_refused() -> None:
    values, relations, _ = with_totals(np.array([[1, 2], [3, 4]]))
    with pytest.raises(ParameterError, match="base must be a number above 0"):
        round_controlled(values, relations, 0)
    with pytest.raises(ParameterError, match="time_limit must be"):
        round_controlled(values, relations, 3, time_limit=0)
    problem = SuppressionProblem.from_values(
        values, relations, primary=values == 1, lower_protection=3, upper_protection=15, upper_bound=12
    )
    with pytest.raises(InfeasibleError):
        adjust(problem, secret=None, time_limit=5)
    with pytest.raises(ParameterError, match="whole numbers go with"):
        adjust(problem, secret=None, norm="l2", integers=True)
