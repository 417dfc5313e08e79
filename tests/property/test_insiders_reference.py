"""Respondents as attackers: found at once by kernel ratios, as by attacking with each one's cells fixed."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import crossed, flat, full_intervals, nested
from reticent.tables.attack.insiders import insiders, single_respondents
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Heuristic, Optimal
from reticent.tables.suppression.capacity import insider_rows

TREES = [[flat(6)], [flat(4), flat(4)], [nested(2, 2), flat(4)], [flat(2), flat(2), flat(3)]]


def table(kind: int, seed: int, share: float) -> tuple[SuppressionProblem, np.ndarray]:
    rng = np.random.default_rng(seed)
    trees = TREES[kind]
    shape = [sum(not c for c in t) for t in trees]
    counts, relations = crossed(trees, rng.integers(0 if seed % 2 else 1, 4, shape).astype(float))
    values, _ = crossed(trees, counts.reshape([len(t) for t in trees])[leaves(trees)] * rng.integers(1, 9, shape))
    hidden = rng.random(len(values)) < share
    primary = hidden & (counts > 0) & (counts < 3)
    problem = SuppressionProblem.from_values(values, relations, primary=primary, counts=counts.astype(np.int64))
    return problem, hidden


def leaves(trees: list) -> tuple:
    return np.ix_(*[[n for n in range(len(t)) if not t[n]] for t in trees])


@given(kind=st.integers(0, 3), seed=st.integers(0, 10**6), share=st.floats(0.3, 0.9))
def test_insiders_are_found(kind: int, seed: int, share: float) -> None:
    problem, hidden = table(kind, seed, share)
    who = single_respondents(problem)
    public = full_intervals(problem, hidden)
    wanted: dict[int, set[int]] = {}
    for respondent in np.unique(who[hidden & (who >= 0)]).tolist():
        known = hidden & (who == respondent)
        inside = full_intervals(problem, hidden & ~known)
        learned = {
            c
            for c, (low, high) in inside.items()
            if problem.primary[c] and high - low < 1e-6 and public[c][1] - public[c][0] > 1e-6
        }
        if learned:
            wanted[respondent] = learned
    found = {item.respondent: set(item.exposed) for item in insiders(problem, hidden)}
    assert found == wanted


def test_two_single_respondents_in_a_row_need_a_third_cell() -> None:
    """Total 60 = 10 + 20 + 30: with 10 and 20 hidden, each of their respondents knows the other."""
    values, relations = crossed([flat(3)], np.array([10.0, 20, 30]))
    counts = np.array([8, 1, 1, 6])
    primary = counts == 1
    problem = SuppressionProblem.from_values(values, relations, primary=primary, counts=counts)
    found = insiders(problem, primary)
    assert [(item.known, item.exposed) for item in found] == [((1,), (2,)), ((2,), (1,))]
    for method in (Heuristic, Optimal):
        assert method(singletons=False).protect(problem).cost == 0
        assert method().protect(problem).cost == 30


def test_the_same_respondent_in_both_cells_is_no_attacker() -> None:
    values, relations = crossed([flat(3)], np.array([10.0, 20, 30]))
    counts = np.array([8, 1, 1, 6])
    same = SuppressionProblem.from_values(
        values, relations, primary=counts == 1, counts=counts, respondent=np.array([-1, 5, 5, -1])
    )
    assert insiders(same, same.primary) == []


@given(kind=st.integers(0, 3), seed=st.integers(0, 10**6), share=st.floats(0.5, 1.0))
def test_what_keeps_insiders_out_satisfies_the_rows_of_single_relations(kind: int, seed: int, share: float) -> None:
    problem, _ = table(kind, seed, 0.5)
    hidden = problem.forced | (problem.candidates & (np.random.default_rng(seed + 1).random(problem.n_cells) < share))
    rows = insider_rows(problem, single_respondents(problem))
    public = full_intervals(problem, hidden)
    open_to_all = {c for c, (low, high) in public.items() if high - low < 1e-6}
    if not insiders(problem, hidden) and not any(problem.primary[c] for c in open_to_all):
        assert (rows @ hidden.astype(float) >= 1 - 1e-9).all()
