"""Unsafe cells of one row that have too few respondents together: their sum must not be known either."""

import numpy as np
import pytest

from reference.tables import crossed, flat, full_intervals
from reticent.base.errors import DataError, InfeasibleError
from reticent.tables.attack.insiders import insiders
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import SUPPRESSION_METHODS, Heuristic, Modular, SuppressionMethod
from reticent.tables.suppression.sums import small_groups, with_sums

# no cell has one respondent; the first row has two unsafe cells of two each
COUNTS = np.array([[2, 2, 9, 8], [6, 7, 9, 8], [8, 6, 7, 9]])
VALUES = np.array([[20.0, 30, 90, 80], [60, 75, 95, 85], [80, 66, 70, 99]])
METHODS = [m for m in SUPPRESSION_METHODS if m.name != "network"]


def made(counts: np.ndarray = COUNTS, minimum: int = 5, **options: object) -> SuppressionProblem:
    totals, _ = crossed([flat(3), flat(4)], counts.astype(float))
    values, relations = crossed([flat(3), flat(4)], VALUES)
    return SuppressionProblem.from_values(
        values, relations, primary=(totals > 0) & (totals < minimum), counts=totals.astype(np.int64),
        lower_protection=0.1 * values, upper_protection=0.1 * values, **options,  # type: ignore[arg-type]
    )  # fmt: skip


def width(problem: SuppressionProblem, hidden: np.ndarray, group: tuple[int, ...]) -> float:
    """How far the sum of some cells can move, by scipy on all cells."""
    whole = with_sums(problem, [group])
    low, high = full_intervals(whole, np.append(hidden, True))[problem.n_cells]
    assert low <= problem.values[list(group)].sum() <= high
    return high - low


def test_which_cells_belong_together() -> None:
    problem = made()
    assert small_groups(problem, 5) == [(6, 7)]
    assert small_groups(problem, 4) == []  # four respondents are enough
    counts = COUNTS.copy()
    counts[1, 0] = 2
    assert small_groups(made(counts), 5) == [(6, 11), (6, 7)]  # in the first column too
    assert small_groups(made(counts, minimum=3), 5) == [(6, 11), (6, 7)]
    bare = SuppressionProblem.from_values(problem.values, problem.relations, primary=problem.primary)
    with pytest.raises(DataError, match="minimum_together needs the number of respondents"):
        Heuristic(minimum_together=5).protect(bare)


def test_the_sum_is_one_more_unsafe_cell() -> None:
    whole = with_sums(made(), [(6, 7)])
    assert (whole.values[-1], whole.counts[-1]) == (50, 4)  # type: ignore[index]
    assert np.abs(whole.relations.residuals(whole.values)).max() == 0
    assert whole.primary[-1]
    assert whole.needs_movement[-1]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_the_sum_of_small_cells_is_kept_unknown(method: type[SuppressionMethod]) -> None:
    problem = made()
    plain = Heuristic().protect(problem, time_limit=5)
    assert width(problem, plain.hidden, (6, 7)) == pytest.approx(0, abs=1e-6)  # two cells that protect each other
    assert insiders(problem, plain.hidden) == []  # nobody is alone in a cell: this is another danger
    found = method(minimum_together=5).protect(problem, time_limit=5)
    assert found.facts["sums"] == [(6, 7)]
    assert len(found.hidden) == problem.n_cells
    assert width(problem, found.hidden, (6, 7)) > 1
    ends = full_intervals(problem, found.hidden)
    for cell in (6, 7):
        assert ends[cell][0] <= 0.9 * problem.values[cell] + 1e-6
        assert ends[cell][1] >= 1.1 * problem.values[cell] - 1e-6
    assert found.cost == pytest.approx(problem.cost[found.hidden & ~problem.primary].sum())
    assert found.bound is not None
    assert found.bound <= found.cost
    assert found.audit is not None
    assert found.audit.n_exposed == 0
    assert found.audit.cells.max() < problem.n_cells


@pytest.mark.parametrize("pair", [(1, 1), (1, 2)])
def test_pairs_with_a_single_respondent_are_covered_by_insiders(pair: tuple[int, int]) -> None:
    """Single-single and single-multiple: whoever knows one of two cells must not know their sum."""
    counts = COUNTS.copy()
    counts[0, :2] = pair
    problem = made(counts)
    open_sum = Modular(singletons=False).protect(problem, time_limit=5)
    assert width(problem, open_sum.hidden, (6, 7)) == pytest.approx(0, abs=1e-6)
    assert insiders(problem, open_sum.hidden)
    guarded = Modular().protect(problem, time_limit=5)
    assert width(problem, guarded.hidden, (6, 7)) > 0
    assert insiders(problem, guarded.hidden) == []
    summed = Modular(singletons=False, minimum_together=5).protect(problem, time_limit=5)
    assert width(problem, summed.hidden, (6, 7)) > 0


def test_what_cannot_be_hidden_is_named_by_its_cells() -> None:
    frozen = np.zeros(20, dtype=bool)
    frozen[[5, 8, 9]] = True  # the rest of the row and its total
    problem = made(frozen=frozen)
    assert Heuristic().protect(problem, time_limit=5).hidden[[6, 7]].all()
    with pytest.raises(InfeasibleError, match=r"too few respondents.*\(cells 6, 7\)") as told:
        Heuristic(minimum_together=5).protect(problem, time_limit=5)
    assert told.value.cells == (6, 7)


def test_without_such_cells_nothing_changes() -> None:
    problem = made()
    one, other = (Heuristic(minimum_together=m).protect(problem, time_limit=5) for m in (0, 4))
    assert np.array_equal(one.hidden, other.hidden)
    assert "sums" not in other.facts
