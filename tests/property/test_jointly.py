"""One movement for many levels: it is a movement of the table, and proofs by it agree with the exact ends."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import crossed, flat, nested
from reticent.tables.attack import audit
from reticent.tables.attack.jointly import JointProgram
from reticent.tables.attack.reduce import reduce
from reticent.tables.problem import SuppressionProblem


def table(seed: int, share: float) -> tuple[SuppressionProblem, np.ndarray]:
    rng = np.random.default_rng(seed)
    values, relations = crossed([nested(2, 3), flat(4)], rng.integers(0, 30, (6, 4)).astype(float))
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
    return problem, hidden


@given(seed=st.integers(0, 10**6), share=st.floats(0.5, 0.95))
def test_the_movement_changes_nothing_published_and_may_be_made_both_ways(seed: int, share: float) -> None:
    problem, hidden = table(seed, share)
    reduced = reduce(problem, hidden)
    if reduced.relations.n_cells == 0:
        return
    needs = np.random.default_rng(seed).choice((0.0, 1.0, 5.0), reduced.relations.n_cells)
    movement, _ = JointProgram(reduced, 1e3).serve(needs, np.random.default_rng(seed))
    moved = np.zeros(problem.n_cells)
    moved[reduced.cells] = reduced.lift(movement)
    assert np.abs(problem.relations.matrix() @ moved).max(initial=0.0) < 1e-5
    for values in (problem.values + moved, problem.values - moved):
        assert (values >= problem.lower_bound - 1e-5).all()
        assert (values <= problem.upper_bound + 1e-5).all()


@given(seed=st.integers(0, 10**6), share=st.floats(0.3, 0.95))
def test_what_it_proves_is_true_and_the_rest_is_found_by_others(seed: int, share: float) -> None:
    problem, hidden = table(seed, share)
    exact = audit(problem, hidden)
    with patch("reticent.tables.attack.certify._JOINTLY", 1):
        fast = audit(problem, hidden, mode="certify")
    assert fast.exposed_cells.tolist() == exact.exposed_cells.tolist()
    proved = ~fast.exposed
    assert (fast.low >= exact.low - 1e-6)[proved].all()
    assert (fast.high <= exact.high + 1e-6)[proved].all()


def test_one_movement_serves_all_cells_of_a_cycle() -> None:
    values, relations = crossed([flat(4), flat(4)], np.full((4, 4), 20.0))
    hidden = np.zeros((5, 5), dtype=bool)
    hidden[1:3, 1:3] = hidden[3:, 3:] = True
    primary = hidden.ravel()
    problem = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=5.0, upper_protection=5.0
    )
    reduced = reduce(problem, primary)
    movement, programs = JointProgram(reduced, 100.0).serve(np.full(2, 5.0), np.random.default_rng(1))
    assert programs == 2
    assert (np.abs(reduced.lift(movement)) >= 5).all()
