"""Relations that close circles: flats against all sets, rows against all patterns, optima against trying."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import cheapest_by_trying
from reticent.base.errors import InfeasibleError
from reticent.data.relations import Relations
from reticent.kernels.flats import flats
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Optimal
from reticent.tables.suppression.circles import Circles

# a, b, c and overlapping sums of them: d = a + b, e = b + c, f = a + b + c
PARTS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]])
SUMS = [((0, 1), 3), ((1, 2), 4), ((3, 2), 5)]


def overlapping(across: int, seed: int, level: float) -> SuppressionProblem:
    """A table over codes with overlapping sums, by a list of `across` codes and their total if there is more than one."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(1, 15, (3, across)).astype(float)
    table = PARTS @ (np.column_stack((inner, inner.sum(axis=1))) if across > 1 else inner)
    number = np.arange(table.size).reshape(table.shape)
    rows = [
        ([*number[list(few), at], number[total, at]], [1, 1, -1]) for few, total in SUMS for at in range(table.shape[1])
    ]
    if across > 1:
        rows += [(number[at].tolist(), [1] * across + [-1]) for at in range(len(PARTS))]
    values = table.ravel()
    primary = rng.random(len(values)) < 0.2
    frozen = (rng.random(len(values)) < 0.1) & ~primary
    return SuppressionProblem.from_values(
        values, Relations.from_rows(len(values), rows), primary=primary, frozen=frozen,
        lower_protection=level * values, upper_protection=level * values,
    )  # fmt: skip


def movements(problem: SuppressionProblem) -> np.ndarray:
    """A basis of the movements, a column each."""
    _, sizes, right = np.linalg.svd(problem.relations.matrix().toarray())
    return np.asarray(right[int((sizes > 1e-9).sum()) :].T)


@given(st.lists(st.lists(st.integers(-1, 1), min_size=3, max_size=3), min_size=1, max_size=6))
def test_flats_are_the_closed_sets(vectors: list[list[int]]) -> None:
    rows = np.array(vectors, dtype=np.int64)
    closed = set()
    for chosen in itertools.product((False, True), repeat=len(rows)):
        rank = np.linalg.matrix_rank(rows[list(chosen)])
        inside = [np.linalg.matrix_rank(np.vstack((rows[list(chosen)], row))) == rank for row in rows]
        closed.add(sum(1 << at for at, is_in in enumerate(inside) if is_in))
    found = flats(rows % 2147483647, 100)
    assert sorted(found.tolist()) == sorted(closed)
    assert len(flats(rows % 2147483647, max(1, len(closed) - 1))) == (0 if len(closed) > 1 else 1)


@given(across=st.integers(1, 2), seed=st.integers(0, 10**6))
def test_rows_cut_off_no_pattern_without_idle_cells(across: int, seed: int) -> None:
    problem = overlapping(across, seed, 0)
    basis, rng = movements(problem), np.random.default_rng(seed)
    rows, right = Circles(problem).rows(rng.random(problem.n_cells) * problem.candidates, until=np.inf)
    for _ in range(40):
        # the cells that a random movement leaves alone, made larger one by one
        zero = ~(problem.candidates | problem.forced)
        for cell in [-1, *rng.permutation(problem.n_cells).tolist()]:
            trial = zero | (np.arange(problem.n_cells) == cell)
            rank = np.linalg.matrix_rank(basis[trial])
            closed = np.array(
                [np.linalg.matrix_rank(basis[trial | (np.arange(len(trial)) == c)]) == rank for c in range(len(trial))]
            )
            if (closed & problem.primary).any():
                continue
            zero = closed
            assert (rows @ (~zero & problem.candidates).astype(float) >= right - 1e-12).all()
            if rng.random() < 0.2:
                break


@pytest.mark.parametrize("level", [0, 0.2])
@given(across=st.integers(1, 2), seed=st.integers(0, 10**6))
def test_optimal_with_overlapping_sums_equals_exhaustive(level: float, across: int, seed: int) -> None:
    problem = overlapping(across, seed, level)
    wanted = cheapest_by_trying(problem)
    if np.isinf(wanted):
        with pytest.raises(InfeasibleError):
            Optimal().protect(problem, time_limit=20)
        return
    found = Optimal().protect(problem, time_limit=20)
    assert found.status == "optimal"
    assert found.cost == pytest.approx(wanted)
