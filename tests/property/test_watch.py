"""A watch asks only what was open before: while a pattern grows it finds what a new look at the whole finds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import crossed, flat, nested
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.demands import Kind
from reticent.tables.suppression.watch import Watch
from samples import examples


@examples(5)
@given(seed=st.integers(0, 10**6), level=st.sampled_from([0.0, 0.2]))
def test_a_growing_pattern_is_judged_as_if_it_were_new(seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    trees = [nested(2, 3), flat(4)]
    counts, relations = crossed(trees, rng.integers(0 if seed % 2 else 1, 6, (6, 4)).astype(float))
    values, _ = crossed(
        trees, counts.reshape(9, 5)[np.ix_([2, 3, 4, 6, 7, 8], range(1, 5))] * rng.integers(3, 30, (6, 4))
    )
    problem = SuppressionProblem.from_values(
        values,
        relations,
        primary=(counts > 0) & (counts < 3) & (rng.random(len(counts)) < 0.8),
        counts=counts.astype(np.int64),
        lower_protection=level * values,
        upper_protection=level * values,
    )
    watch = Watch(problem, rng, singletons=True)
    order = rng.permutation(np.flatnonzero(problem.candidates))
    pattern = problem.forced.copy()
    for part in np.array_split(order, 4):
        quick = set(watch.lost(pattern).tolist())
        wanted = Watch(problem, rng, singletons=True).demands(pattern)
        assert quick >= {d.cell for d in wanted if not d.known}
        found = watch.demands(pattern)
        assert {_key(d) for d in found} == {_key(d) for d in wanted}
        pattern = pattern.copy()
        pattern[part] = True


def _key(demand: object) -> tuple[int, Kind, tuple[int, ...]]:
    return demand.cell, demand.kind, demand.known  # type: ignore[attr-defined]
