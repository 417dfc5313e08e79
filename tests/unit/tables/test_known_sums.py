"""Sums of hidden cells that follow from what is published, found and judged."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from reference.tables import crossed, flat, nested, unsafe_known_sums
from reticent.base.errors import InfeasibleError, NotProtectedError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.apriori import Entry
from reticent.tables.attack.sums import published_sums
from reticent.tables.judge import LinkedTable, judge_linked
from reticent.tables.methods import PrimaryOnly
from reticent.tables.problem import SuppressionProblem
from reticent.tables.rules import Dominance, PPercent, Threshold
from reticent.tables.sum_judge import RespondentSums
from reticent.tables.suppression import SUPPRESSION_METHODS, Heuristic, SuppressionMethod
from reticent.tabulation.tabulate import tabulate


class Everything:
    """A judge who finds every sum unsafe."""

    def unsafe(self, groups: Sequence[tuple[int, ...]]) -> np.ndarray:
        return np.ones(len(groups), dtype=bool)

    def respondents(self, groups: Sequence[tuple[int, ...]]) -> np.ndarray:
        return np.full(len(groups), -1)


def shown(trees: list, shape: tuple[int, ...], hidden: list[int]) -> tuple[SuppressionProblem, np.ndarray]:
    values, relations = crossed(trees, np.arange(10.0, 10 + np.prod(shape)).reshape(shape))
    mask = np.zeros(len(values), dtype=bool)
    mask[hidden] = True
    problem = SuppressionProblem.from_values(values, relations, primary=mask)
    return replace(problem, judge=Everything()), mask


def test_two_cells_of_a_row() -> None:
    # 3 by 3 with totals first: cells 5, 6 and 9, 10 are a square
    problem, hidden = shown([flat(3), flat(3)], (3, 3), [5, 6, 9, 10])
    assert set(published_sums(problem, hidden)) == {(5, 6), (9, 10), (5, 9), (6, 10)}


def test_sums_across_groups_and_of_three_relations() -> None:
    # total, two groups, three parts each: both groups and one part of each are hidden
    problem, hidden = shown([nested(2, 3)], (6,), [1, 2, 3, 6])
    assert (3, 6) in published_sums(problem, hidden)
    # rows {6, 7} and {11, 13}, column {6, 11}: so 7 + 13 is known, which share neither row nor column
    problem, hidden = shown([flat(3), flat(4)], (3, 4), [6, 7, 11, 13, 17, 18])
    assert (7, 13) in published_sums(problem, hidden)


@pytest.mark.parametrize("seed", range(30))
def test_what_the_rank_finds(seed: int) -> None:
    """Every known sum of two or three cells of random patterns, by trying all of them."""
    rng = np.random.default_rng(seed)
    trees, shape = [([flat(3), flat(4)], (3, 4)), ([nested(2, 2), flat(3)], (4, 3)), ([flat(2)] * 3, (2, 2, 2))][
        seed % 3
    ]
    values, relations = crossed(list(trees), rng.integers(1, 9, shape).astype(float))
    mask = rng.random(len(values)) < 0.4
    problem = replace(SuppressionProblem.from_values(values, relations, primary=mask), judge=Everything())
    alone = {cell for cell in np.flatnonzero(mask).tolist() if _fixed(problem, mask, cell)}
    wanted = {group for group in unsafe_known_sums(problem, mask, most=3) if not alone & set(group)}
    assert wanted <= set(published_sums(problem, mask))


def _fixed(problem: SuppressionProblem, mask: np.ndarray, cell: int) -> bool:
    cells = np.flatnonzero(mask)
    matrix = problem.relations.matrix().toarray()[:, cells]
    row = (cells == cell).astype(float)
    return bool(np.linalg.matrix_rank(np.vstack((matrix, row))) == np.linalg.matrix_rank(matrix))


FIRMS = pd.DataFrame(
    [("a", "x", "H", 400), ("a", "y", "H", 300), ("a", "z", "P", 90), ("a", "z", "Q", 80), ("a", "z", "R", 70)]
    + [(r, c, f"{r}{c}{n}", 40 + 9 * n) for r in "bcd" for c in "xyz" for n in range(5)],
    columns=["row", "col", "firm", "turnover"],
)
ENTITY = Schema(
    (Variable("row"), Variable("col"), Variable("firm", role="entity"), Variable("turnover", kind="numeric"))
)
SPEC = TableSpec((DimensionSpec("row"), DimensionSpec("col")), response="turnover", top=3)


def test_respondents_of_a_sum_are_combined() -> None:
    table = tabulate(Microdata.of(FIRMS, ENTITY), SPEC)
    system, _ = judge_linked([LinkedTable(table)])
    place = {code: table.find(("a", code)) for code in "xyz"}
    pair, wider = (place["x"], place["y"]), (place["y"], place["z"])
    several = RespondentSums(system, (Threshold(minimum=3),))
    assert several.unsafe([pair, wider]).tolist() == [True, False]  # one holding; four firms
    assert RespondentSums(system, (PPercent(p=10),)).unsafe([pair, wider]).tolist() == [True, False]
    assert RespondentSums(system, (Dominance(n=1, k=54),)).unsafe([pair, wider]).tolist() == [True, True]
    assert RespondentSums(system, (Dominance(n=1, k=56),)).unsafe([wider]).tolist() == [False]  # 300 of 540
    total = table.find(("a", "Total"))
    assert not several.unsafe([(place["x"], total)]).any()  # a cell and its total are no sum of a table


def test_a_pattern_that_publishes_a_holding_is_not_released() -> None:
    data, rules = Microdata.of(FIRMS, ENTITY), [Threshold(minimum=3)]
    square = [Entry(("b", "x"), "M"), Entry(("b", "y"), "M")]
    with pytest.raises(NotProtectedError):
        protect_table(data, SPEC, rules=rules, method=PrimaryOnly(), a_priori=square)
    found = protect_table(data, SPEC, rules=rules, method=PrimaryOnly(), a_priori=square, accept_exposed=True)
    assert found.audit.n_exposed == 0  # no cell by itself
    named = [[found.table.cell_codes(cell) for cell in group] for group in found.sums]
    assert [("a", "x"), ("a", "y")] in named
    assert found.summary()["sums"]


@pytest.mark.parametrize("method", SUPPRESSION_METHODS, ids=lambda m: m.name)
def test_every_method_keeps_the_holding(method: type[SuppressionMethod]) -> None:
    found = protect_table(
        Microdata.of(FIRMS, ENTITY), SPEC, rules=[Threshold(minimum=3)], method=method(), time_limit=10
    )
    assert found.sums == ()
    assert found.exposed == ()


def test_the_total_of_a_holding_is_no_secret_from_itself() -> None:
    """In 0.1.0 `minimum_together` answered "unfreeze" where one respondent is the only one in both cells of a sum."""
    values, relations = crossed([flat(3), flat(3)], np.array([[40.0, 30, 90], [60, 75, 95], [80, 66, 70]]))
    counts, _ = crossed([flat(3), flat(3)], np.array([[1.0, 1, 9], [6, 7, 9], [8, 6, 7]]))
    who = np.full(len(values), -1)
    who[[5, 6]] = 7
    problem = SuppressionProblem.from_values(
        values, relations, primary=counts == 1, counts=counts.astype(np.int64), respondent=who
    )
    found = Heuristic(minimum_together=5).protect(problem, time_limit=10)
    assert found.facts["sums"] == [(5, 6)]
    assert (5, 6) not in published_sums(replace(problem, judge=Everything()), found.hidden)


def test_what_guards_a_sum_says_so() -> None:
    found = protect_table(
        Microdata.of(FIRMS, ENTITY), SPEC, rules=[Threshold(minimum=3)], method=Heuristic(), time_limit=10
    )
    words = [found.why(*found.table.cell_codes(int(cell))) for cell in np.flatnonzero(found.outcome.hidden)]
    assert not any("guards nothing" in text for text in words)
    assert any("guards what a × x, a × y add up to" in text for text in words)


def test_a_sum_that_cannot_be_hidden_is_named_by_its_codes_and_by_what_may_not_be_hidden() -> None:
    """A holding is alone in two cells of a row, and all that could be hidden beside them must stay."""
    rows = [("h1", "a", 40), ("h1", "b", 50), *((f"f{n}", code, 30 + n) for n in range(5) for code in "cd")]
    frame = pl.DataFrame(rows, schema=["holding", "code", "v"], orient="row")
    named = Variable("holding", role=Role.ENTITY), Variable("code", role=Role.KEY), Variable("v", kind=Kind.NUMERIC)
    fixed = [Entry((code,), "P") for code in ("c", "d", "Total")]
    wanted = TableSpec((DimensionSpec("code"),), response="v")
    with pytest.raises(InfeasibleError, match=r"cannot be hidden \(cells a, b\); .* may not be hidden: Total, c, d\."):
        protect_table(Microdata.of(frame, Schema(named)), wanted, rules=[Threshold(3)], a_priori=fixed)
