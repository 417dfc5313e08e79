"""Intervals narrowed by sums: never narrower than the truth, and exact where enumeration is possible by one relation."""

from itertools import product

import numpy as np
import pytest

from reticent.data.relations import Relations
from reticent.kernels.intervals import OPEN, propagate

ALL = np.zeros((0, 1), dtype=bool)
NOBODY = np.zeros(0, dtype=np.int64)


def narrow(
    relations: Relations,
    low: list[int],
    high: list[int],
    *,
    sets: dict[int, list[int]] | None = None,
    alike: list[int] | None = None,
) -> tuple[int, list[int], list[int]]:
    """Propagate; `sets` are the values that some cells may have."""
    n = relations.n_cells
    bottom, top = np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)
    base, pattern = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int32)
    patterns = np.zeros((len(sets or {}), 16), dtype=bool)
    for row, (cell, values) in enumerate((sets or {}).items()):
        pattern[cell] = row
        patterns[row, values] = True
    indptr, rows, _ = relations.by_cell
    done = propagate(
        relations.indptr, relations.cells, relations.coefs, np.rint(relations.rhs).astype(np.int64), indptr, rows,
        bottom, top, base, pattern, patterns, NOBODY if alike is None else np.array(alike, dtype=np.int64),
    )  # fmt: skip
    return done, bottom.tolist(), top.tolist()


def sums(n_cells: int, rows: list[list[tuple[int, int]]]) -> Relations:
    indptr = np.cumsum([0, *map(len, rows)])
    cells = np.array([cell for row in rows for cell, _ in row])
    coefs = np.array([coef for row in rows for _, coef in row])
    return Relations.from_arrays(n_cells, indptr, cells, coefs)


ONE_SUM = sums(3, [[(0, 1), (1, 1), (2, -1)]])


def test_a_total_limits_its_parts() -> None:
    assert narrow(ONE_SUM, [0, 0, 4], [9, 9, 4]) == (2, [0, 0, 4], [4, 4, 4])


def test_parts_limit_their_total() -> None:
    done, low, high = narrow(ONE_SUM, [1, 2, 0], [3, 5, 99])
    assert done > 0
    assert (low, high) == ([1, 2, 3], [3, 5, 8])


def test_an_open_end_stays_open_until_something_closes_it() -> None:
    far = int(OPEN)
    assert narrow(ONE_SUM, [0, 0, 0], [far, far, far])[2] == [far, far, far]
    assert narrow(ONE_SUM, [0, 3, 0], [far, far, 7])[2] == [4, 7, 7]


def test_no_values_left_is_said() -> None:
    assert narrow(ONE_SUM, [5, 5, 0], [9, 9, 8])[0] == -1


def test_values_that_a_cell_cannot_have_are_skipped() -> None:
    """A cell that is 0, 3 or 4 and at least 1 is at least 3; the rest of the total follows."""
    done, low, high = narrow(ONE_SUM, [0, 0, 5], [9, 4, 5], sets={0: [0, 3, 4]})
    assert done > 0
    assert (low[0], high[0]) == (3, 4)
    assert (low[1], high[1]) == (1, 2)


def test_a_part_published_unlike_its_total_is_not_all_of_it() -> None:
    """Cells with the same records share a number in `alike`: other numbers mean that somebody is elsewhere."""
    _, low, high = narrow(ONE_SUM, [0, 0, 3], [9, 9, 3], alike=[1, -1, 2])
    assert (low[0], high[0]) == (0, 2)
    assert low[1] == 1


@pytest.mark.parametrize("seed", range(20))
def test_no_table_that_fits_is_lost(seed: int) -> None:
    """Two rows and two columns: each value of each table that fits lies within what is left."""
    rng = np.random.default_rng(seed)
    cells = 8  # a b | row, c d | row; columns a c, b d
    relations = sums(
        cells,
        [
            [(0, 1), (1, 1), (4, -1)], [(2, 1), (3, 1), (5, -1)], [(0, 1), (2, 1), (6, -1)], [(1, 1), (3, 1), (7, -1)],
        ],
    )  # fmt: skip
    inner = rng.integers(0, 4, 4)
    truth = np.array([*inner, inner[:2].sum(), inner[2:].sum(), inner[0] + inner[2], inner[1] + inner[3]])
    low = np.maximum(truth - rng.integers(0, 3, cells), 0)
    high = truth + rng.integers(0, 3, cells)
    done, bottom, top = narrow(relations, low.tolist(), high.tolist())
    assert done > 0
    fitting = []
    for a, b, c, d in product(range(6), repeat=4):
        table = np.array([a, b, c, d, a + b, c + d, a + c, b + d])
        if bool(((low <= table) & (table <= high)).all()):
            fitting.append(table)
    every = np.array(fitting)
    assert bool((every >= bottom).all() and (every <= top).all())
    assert bool((np.array(bottom) >= low).all() and (np.array(top) <= high).all())
    assert bool((truth >= bottom).all() and (truth <= top).all())
