"""The attacker's count of combinations against a slow one."""

from itertools import combinations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.risk.attacked import attacked_combinations
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
