"""The attacker's count of combinations against a slow one, and what the truth behind a published file is."""

from itertools import combinations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.risk.attacked import attacked_combinations, truth_behind
from reticent.microdata.risk.combinations import KeyCombinations

SCHEMA = Schema((Variable("x", role=Role.KEY), Variable("y", role=Role.KEY), Variable("z", role=Role.KEY)))
rows = st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=1, max_size=15)


def _data(records) -> Microdata:
    columns = {name: [r[i] for r in records] for i, name in enumerate("xyz")}
    return Microdata.of(pl.DataFrame(columns, schema=dict.fromkeys("xyz", pl.String)), SCHEMA)


@given(rows, st.data())
def test_counts_agree_with_a_slow_count(records, data) -> None:
    blanks = [[data.draw(st.booleans()) for _ in range(3)] for _ in records]
    shown = [tuple(None if b else v for v, b in zip(r, bs)) for r, bs in zip(records, blanks)]
    if all(r[i] is None for r in shown for i in range(3)):
        return
    truth, published = _data(records), _data(shown)
    table = attacked_combinations(published, truth, KeyCombinations(dimension=2, threshold=1, keys=("x", "y", "z")))
    for size in (1, 2):
        for at in combinations(range(3), size):
            cells = {tuple(r[i] for i in at) for r in shown if all(r[i] is not None for i in at)}
            bad = {c for c in cells if sum(tuple(r[i] for i in at) == c for r in records) <= 1}
            found = next(row for row in table.rows if row.variables == tuple("xyz"[i] for i in at))
            assert (found.cells, found.unsafe_cells) == (len(cells), len(bad))


def test_blanks_of_a_recoded_key_get_their_image_and_perturbed_keys_stay() -> None:
    original = _data([("a", "a", "a"), ("b", "b", "b"), ("a", "b", "c"), ("c", "a", "a")])
    masked = original.with_codes("x", np.array([0, 0, -1, 1], dtype=np.int32), ("ab", "c"))
    masked = masked.with_codes("y", np.array([1, 0, 0, 0], dtype=np.int32), ("a", "b"))
    truth = truth_behind(original, masked, ("x", "y"))
    assert truth.texts("x") == ["ab", "ab", "ab", "c"]
    assert truth.texts("y") == masked.texts("y")
