"""Cells that move together, and the system that is left, compared with the kernel in fractions."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference.rational_rows import Span
from reticent.data.relations import Relations
from reticent.kernels.ball import ball
from reticent.kernels.merging import merge, merged_rows


def system(seed: int, n_cells: int, n_rows: int, largest: int) -> Relations:
    """Random relations; many have one or two cells, some repeat others."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_rows):
        size = int(rng.choice((1, 2, 2, 2, 3, 4), p=(0.05, 0.25, 0.25, 0.15, 0.2, 0.1)))
        cells = rng.choice(n_cells, min(size, n_cells), replace=False)
        coefs = rng.integers(1, largest + 1, len(cells)) * rng.choice((-1, 1), len(cells))
        rows.append((cells.tolist(), coefs.tolist()))
        if rng.random() < 0.3:
            rows.append((cells[::-1].tolist(), (-2 * coefs[::-1]).tolist()))
    return Relations.from_rows(n_cells, rows)


def unit(n: int, *entries: tuple[int, int]) -> list[int]:
    row = [0] * n
    for cell, value in entries:
        row[cell] += value
    return row


@given(
    seed=st.integers(0, 10**6), n_cells=st.integers(1, 14), n_rows=st.integers(0, 16), largest=st.sampled_from((1, 2))
)
def test_merging_follows_from_the_relations_and_loses_nothing(
    seed: int, n_cells: int, n_rows: int, largest: int
) -> None:
    relations = system(seed, n_cells, n_rows, largest)
    whole = Span(relations.matrix().toarray().astype(int).tolist())
    leader, sign = merge(relations.indptr, relations.cells, relations.coefs, n_cells)
    ties = Span()
    for cell in range(n_cells):
        tie = unit(n_cells, (cell, 1))
        if leader[cell] >= 0:
            tie = unit(n_cells, (cell, 1), (int(leader[cell]), -int(sign[cell])))
        assert whole.contains(tie), "a tie must follow from the relations"
        ties.add(tie)
    used = np.unique(leader[leader >= 0])
    number = np.append(np.full(n_cells, -1), -1)
    number[used] = np.arange(len(used))
    start, columns, entries = merged_rows(
        relations.indptr, relations.cells, relations.coefs, number[leader], sign, len(used)
    )
    for row in range(len(start) - 1):
        part = slice(start[row], start[row + 1])
        ties.add(unit(n_cells, *zip(used[columns[part]].tolist(), entries[part].tolist(), strict=True)))
        assert not (len(columns[part]) == 2 and abs(entries[part]).tolist() == [1, 1]), "a pair was left untied"
        assert len(columns[part]) > 1, "a fixed movement was left"
        assert (np.diff(columns[part]) > 0).all()
    assert all(ties.contains(row) for row in relations.matrix().toarray().astype(int).tolist()), "a relation was lost"
    kept = [(columns[a:b].tobytes(), entries[a:b].tobytes()) for a, b in pairwise(start)]
    assert len(set(kept)) == len(kept), "a row is there twice"


def test_coefficients_beyond_one_byte_are_kept() -> None:
    """300 cells that all move with the first: what is left is one relation with a coefficient of 300."""
    ties = [([k, k + 1], [1, -1]) for k in range(299)]
    together = ([*range(300), 300, 301], [1] * 300 + [1, 1])
    relations = Relations.from_rows(302, [*ties, together])
    leader, sign = merge(relations.indptr, relations.cells, relations.coefs, 302)
    assert len(np.unique(leader)) == 3
    used = np.unique(leader)
    _, _, entries = merged_rows(
        relations.indptr, relations.cells, relations.coefs, np.searchsorted(used, leader), sign, 3
    )
    assert sorted(np.abs(entries).tolist()) == [1, 1, 300]


@given(seed=st.integers(0, 10**6), depth=st.integers(0, 5))
def test_ball_is_a_search_in_steps(seed: int, depth: int) -> None:
    relations = system(seed, 20, 18, 1)
    rng = np.random.default_rng(seed)
    inside = rng.random(20) < 0.6
    cell = int(rng.integers(20))
    rows: set[int] = set()
    cells = {cell}
    for _ in range(depth):
        rows |= {r for r in range(relations.n_rows) if cells & set(relations.row(r)[0].tolist())}
        cells |= {c for r in rows for c in relations.row(r)[0].tolist() if inside[c]}
    by_cell, rows_of, _ = relations.by_cell
    found = ball(relations.indptr, relations.cells, by_cell, rows_of, inside, cell, depth)
    assert found.tolist() == sorted(rows)
