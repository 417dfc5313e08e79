"""Costs by distance: the definition of the modular method, slowly and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.data.hierarchy import Hierarchy
from reticent.data.table import Table
from reticent.tables.nearness import distance_cost
from reticent.tabulation.finished import CellColumns, finished_table

STEPS = (1.0, 3.0, 5.0, 9.0, 17.0)


def table_of(rows: int, columns: int, *, tree: Hierarchy | None = None) -> Table:
    """A table of ones with all its totals."""
    first = tree or Hierarchy.flat([f"r{i}" for i in range(rows)])
    second = Hierarchy.flat([f"c{i}" for i in range(columns)])
    cells = [(a, b) for a in first.leaves for b in second.leaves]
    found = CellColumns(
        ("row", "column"), tuple(zip(*cells, strict=True)), ((first,), (second,)), ("Total", "Total"),
        np.ones(len(cells)),
    )  # fmt: skip
    return finished_table(found, complete=True)


def at(table: Table, *codes: str) -> int:
    """The number of a cell."""
    cell = table.find(codes)
    assert cell is not None
    return cell


def test_costs_along_a_row_and_a_column() -> None:
    table = table_of(7, 7)
    primary = np.zeros(table.n_cells, dtype=bool)
    primary[at(table, "r0", "c0")] = True
    cost = distance_cost(table, primary, {"row": STEPS, "column": (2.0, 4.0, 6.0, 8.0, 10.0)})
    assert [cost[at(table, f"r{i}", "c0")] for i in range(1, 7)] == [1, 3, 5, 9, 17, 17]
    assert [cost[at(table, "r0", f"c{i}")] for i in range(1, 7)] == [2, 4, 6, 8, 10, 10]
    assert cost[at(table, "r3", "c3")] == 17  # no unsafe cell in its row or column: the largest number
    assert cost[at(table, "Total", "c0")] == 17 + 17
    assert cost[at(table, "Total", "Total")] == 17 + 2 * 17


def test_the_nearest_counts_and_a_dimension_may_have_no_numbers() -> None:
    table = table_of(6, 2)
    primary = np.zeros(table.n_cells, dtype=bool)
    primary[[at(table, "r0", "c0"), at(table, "r5", "c0")]] = True
    cost = distance_cost(table, primary, {"row": STEPS})
    assert [cost[at(table, f"r{i}", "c0")] for i in (1, 2, 3, 4)] == [1, 3, 3, 1]
    assert cost[at(table, "r0", "c1")] == 17  # the column has no <DISTANCE>


def test_only_parts_of_the_same_total_are_near() -> None:
    tree = Hierarchy.from_children({"Total": ("A", "B"), "A": ("a1", "a2"), "B": ("b1", "b2")})
    table = table_of(0, 2, tree=tree)
    primary = np.zeros(table.n_cells, dtype=bool)
    primary[at(table, "a2", "c0")] = True
    cost = distance_cost(table, primary, {"row": STEPS})
    assert cost[at(table, "a1", "c0")] == 1
    assert cost[at(table, "b1", "c0")] == 17
    assert cost[at(table, "A", "c0")] == 17 + 17
    primary[at(table, "A", "c0")] = True
    assert distance_cost(table, primary, {"row": STEPS})[at(table, "B", "c0")] == 1 + 17


@pytest.mark.parametrize("steps", [{"row": (0.0,) * 5}, {}])
def test_without_numbers_cells_cost_the_same_at_each_level(steps: dict[str, tuple[float, ...]]) -> None:
    table = table_of(3, 3)
    cost = distance_cost(table, np.zeros(table.n_cells, dtype=bool), steps)
    assert set(cost[table.is_inner]) == {1.0}
    assert cost[at(table, "Total", "Total")] == 3.0


def slowly(table: Table, primary: np.ndarray, steps: dict[str, tuple[float, ...]], cell: int) -> float:
    """Word for word: look at every unsafe cell."""
    far = max([1.0, *(max(numbers) for numbers in steps.values())])
    best = far
    for other in np.flatnonzero(primary):
        differ = [d for d in range(2) if table.codes[cell, d] != table.codes[other, d]]
        if len(differ) != 1 and not (not differ and other == cell):
            continue
        for d in differ or (0, 1):
            mine, its = int(table.codes[cell, d]), int(table.codes[other, d])
            if table.dimensions[d].name not in steps or 0 in (mine, its):
                continue
            away = abs(mine - its)
            best = min(best, 0.0 if away == 0 else steps[table.dimensions[d].name][min(away, 5) - 1])
    height = sum(table.codes[cell, d] == 0 for d in range(2))
    return best + far * height


@given(rows=st.integers(1, 8), columns=st.integers(1, 5), seed=st.integers(0, 10_000))
def test_against_the_slow_way(rows: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = table_of(rows, columns)
    primary = rng.random(table.n_cells) < 0.2
    steps = {"row": tuple(np.sort(rng.integers(0, 20, 5)).astype(float)), "column": STEPS}
    cost = distance_cost(table, primary, steps)
    safe = np.flatnonzero(~primary)
    assert [cost[c] for c in safe] == [slowly(table, primary, steps, int(c)) for c in safe]
