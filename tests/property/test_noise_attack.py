"""The attack on noisy counts: exact ends equal enumeration, propagation holds the truth, pins and presence are seen."""

import numpy as np
import pytest

from reference.noise_worlds import SHAPES, fitting_ends, random_ptable, relations_of, true_table
from reticent.base.errors import DataError
from reticent.base.progress import silent
from reticent.data.relations import Relations
from reticent.tables.attack.noise import EXACT_CELLS, fitted_prior, noise_findings, posteriors
from reticent.tables.attack.noise_intervals import exact_ends, narrowed
from reticent.tables.methods import Outcome, attack
from reticent.tables.perturb.cell_key import perturb_counts
from reticent.tables.perturb.origins import origins_of
from reticent.tables.perturb.ptable import PerturbationTable, Row
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.problem import SuppressionProblem
from table_makers import with_totals


def outcome_of(true: np.ndarray, published: np.ndarray, table: PerturbationTable) -> Outcome:
    found = origins_of(table, published)
    return Outcome(
        np.zeros(len(true), dtype=bool), 0.0, values=published, low=found.low, high=found.high, additive=False,
        levels=False, noise=True, origins=found,
    )  # fmt: skip


def problem_of(true: np.ndarray, relations: Relations) -> SuppressionProblem:
    return SuppressionProblem.from_values(true, relations, primary=(true > 0) & (true < 3), integral=True)


def enumerated(first: int, last: int) -> None:
    for number in range(first, last):
        rng = np.random.default_rng(number)
        shape = number % len(SHAPES)
        relations, table = relations_of(shape), random_ptable(rng)
        true = true_table(shape, rng)
        published = perturb_counts(true.astype(np.int64), rng.random(len(true)), table).values
        origins = origins_of(table, published)
        wide = narrowed(relations, origins, origins.low, origins.high)
        exact = exact_ends(relations, origins, wide)
        low, high, _ = fitting_ends(shape, published, table)
        assert exact.low.tolist() == low.tolist(), number
        assert exact.high.tolist() == high.tolist(), number
        assert (wide.low <= low).all()
        assert (wide.high >= high).all()


def test_ends_equal_enumeration() -> None:
    enumerated(0, 100)


@pytest.mark.deep
def test_ends_equal_enumeration_on_two_thousand_tables() -> None:
    enumerated(100, 2000)


def held(first: int, last: int) -> None:
    """Larger tables: the truth lies in every interval, and whatever is called determined is so."""
    tables = {key: design_ptable(Design(*key)) for key in ((2, 1.5, 0), (3, 2.0, 2), (5, 3.0, 2))}
    for number in range(first, last):
        rng = np.random.default_rng(number)
        shape = tuple(int(n) for n in rng.integers(2, 7, int(rng.integers(2, 4))))
        true, relations, _ = with_totals(rng.poisson(rng.choice([0.7, 2.0, 6.0]), shape))
        table = tables[list(tables)[number % 3]]
        published = perturb_counts(true.astype(np.int64), rng.random(len(true)), table).values
        origins = origins_of(table, published)
        found = narrowed(relations, origins, origins.low, origins.high)
        assert ((found.low <= true) & (true <= found.high)).all(), number


def test_the_truth_lies_in_every_interval() -> None:
    held(0, 200)


@pytest.mark.deep
def test_the_truth_lies_in_every_interval_of_ten_thousand_tables() -> None:
    held(200, 10_000)


def test_the_example_of_the_source_is_pinned() -> None:
    """Two counts of 1 become 3, their total 2 becomes 0, changes of at most 2 (SORT, section 5): all three are known."""
    flat = Row.of
    reach = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    table = PerturbationTable(
        (flat(0.0, np.zeros(1), np.ones(1)), flat(1.0, reach[1:], np.full(4, 0.25)), flat(2.0, reach, np.full(5, 0.2)))
    )
    true, published = np.array([1.0, 1.0, 2.0]), np.array([3.0, 3.0, 0.0])
    problem = problem_of(true, Relations.from_rows(3, [([0, 1, 2], [1, 1, -1])]))
    outcome = outcome_of(true, published, table)
    found = attack(problem, outcome, progress=silent)
    assert found.low.tolist() == found.high.tolist() == [1, 1, 2]
    assert found.exposed.tolist() == [True, True, True]
    said = noise_findings(problem, outcome, found)
    assert said is not None
    assert (said.pinned, said.small_pinned, said.presence, said.certain) == (3, 3, 1, 3)
    assert "determines 3 of 3 counts above 0 exactly" in said.sentence()


@pytest.mark.parametrize("seed", range(6))
def test_proofs_of_larger_tables_agree_with_programs(seed: int) -> None:
    """Cells that are called determined or not in a table above the limit of exact programs are so by exact programs."""
    rng = np.random.default_rng(seed)
    true, relations, _ = with_totals(rng.poisson(1.5, (4, 3, 4)))
    assert len(true) > EXACT_CELLS
    table = design_ptable(Design(2, 1.5, 0))
    published = perturb_counts(true.astype(np.int64), rng.random(len(true)), table).values
    problem, outcome = problem_of(true, relations), outcome_of(true, published, table)
    found = attack(problem, outcome, progress=silent)
    assert outcome.origins is not None
    wide = narrowed(relations, outcome.origins, outcome.origins.low, outcome.origins.high)
    exact = exact_ends(relations, outcome.origins, wide)
    there = true > 0
    assert ((found.low == found.high) & there).tolist() == ((exact.low == exact.high) & there).tolist()


def test_values_that_nothing_explains_are_an_error() -> None:
    table = design_ptable(Design(1, 0.5, 0))
    relations = Relations.from_rows(3, [([0, 1, 2], [1, 1, -1])])
    origins = origins_of(table, np.array([5.0, 5.0, 30.0]))
    with pytest.raises(DataError, match="no true counts fit"):
        narrowed(relations, origins, origins.low, origins.high)


def test_wide_sets_of_counts_have_a_prior_too() -> None:
    """Large adjustments leave more possible counts than small counts have frequencies."""
    table = design_ptable(Design(5, 3.0, 2))
    origins = origins_of(table, np.array([3.0, 4.0, 7.0, 90.0]), slack=40, mean_slack=2.0)
    prior = fitted_prior(origins)
    assert (prior > 0).all()
    relations = Relations.from_rows(4, [([0, 1, 2], [1, 1, -1])])
    sure, likeliest = posteriors(relations, origins, origins.low, origins.high)
    assert ((sure > 0) & (sure <= 1)).all()
    assert (likeliest >= 0).all()
