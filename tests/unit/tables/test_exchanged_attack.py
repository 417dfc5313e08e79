"""Rounded and adjusted tables are attacked jointly: all published values, the method, and all relations together."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import crossed, flat, full_intervals
from reticent.base.errors import ParameterError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.jobs.jj import AdjustNumbers, RoundNumbers, change_jj
from reticent.tables.attack import exchanged
from reticent.tables.attack.exchanged import audit_exchanged
from reticent.tables.methods import Adjust, Round, adjusted, attack
from reticent.tables.nearest_rounding import NearestRounding
from reticent.tables.perturb.adjustment import adjust
from reticent.tables.perturb.movements import adjustment_candidates
from reticent.tables.perturb.rounding import round_controlled, round_rapidly, rounding_bounds
from reticent.tables.problem import SuppressionProblem
from samples import examples
from table_makers import with_totals


def problem_of(inner: np.ndarray, primary: list[int], **options: object) -> SuppressionProblem:
    values, relations, _ = with_totals(inner)
    mask = np.zeros(len(values), dtype=bool)
    mask[primary] = True
    return SuppressionProblem.from_values(values, relations, primary=mask, **options)  # type: ignore[arg-type]


def test_one_value_alone_says_6_to_24() -> None:
    """tau-ARGUS manual 2.14: 15 published with base 5 and one step."""
    _, relations, _ = with_totals(np.array([15]))
    low, high = rounding_bounds(np.array([15.0, 15.0]), relations, 5, steps=1)
    assert (low[0], high[0]) == (6, 24)


def test_additivity_can_give_away_what_each_cell_hides() -> None:
    """2 + 2 = 4 published as 0 + 0 = 6 with base 3: at most 2 each, at least 4 together."""
    problem = problem_of(np.array([2, 2]), [0], integral=True)
    low, high = rounding_bounds(np.array([0.0, 0.0, 6.0]), problem.relations, 3)
    assert (low[0], high[0]) == (-2, 2)
    found = audit_exchanged(problem, low, high)
    assert (found.low[0], found.high[0]) == (2, 2)
    assert found.exposed_cells.tolist() == [0]


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), base=st.sampled_from([3, 5]))
def test_whole_numbers_equal_enumeration(seed: int, base: int) -> None:
    rng = np.random.default_rng(seed)
    problem = problem_of(rng.integers(0, 5, (2, 2)), list(range(9)), integral=True)
    rounded = round_controlled(problem.values, problem.relations, base, secret=as_secret(seed))
    low, high = rounding_bounds(rounded.values, problem.relations, base, steps=rounded.steps)
    found = audit_exchanged(problem, low, high)
    spans = [range(max(0, int(low[c])), int(high[c]) + 1) for c in (0, 1, 3, 4)]
    fitting = []
    for inner in itertools.product(*spans):
        values, _, _ = with_totals(np.array(inner).reshape(2, 2))
        if ((low <= values) & (values <= high)).all():
            fitting.append(values)
    assert np.array_equal(found.low, np.min(fitting, axis=0))
    assert np.array_equal(found.high, np.max(fitting, axis=0))
    assert np.array_equal(found.exposed, found.low == found.high)


@pytest.mark.slow
@examples(8)
@given(seed=st.integers(0, 10**6), level=st.sampled_from([0.0, 1.5, 4.0]))
def test_both_ways_agree_with_the_whole_system(seed: int, level: float) -> None:
    """Exact ends equal scipy's on all cells; beyond the size limit the same cells are exposed."""
    rng = np.random.default_rng(seed)
    values, relations = crossed([flat(2), flat(3), flat(2)], rng.integers(0, 15, (2, 3, 2)).astype(float))
    primary = rng.random(len(values)) < 0.4
    low, high = values - rng.integers(0, 6, len(values)), values + rng.integers(0, 6, len(values))
    problem = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=level, upper_protection=level
    )
    if not primary.any():
        return
    found = audit_exchanged(problem, low, high)
    box = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_bound=np.maximum(low, 0), upper_bound=high
    )
    wanted = full_intervals(box, np.ones(len(values), dtype=bool))
    for cell, bottom, top in zip(found.cells, found.low, found.high, strict=True):
        assert (bottom, top) == pytest.approx(wanted[int(cell)], abs=1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchanged, "EXACT", 0)
        proved = audit_exchanged(problem, low, high)
    assert not proved.exact
    assert proved.exposed_cells.tolist() == found.exposed_cells.tolist()


@pytest.mark.slow
@examples(8)
@given(seed=st.integers(0, 10**6), some=st.booleans())
def test_every_cell_of_a_noisy_table_is_attacked(seed: int, some: bool) -> None:
    """Ends of all cells equal scipy's; only unsafe cells are exposed, and in large tables only these are attacked."""
    rng = np.random.default_rng(seed)
    values, relations = crossed([flat(2), flat(3)], rng.integers(0, 15, (2, 3)).astype(float))
    primary = (rng.random(len(values)) < 0.4) & some
    low, high = values - rng.integers(0, 3, len(values)), values + rng.integers(0, 3, len(values))
    problem = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=1.0, upper_protection=1.0
    )
    found = audit_exchanged(problem, low, high, every=True)
    box = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_bound=np.maximum(low, 0), upper_bound=high
    )
    wanted = full_intervals(box, np.ones(len(values), dtype=bool))
    assert found.cells.tolist() == list(range(len(values)))
    for cell, bottom, top in zip(found.cells, found.low, found.high, strict=True):
        assert (bottom, top) == pytest.approx(wanted[int(cell)], abs=1e-6)
    alone = audit_exchanged(problem, low, high).exposed_cells.tolist() if primary.any() else []
    assert found.exposed_cells.tolist() == alone
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchanged, "EXACT", 0)
        large = audit_exchanged(problem, low, high, every=True)
    assert large.cells.tolist() == np.flatnonzero(primary).tolist()
    assert large.exposed_cells.tolist() == alone


def test_rapid_rounding_says_half_a_base() -> None:
    problem = problem_of(np.array([[7, 12], [3, 8]]), [0, 1], integral=True)
    rounded = round_rapidly(problem.values, problem.relations, 5)
    low, high = rounding_bounds(rounded.values, problem.relations, 5, rapid=True)
    assert [(low[c], high[c]) for c in (0, 1)] == [(3, 7), (8, 12)]
    assert np.isinf(low[-1])
    assert audit_exchanged(problem, low, high).n_exposed == 0


def test_conclusions_must_contain_the_truth() -> None:
    problem = problem_of(np.array([[7, 12], [3, 8]]), [0])
    with pytest.raises(ParameterError, match="do not contain the true values"):
        audit_exchanged(problem, problem.values + 1, problem.values + 2)


def test_a_published_value_inside_the_protection_interval_is_exposed() -> None:
    problem = problem_of(np.array([[20, 30], [40, 50]]), [0], lower_protection=5, upper_protection=5)
    low, high = problem.lower_bound, np.full(9, 200.0)
    near, far = problem.values.copy(), problem.values.copy()
    near[0], far[0] = 23, 26
    assert audit_exchanged(problem, low, high, published=near).exposed_cells.tolist() == [0]
    assert audit_exchanged(problem, low, high, published=far).n_exposed == 0


def test_a_known_largest_change_can_undo_an_adjustment() -> None:
    """If everybody knows that other cells moved by 1 % at most, the sensitive one follows from its row."""
    problem = problem_of(np.array([[20, 300], [400, 500]]), [0], lower_protection=8, upper_protection=8)
    secret = as_secret(1)
    free = adjust(problem, secret=secret)
    assert attack(problem, adjusted(problem, free, None, None), progress=silent).n_exposed == 0
    close = adjust(problem, secret=secret, largest_change=0.03, step=problem.unit)
    moved = np.abs(close.values - problem.values)
    assert (moved[1:] <= 0.03 * problem.values[1:] + 1e-9).all()
    left = adjustment_candidates(problem, close.values, largest_change=0.03)
    assert ((left.low <= problem.values + 1e-9) & (problem.values <= left.high + 1e-9)).all()
    narrow = audit_exchanged(problem, left.low, left.high, published=close.values)
    assert narrow.high[0] < audit_exchanged(problem, problem.lower_bound, problem.upper_bound).high[0]
    outcome = Adjust(largest_change=0.03).protect(problem, secret=secret, time_limit=10, progress=silent)
    assert attack(problem, outcome, progress=silent).high[0] == pytest.approx(narrow.high[0])


def test_two_single_candidates_are_exposed() -> None:
    """Whoever knows the level of 20 % and that nothing moves further is left with v/1.2 and v/0.8."""
    problem = problem_of(np.array([[20, 300], [400, 500]]), [0], lower_protection=4, upper_protection=4)
    textbook = adjust(problem, secret=None)
    assert textbook.values[0] in (16, 24)
    assert attack(problem, adjusted(problem, textbook, None, None), progress=silent).exposed_cells.tolist() == [0]
    drawn = [adjust(problem, secret=as_secret(seed)).values[0] for seed in range(20)]
    assert len({round(value, 6) for value in drawn}) == 20
    assert all(abs(value - 20) > 4 for value in drawn)


def test_a_cell_at_its_bound_does_not_stay_where_it_is() -> None:
    """Its lower level is cut to nothing by the bound: that must not mean that it moves down by nothing."""
    problem = problem_of(np.array([[0, 300], [400, 500]]), [0], lower_protection=0, upper_protection=3)
    for seed in range(10):
        assert adjust(problem, secret=as_secret(seed), signs="random").values[0] >= 3


def test_levels_are_judged_jointly_and_not_only_cell_by_cell() -> None:
    """Rounding with levels keeps each cell's own interval; the method is asked and judged in one go."""
    problem = problem_of(np.array([[4, 9], [7, 11]]), [0], lower_protection=2, upper_protection=3, integral=True)
    method = Round(base=5, steps=2, protect_levels=True)
    outcome = method.protect(problem, secret=as_secret(3), time_limit=10, progress=silent)
    found = attack(problem, outcome, progress=silent)
    assert found.n_exposed == 0
    assert found.low[0] <= 2
    assert found.high[0] >= 7
    tight = Round(base=2).protect(problem, secret=as_secret(3), time_limit=10, progress=silent)
    assert attack(problem, tight, progress=silent).exposed_cells.tolist() == [0]


def test_files_say_what_is_exposed(shared_data: Path) -> None:
    path = shared_data / "csp" / "table8.jj"
    rounded = change_jj(path, RoundNumbers(base=5)).summary()
    assert rounded["exposed"] == []
    row = rounded["intervals"]["363"]
    assert (row["low"], row["high"]) == (31, 39)
    assert change_jj(path, RoundNumbers(base=1)).exposed == [int(cell) for cell in rounded["intervals"]]
    how = AdjustNumbers(fix_total=True, largest_change=0.1)
    found = change_jj(path, how, secret=as_secret(4), test_secret=True).summary()
    assert found["exposed"] == []
    assert found["intervals"]["363"]["high"] < 1000


def test_a_table_that_may_be_scaled_needs_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known but that values are not negative: half and double the table fit as well."""
    monkeypatch.setattr(exchanged, "EXACT", 0)
    problem = problem_of(np.array([[20, 30], [40, 50]]), [0, 4], lower_protection=9, upper_protection=9)
    found = audit_exchanged(problem, problem.lower_bound, problem.upper_bound)
    assert (found.programs, found.n_exposed) == (0, 0)
    assert found.low.tolist() == [0, 0]
    narrow = audit_exchanged(problem, problem.values - 5, problem.values + 5)
    assert (narrow.programs, narrow.exposed_cells.tolist()) == (0, [0, 4])


@given(seed=st.integers(0, 10**6))
def test_levels_are_kept_against_who_knows_that_counts_are_whole(seed: int) -> None:
    """Base 3: a 2 that needs 1 to 3 must not become 0 (0 to 2), a 1 that needs 0 to 2 must not become 3 (1 to 5)."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(0, 9, (3, 4))
    small = np.flatnonzero((with_totals(inner)[0] > 0) & (with_totals(inner)[0] < 3)).tolist()
    ones = np.isin(np.arange(20), small).astype(float)
    problem = problem_of(inner, small, lower_protection=ones, upper_protection=ones, integral=True)
    outcome = Round(base=3, steps=2, protect_levels=True).protect(
        problem, secret=as_secret(seed), time_limit=10, progress=silent
    )
    assert outcome.values is not None
    assert outcome.low is not None
    assert outcome.high is not None
    assert (outcome.low[small] <= problem.values[small] - 1).all()
    assert (outcome.high[small] >= problem.values[small] + 1).all()


def test_a_batch_rounding_keeps_levels_where_it_can() -> None:
    """The nearest rounding alone would leave a small count too little room."""
    inner = np.array([[2, 4], [2, 1]])
    small = [0, 3, 4]
    ones = np.isin(np.arange(9), small).astype(float)
    problem = problem_of(inner, small, lower_protection=ones, upper_protection=ones, integral=True)
    outcome = NearestRounding(base=3, steps=1).protect(problem, secret=as_secret(1), time_limit=10, progress=silent)
    assert outcome.low is not None
    assert outcome.high is not None
    assert (outcome.low[small] <= problem.values[small] - 1).all()
    assert (outcome.high[small] >= problem.values[small] + 1).all()
    hard = problem_of(inner, small, lower_protection=ones, upper_protection=50 * ones, integral=True)
    outcome = NearestRounding(base=3).protect(hard, secret=as_secret(1), time_limit=10, progress=silent)
    assert attack(hard, outcome, progress=silent).n_exposed == 3  # levels beyond any rounding: told, not hidden
