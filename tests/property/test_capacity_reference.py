"""Capacity rows of single relations, made at once, as by looking at each level and each relation."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import crossed, flat, nested
from reticent.data.relations import Relations
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.capacity import capacity_rows
from reticent.tables.suppression.demands import Kind, demands_of

TREES = [[flat(6)], [flat(4), flat(3)], [nested(2, 3), flat(3)], [flat(2), flat(2), flat(3)]]


def problem_of(kind: int, seed: int) -> SuppressionProblem:
    rng = np.random.default_rng(seed)
    trees = TREES[kind]
    values, relations = crossed(trees, rng.integers(0, 30, [sum(not c for c in t) for t in trees]).astype(float))
    if seed % 3 == 0:  # other coefficients than one
        coefs = relations.coefs * np.where(np.arange(len(relations.coefs)) % 2, 2, 1)
        rest = Relations.from_arrays(relations.n_cells, relations.indptr, relations.cells, coefs).matrix() @ values
        relations = Relations.from_arrays(relations.n_cells, relations.indptr, relations.cells, coefs, rest)
    primary = (rng.random(len(values)) < 0.3) & (values > 0)
    levels = np.where(primary, np.round(values * rng.uniform(0, 0.6, len(values)), 1), 0.0)
    return SuppressionProblem.from_values(
        values, relations, primary=primary, upper_protection=levels, lower_protection=levels[::-1] * primary * 0.5
    )


def one_by_one(problem: SuppressionProblem) -> list[list[tuple[int, float]]]:
    relations, found = problem.relations, []
    up, down = problem.upper_bound - problem.values, problem.values - problem.lower_bound
    for demand in demands_of(problem):
        for row in range(relations.n_rows):
            entries = dict(zip(*(part.tolist() for part in relations.row(row)), strict=True))
            if demand.cell not in entries or demand.kind not in (Kind.UP, Kind.DOWN):
                continue
            own = entries.pop(demand.cell) * (1 if demand.kind is Kind.UP else -1)
            helps = {c: min(demand.need, (down if k * own > 0 else up)[c] * abs(k / own)) for c, k in entries.items()}
            rest = demand.need - sum(h for c, h in helps.items() if problem.forced[c])
            free = {c: h for c, h in helps.items() if problem.candidates[c]}
            if rest > 1e-9 * demand.need and any(h < rest for h in free.values()):
                found.append(sorted((c, min(1.0, h / rest)) for c, h in free.items()))
    return found


@given(kind=st.integers(0, 3), seed=st.integers(0, 10**6))
def test_capacity_rows(kind: int, seed: int) -> None:
    problem = problem_of(kind, seed)
    rows = capacity_rows(problem, demands_of(problem))
    made = [
        sorted(zip(rows.indices[a:b].tolist(), rows.data[a:b].tolist(), strict=True))
        for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    ]
    wanted = one_by_one(problem)
    assert [[c for c, _ in row] for row in sorted(made)] == [[c for c, _ in row] for row in sorted(wanted)]
    for row, other in zip(sorted(made), sorted(wanted), strict=True):
        np.testing.assert_allclose([w for _, w in row], [w for _, w in other])
