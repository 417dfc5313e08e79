"""Spans of published cells: after any exchanges no primary is a rational combination of what is published."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.rational_rows import Span as RationalSpan
from reference.tables import cheapest_by_trying, crossed, flat, nested
from reticent.base import clock
from reticent.kernels.elimination import PRIME
from reticent.kernels.exchange import small_fractions
from reticent.tables.attack import audit
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.exchange import exchange, fits
from reticent.tables.suppression.span import Span


def generated(seed: int, level: float = 0.0) -> SuppressionProblem:
    rng = np.random.default_rng(seed)
    trees = [nested(2, 2), flat(3)] if seed % 2 else [flat(3), flat(2), flat(2)]
    sizes = [sum(not children for children in tree) for tree in trees]
    values, relations = crossed(trees, rng.integers(1, 15, sizes).astype(float))
    primary = rng.random(len(values)) < 0.15
    frozen = (rng.random(len(values)) < 0.1) & ~primary
    levels = level * values
    return SuppressionProblem.from_values(
        values, relations, primary=primary, frozen=frozen, lower_protection=levels, upper_protection=levels
    )


def inner_rows(problem: SuppressionProblem) -> list[list[int]]:
    """Every cell as a sum of inner cells, from the relations alone: a total is the sum of its parts."""
    relations = problem.relations
    parts = {}
    for row in range(relations.n_rows):
        cells, coefs = relations.row(row)
        parts[int(cells[coefs < 0][0])] = cells[coefs > 0].tolist()
    inner = [c for c in range(problem.n_cells) if c not in parts]

    def vector(cell: int) -> np.ndarray:
        if cell in parts:
            return sum(vector(p) for p in parts[cell])
        return np.array([int(c == cell) for c in inner])

    return [vector(c).tolist() for c in range(problem.n_cells)]


@given(seed=st.integers(0, 10**6))
def test_spans_never_contain_a_primary(seed: int) -> None:
    problem = generated(seed)
    rows = inner_rows(problem)
    span = Span(problem, problem.cost, np.random.default_rng(seed))
    fixed = RationalSpan([rows[c] for c in np.flatnonzero(~(problem.candidates | problem.forced))])
    if any(fixed.contains(rows[c]) for c in np.flatnonzero(problem.primary)):
        return  # what may not be hidden already reveals a primary
    trial = span.fill()
    for _ in range(6):
        if trial is not None:
            span.take(trial)
            hidden = span.pattern(trial.hidden)
            published = RationalSpan([rows[c] for c in np.flatnonzero(~hidden)])
            assert not any(published.contains(rows[c]) for c in np.flatnonzero(problem.primary))
            # and what is hidden could not be published on top: it is outside the span
            assert not any(published.contains(rows[c]) for c in np.flatnonzero(hidden & problem.candidates))
            assert trial.cost == pytest.approx(problem.cost[hidden & problem.candidates].sum())
            assert audit(problem, hidden, mode="certify").n_exposed == 0
        trial = span.propose(largest=5, give_up=np.inf)


@given(seed=st.integers(0, 10**6))
def test_lost_levels_agree_with_the_attacker(seed: int) -> None:
    problem = generated(seed, level=0.3)
    span = Span(problem, problem.cost, np.random.default_rng(seed))
    trial = span.fill()
    span.take(trial)
    if int((span.holder < 0).sum()) == 1 and problem.primary.any():
        report = audit(problem, span.pattern(trial.hidden), mode="certify")
        assert (trial.lost > 0) == (report.n_exposed > 0)


@pytest.mark.parametrize("seed", range(4))
def test_exchange_finds_the_optimum_of_small_tables(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, relations = crossed([flat(3), flat(2)], rng.integers(5, 15, (3, 2)).astype(float))
    primary = np.zeros(len(values), dtype=bool)
    primary[rng.choice(len(values), 2, replace=False)] = True
    problem = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=0.2 * values, upper_protection=0.2 * values
    )
    engine = Engine(problem, problem.cost, deadline=clock.now() + 60_000, rng=rng)
    exchange(engine, until=clock.now() + 1_000)
    assert engine.best_cost == pytest.approx(cheapest_by_trying(problem))


def test_large_tables_are_left_to_others() -> None:
    values, relations = crossed([flat(40), flat(60)], np.ones((40, 60)))
    assert not fits(SuppressionProblem.from_values(values, relations, primary=values < 0))


@given(top=st.integers(-200, 200), bottom=st.integers(1, 200), reference=st.integers(1, PRIME - 1))
def test_fractions_come_back_from_residues(top: int, bottom: int, reference: int) -> None:
    residue = top * pow(bottom, -1, PRIME) * reference % PRIME
    found = small_fractions(np.array([residue]), reference)
    assert found[0] == pytest.approx(float(Fraction(top, bottom)))
