"""Controlled rounding of large tables: totals unfolded, the walk, its bound, and what cannot be unfolded."""

from itertools import product

import numpy as np
import pytest

from reticent.data.relations import Relations
from reticent.tables.perturb import rounding
from reticent.tables.perturb.rounding import round_controlled
from reticent.tables.perturb.rounding_search import Unfolded
from table_makers import with_totals


def table(shape: tuple[int, ...], seed: int) -> tuple[np.ndarray, Relations]:
    """Counts with all totals."""
    values, relations, _ = with_totals(np.random.default_rng(seed).poisson(4.0, shape))
    return values, relations


@pytest.fixture
def always_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of every size are searched instead of solved in one program."""
    monkeypatch.setattr(rounding, "MONOLITH", 0)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 2, 3, 2)])
def test_every_cell_is_the_sum_of_its_inner_cells(shape) -> None:
    values, relations = table(shape, 1)
    before = relations.matrix().copy()
    unfolded = Unfolded.of(relations)
    assert unfolded is not None
    assert unfolded.inner.sum() == np.prod(shape)
    assert np.array_equal(unfolded.sums @ np.where(unfolded.inner, values, 0), values)
    assert np.abs(before - relations.matrix()).max() == 0


@pytest.mark.parametrize(
    "rows",
    [
        [([0, 1, 4], [1, 1, -1]), ([2, 3, 4], [1, 1, -1])],  # a total of two different sets of cells
        [([0, 1, 2, 3], [1, 1, -1, -1])],  # no single total
        [([0, 1, 2], [2, 1, -1])],  # parts that count twice
        [([0, 1, 2], [1, 1, -1]), ([2, 3, 0], [1, 1, -1])],  # a circle
    ],
)
def test_what_does_not_follow_from_inner_cells_is_not_unfolded(rows) -> None:
    assert Unfolded.of(Relations.from_rows(5, rows)) is None


@pytest.mark.usefixtures("always_searched")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 3)])
def test_a_searched_rounding_is_near_the_best_and_its_bound_below(shape, seed, monkeypatch) -> None:
    values, relations = table(shape, seed)
    found = round_controlled(values, relations, 3, steps=1)
    monkeypatch.undo()
    best = round_controlled(values, relations, 3, steps=found.steps)
    assert np.abs(relations.residuals(found.values)).max() == 0
    assert np.all(found.values % 3 == 0)
    assert np.all(np.abs(found.values - values) < 3 * (found.steps + 1))
    assert found.bound is not None
    assert found.bound <= best.distance + 1e-6
    if best.steps == found.steps:
        assert best.distance - 1e-6 <= found.distance <= 1.1 * best.distance


@pytest.mark.usefixtures("always_searched")
def test_totals_of_two_sets_of_cells_are_rounded_by_fixing() -> None:
    rows = [([0, 1, 4], [1, 1, -1]), ([2, 3, 4], [1, 1, -1])]
    found = round_controlled(np.array([1.0, 4, 2, 3, 5]), Relations.from_rows(5, rows), 3)
    assert found.values.tolist() in ([0, 6, 3, 3, 6], [3, 3, 3, 3, 6])
    assert found.distance == 5


@pytest.mark.parametrize("seed", range(6))
def test_further_steps_cost_what_enumeration_says(seed) -> None:
    """Levels demand a second step of one cell; the best rounding is that of all multiples in reach."""
    inner = np.random.default_rng(seed).poisson(4.0, (2, 2))
    values, relations, ids = with_totals(inner)
    upper = np.zeros(len(values))
    upper[ids[0, 0]] = 5.0  # out of reach without a step
    found = round_controlled(values, relations, 3, steps=1, upper_protection=upper, unit=1.0)
    best = np.inf
    for chosen in product(*([z for z in range(0, 30, 3) if abs(z - x) < 6] for x in inner.ravel())):
        rounded, _, _ = with_totals(np.array(chosen).reshape(inner.shape))
        near = np.all(np.abs(rounded - values) < 6) and np.all(rounded[(values % 3 == 0)] % 3 == 0)
        if near and rounded[ids[0, 0]] + 5 >= values[ids[0, 0]] + 5:
            best = min(best, float(np.abs(rounded - values).sum()))
    assert found.steps == 1
    assert found.distance == best
    assert found.bound == pytest.approx(best)
