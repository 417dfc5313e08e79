"""Relations in words, and revelations that really prove what they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.tables import crossed, flat, full_intervals, nested
from reticent.data.relations import Relations
from reticent.tables.attack import audit
from reticent.tables.attack.reveal import relation_words
from reticent.tables.problem import SuppressionProblem
from samples import examples


def test_relations_in_words() -> None:
    rows = [([0, 1, 2], [-1, 1, 1]), ([0, 1, 2], [1, -1, -1]), ([0, 1, 2], [1, -1, 1]), ([0, 1], [2, -1])]
    relations = Relations.from_rows(12, [*rows, (list(range(12)), [-1] + [1] * 11)])
    names = "abcdefghijkl"
    words = [relation_words(relations, row, lambda cell: names[cell]) for row in range(5)]
    assert words == [
        "a = b + c", "a = b + c", "b = a + c", "+2·a -1·b = 0", "a = b + c + d + e + f + g + … (11 parts)",
    ]  # fmt: skip


@pytest.mark.slow
@examples(8)
@given(seed=st.integers(0, 10**6), share=st.floats(0.2, 0.7))
def test_the_relations_named_are_enough(seed: int, share: float) -> None:
    """With the named relations only, the attacker finds the same interval."""
    rng = np.random.default_rng(seed)
    trees = [nested(2, 2), flat(3)]
    values, relations = crossed(trees, rng.integers(0, 30, (4, 3)).astype(float))
    hidden = rng.random(len(values)) < share
    primary = hidden & (rng.random(len(values)) < 0.5)
    problem = SuppressionProblem.from_values(values, relations, primary=primary, upper_bound=values + 50)
    found = audit(problem, hidden)
    for cell, how in found.revelations.items():
        rows = [(c.tolist(), k.tolist()) for c, k in (relations.row(r) for r in how.relations)]
        part = SuppressionProblem.from_values(
            values, Relations.from_rows(len(values), rows), primary=primary, upper_bound=values + 50
        )
        assert full_intervals(part, hidden)[cell] == pytest.approx((how.low, how.high), abs=1e-5)
