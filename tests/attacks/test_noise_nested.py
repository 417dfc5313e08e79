"""Codes of several trees that contain each other: published differently, they have somebody between them.

The attacker enumerates all true counts of four codes. Until November 2026 only totals and their own parts were compared: of 130
generated tables with `largest = 1` that were held, 3 gave a count of 1 or 2 away, of 180 randomly rounded to base 3 one.
"""

import itertools

import numpy as np
import polars as pl
import pytest

from reticent import methods, rules
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.methods import TableMethod

LEAVES = "xyzu"
PARTS = {"Total": "xyzu", "P": "xy", "Q": "zu", "R": "xyz", **{leaf: leaf for leaf in LEAVES}}
TREES = (
    Hierarchy.from_children({"Total": ["P", "Q"], "P": ["x", "y"], "Q": ["z", "u"]}),
    Hierarchy.from_children({"Total": ["R", "u"], "R": ["x", "y", "z"]}),
)
SCHEMA = Schema((Variable("id", role=Role.IDENTIFIER), Variable("a", role=Role.KEY, codes=tuple(LEAVES))))
WORLDS = np.array(list(itertools.product(range(6), repeat=4)))
NARROW: TableMethod = methods.CellKey(largest=1, variance=0.5, skip=0)
ROUNDED: TableMethod = methods.RandomRounding(base=3)


def _determined(shown: dict[str, float], most: int) -> set[str]:
    """Codes with one possible count above 0: changes are at most `most`, 0 stays 0, and who differs is not the same."""
    true = {code: WORLDS[:, [LEAVES.index(leaf) for leaf in parts]].sum(axis=1) for code, parts in PARTS.items()}
    fits = np.ones(len(WORLDS), dtype=bool)
    for code, counts in true.items():
        fits &= (np.abs(counts - shown[code]) <= most) & ((counts > 0) | (shown[code] == 0))
    for one, other in itertools.permutations(PARTS, 2):
        if set(PARTS[one]) > set(PARTS[other]) and shown[one] != shown[other]:
            fits &= true[one] > true[other]
    assert fits.any()
    return {code for code, counts in true.items() if len(np.unique(counts[fits])) == 1 and counts[fits][0]}


@pytest.mark.parametrize(("method", "most"), [(NARROW, 1), (ROUNDED, 2)], ids=["cell-key", "random-rounding"])
@pytest.mark.parametrize("linked", [False, True], ids=["one table", "linked tables"])
def test_nested_codes_of_two_trees_are_compared(method: TableMethod, most: int, linked: bool) -> None:
    codes = [leaf for leaf, n in zip(LEAVES, (3, 1, 1, 2), strict=True) for _ in range(n)]
    data = Microdata.of(pl.DataFrame({"id": [f"p{at}" for at in range(len(codes))], "a": codes}), SCHEMA)
    trees = [TREES[:1], TREES[1:]] if linked else [TREES]
    result = protect_table(
        data, [TableSpec((DimensionSpec("a", trees=own),)) for own in trees],
        rules=[rules.Threshold(3)], method=method, secret=119, test_secret=True, accept_exposed=True,
    )  # fmt: skip
    shown = {
        codes[0]: value for table in result.published for codes, value in zip(table.codes, table.values, strict=True)
    }
    known = _determined(shown, most)
    assert "z" in known
    assert known <= {result.table.cell_codes(cell)[0] for cell in result.exposed}
