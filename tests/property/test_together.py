"""Movements for many primaries and many respondents at once: what they use protects what they serve."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import crossed, flat, full_intervals, nested
from reticent.base import clock
from reticent.tables.attack import audit
from reticent.tables.attack.insiders import Insider, insiders, single_respondents
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Heuristic
from reticent.tables.suppression.together import Together, apart
from samples import examples


def table(seed: int, level: float) -> SuppressionProblem:
    rng = np.random.default_rng(seed)
    counts, relations = crossed([nested(2, 3), flat(5)], rng.integers(1, 6, (6, 5)).astype(float))
    leaves = counts.reshape(9, 6)[np.ix_([2, 3, 4, 6, 7, 8], range(1, 6))]
    values, _ = crossed([nested(2, 3), flat(5)], leaves * rng.integers(3, 30, (6, 5)))
    return SuppressionProblem.from_values(
        values,
        relations,
        primary=counts < 3,
        counts=counts.astype(np.int64),
        lower_protection=level * values,
        upper_protection=level * values,
    )


def served(problem: SuppressionProblem, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    together = Together(problem, problem.candidates | problem.forced, problem.cost)
    pattern, lost = problem.forced, np.flatnonzero(problem.primary).astype(np.int32)
    for _ in range(6):
        grown = together.serve(pattern, lost, rng, until=clock.now() + 5)
        assert (grown >= pattern).all()
        pattern, lost = grown, np.asarray(audit(problem, grown, mode="certify").exposed_cells, dtype=np.int32)
        if len(lost) == 0:
            break
    assert len(lost) == 0
    return pattern


@given(seed=st.integers(0, 10**6), level=st.sampled_from([0.0, 0.1, 0.2]))
def test_what_a_movement_uses_protects_what_it_serves(seed: int, level: float) -> None:
    problem = table(seed, level)
    if problem.primary.any():
        served(problem, seed)


@examples(6)
@given(seed=st.integers(0, 10**6))
def test_respondents_are_served_together(seed: int) -> None:
    """Round by round fewer can work out another cell, and in the end none: attacked one by one, on the whole system."""
    problem = table(seed, 0.1)
    if not problem.primary.any():
        return
    pattern = served(problem, seed)
    together = Together(problem, problem.candidates | problem.forced, problem.cost)
    rng = np.random.default_rng(seed)
    for _ in range(8):
        found = insiders(problem, pattern, settle=False)
        if not found:
            break
        grown = together.serve_insiders(pattern, found, rng, until=clock.now() + 5)
        assert (grown >= pattern).all()
        assert not np.array_equal(grown, pattern)
        pattern = grown
    who = single_respondents(problem)
    for respondent in np.unique(who[pattern & (who >= 0)]).tolist():
        inside = full_intervals(problem, pattern & (who != respondent))
        assert all(high - low > 1e-6 for cell, (low, high) in inside.items() if problem.primary[cell])


def test_respondents_who_know_what_others_work_out_are_kept_apart() -> None:
    one, two, three = Insider(1, (10,), (20,)), Insider(2, (20,), (10,)), Insider(3, (30,), (20, 40))
    batches = apart([one, two, three])
    assert sorted(len(batch) for batch in batches) == [1, 2]
    for batch in batches:
        known = {cell for item in batch for cell in item.known}
        assert all(known.isdisjoint(item.exposed) for item in batch)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_table_of_many_failures_is_protected_by_movements_for_many(seed: int) -> None:
    """The way of large tables, on small ones: the same judge has the last word."""
    problem = table(seed, 0.15)
    package = "reticent.tables.suppression."
    with (
        patch(package + "watch._SAMPLE", 3),
        patch(package + "watch.EXACT_INSIDERS", 0),
        patch(package + "engine.EXACT_INSIDERS", 0),
    ):
        found = Heuristic().protect(problem, time_limit=2)
    assert found.audit is not None
    assert found.audit.n_exposed == 0
    assert not insiders(problem, found.hidden)
