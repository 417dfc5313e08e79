"""Elimination modulo a prime against the same in fractions, and what the attacker concludes from its kernel vectors.

The generated systems are so small that every minor is below the prime (a row of at most five terms of at most 2 has length
10 or less, so a minor of seven rows is at most 10⁷): ranks and zeros modulo the prime are
those of the rationals, so the comparison is exact and not only likely.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reference.elimination_reference import completed, echelon, reduced_modulo, residue
from reference.rational_rows import Span
from reticent.kernels.elimination import PRIME, complete_kernel, eliminate, reduce_modulo

Terms = list[tuple[int, int]]


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[Terms], list[int], int]:
    """Sparse rows (a cell may be named twice, a row may be empty), the order they are taken in, the number of cells."""
    n_cells = draw(st.integers(1, 8))
    term = st.tuples(st.integers(0, n_cells - 1), st.sampled_from([-2, -1, 1, 2]))
    rows = draw(st.lists(st.lists(term, max_size=5), max_size=7))
    return rows, draw(st.permutations(range(len(rows)))), n_cells


def dense(rows: list[Terms], n_cells: int) -> list[list[int]]:
    """The rows with all their zeros."""
    return [[sum(coef for cell, coef in row if cell == c) for c in range(n_cells)] for row in rows]


def run(rows: list[Terms], order: list[int], n_cells: int) -> tuple[NDArray[np.int64], ...]:
    """The kernel on the arrays it takes."""
    indptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    terms = [term for row in rows for term in row]
    cells = np.array([cell for cell, _ in terms], dtype=np.int32)
    coefs = np.array([coef for _, coef in terms], dtype=np.int64)
    found = eliminate(indptr, cells, coefs, np.array(order, dtype=np.int64), n_cells)
    return tuple(found)


@given(systems())
def test_the_echelon_form_is_that_of_the_rationals(system: tuple[list[Terms], list[int], int]) -> None:
    rows, order, n_cells = system
    matrix = dense(rows, n_cells)
    start, columns, entries, pivot = run(rows, order, n_cells)
    assert len(pivot) == len(Span(matrix).rows)
    assert len(set(pivot.tolist())) == len(pivot)
    wanted = echelon([matrix[row] for row in order], pivot.tolist())
    assert len(wanted) == len(pivot)
    uses = [sum(1 for row in rows for cell, _ in row if cell == c) for c in range(n_cells)]
    for t, row in enumerate(wanted):
        part = slice(start[t], start[t + 1])
        found = dict(zip(columns[part].tolist(), entries[part].tolist(), strict=True))
        assert found == {c: residue(value, PRIME) for c, value in enumerate(row) if value}
        # the sparsest column is taken, so that little is filled in
        assert uses[pivot[t]] == min(uses[c] for c in found)


@given(systems(), st.integers(0, 10**6))
def test_completed_vectors_lie_in_the_kernel(system: tuple[list[Terms], list[int], int], seed: int) -> None:
    rows, order, n_cells = system
    matrix = dense(rows, n_cells)
    parts = run(rows, order, n_cells)
    free = np.random.default_rng(seed).integers(0, PRIME, n_cells)
    found = complete_kernel(*parts, free.copy()).tolist()
    pivots = parts[3].tolist()
    assert all(found[c] == free[c] for c in range(n_cells) if c not in pivots)
    assert all(0 <= value < PRIME for value in found)
    for row in matrix:
        assert sum(a * b for a, b in zip(row, found, strict=True)) % PRIME == 0
    wanted = completed(echelon([matrix[row] for row in order], pivots), pivots, free.tolist())
    assert found == [residue(value, PRIME) for value in wanted]


@given(systems(), st.integers(0, 10**6))
def test_zeros_and_equal_ratios_tell_what_is_fixed_and_what_moves_together(
    system: tuple[list[Terms], list[int], int], seed: int
) -> None:
    """The attacker's use: a cell with 0 is determined by the relations; two cells of one ratio determine each other."""
    rows, order, n_cells = system
    parts = run(rows, order, n_cells)
    rng = np.random.default_rng(seed)
    first, second = (complete_kernel(*parts, rng.integers(1, PRIME, n_cells)).tolist() for _ in range(2))
    unit = np.eye(n_cells, dtype=int).tolist()
    matrix = dense(rows, n_cells)
    span = Span(matrix)
    fixed = [span.contains(unit[c]) for c in range(n_cells)]
    assert [value == 0 for value in first] == fixed
    for i, j in itertools.combinations([c for c in range(n_cells) if not fixed[c]], 2):
        together = Span([*matrix, unit[i]]).contains(unit[j])
        assert ((first[i] * second[j] - first[j] * second[i]) % PRIME == 0) == together


@pytest.mark.parametrize("seed", range(5))
def test_fill_in_beyond_the_first_allocation(seed: int) -> None:
    """Dense rows make the arrays grow; the result still spans the same rows (checked modulo the prime)."""
    rng = np.random.default_rng(seed)
    n_cells, n_rows = 100, 80
    rows: list[Terms] = [
        [(int(c), int(rng.choice([-1, 1]))) for c in rng.choice(n_cells, 6, replace=False)] for _ in range(n_rows)
    ]
    parts = run(rows, rng.permutation(n_rows).tolist(), n_cells)
    assert len(parts[1]) > 2 * 6 * n_rows
    assert len(parts[3]) == n_rows
    vector = complete_kernel(*parts, rng.integers(1, PRIME, n_cells)).tolist()
    assert all(sum(coef * vector[cell] for cell, coef in row) % PRIME == 0 for row in rows)
    assert all(vector)


@given(st.integers(0, 6), st.integers(1, 7), st.sampled_from([2, 3, 5]), st.randoms(use_true_random=False))
def test_reduced_rows_modulo_a_small_prime_are_those_of_the_slow_way(n: int, width: int, prime: int, random) -> None:
    rows = [[random.randrange(prime) for _ in range(width)] for _ in range(n)]
    table = np.array(rows, dtype=np.int64).reshape(n, width)
    rank = reduce_modulo(table, prime)
    expected = reduced_modulo(rows, prime)
    assert rank == len(expected)
    assert table[:rank].tolist() == expected
    assert not table[rank:].any()
