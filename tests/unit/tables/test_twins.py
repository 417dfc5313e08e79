"""Cells that are the same: merged into one, and the problem stays the same problem."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reticent.data.cells import CellStatus
from reticent.data.relations import Relations
from reticent.tables.attack import audit
from reticent.tables.problem import SuppressionProblem
from reticent.tables.twins import twins_of, without_trivial


def chain() -> SuppressionProblem:
    """0 = 1 + 4, 1 = 2 = 3 (a chain of single parts), 0 is shown."""
    relations = Relations.from_rows(5, [([0, 1, 4], [-1, 1, 1]), ([1, 2], [-1, 1]), ([2, 3], [-1, 1])], None)
    values = np.array([10.0, 4.0, 4.0, 4.0, 6.0])
    primary = np.array([False, False, True, False, False])
    return SuppressionProblem.from_values(values, relations, primary=primary, upper_protection=2.0, upper_bound=50.0)


def test_a_chain_becomes_one_cell() -> None:
    problem = chain()
    assert twins_of(problem.relations).tolist() == [0, 1, 1, 1, 4]
    merged = without_trivial(problem)
    assert merged.values.tolist() == [10.0, 4.0, 6.0]
    assert merged.status.tolist() == [CellStatus.SAFE, CellStatus.PRIMARY, CellStatus.SAFE]
    assert merged.upper_protection.tolist() == [0.0, 2.0, 0.0]
    assert merged.relations.n_rows == 1


@given(seed=st.integers(0, 10_000))
def test_the_attacker_finds_the_same(seed: int) -> None:
    """A random tree of totals, some with a single part: the same cells are exposed before and after."""
    rng = np.random.default_rng(seed)
    rows, values, level = [], [float(v) for v in rng.integers(1, 30, 6)], list(range(6))
    while len(level) > 1:
        above = []
        while level:
            take = level[: int(rng.integers(1, 4))]
            level = level[len(take) :]
            values.append(sum(values[c] for c in take))
            above.append(len(values) - 1)
            rows.append(([above[-1], *take], [-1, *([1] * len(take))]))
        level = above
    relations = Relations.from_rows(len(values), rows, None)
    twins = twins_of(relations)
    chosen = rng.random(len(values)) < 0.4
    primary = np.isin(twins, twins[chosen])  # the same cell has the same status
    problem = SuppressionProblem.from_values(np.array(values), relations, primary=primary, upper_protection=1.0)
    merged = without_trivial(problem)
    kept = np.unique(twins)
    before = set(audit(problem, primary).exposed_cells.tolist())
    after = {int(kept[cell]) for cell in audit(merged, merged.primary).exposed_cells}
    assert {int(twins[cell]) for cell in before} == after
