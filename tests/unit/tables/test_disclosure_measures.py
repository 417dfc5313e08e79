"""SAP, group disclosure and granularity of whole tables, each against counting by hand."""

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.base.errors import ParameterError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.tables.granularity import table_granularity
from reticent.tables.group_disclosure import group_disclosures
from reticent.tables.sap import sap, sap_exact, sap_linked, sap_simulated
from reticent.tabulation.tabulate import tabulate


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_sap_counts_all_ways(counts: list[int], data: st.DataObject) -> None:
    people = [cell for cell, count in enumerate(counts) for _ in range(count)]
    known = data.draw(st.integers(0, len(people)))
    sets = list(itertools.combinations(range(len(people)), known))
    hits = sum(
        any(sum(people[i] == cell for i in chosen) == count for cell, count in enumerate(counts)) for chosen in sets
    )
    assert sap_exact(counts, known) == Fraction(hits, len(sets))


def test_sap_by_simulation_agrees_within_its_error() -> None:
    counts = [1, 2, 2, 5, 9, 30]
    for known in (1, 3, 8):
        exact = float(sap_exact(counts, known))
        drawn = sap_simulated(counts, known, secret=as_secret(3), draws=20_000)
        assert abs(drawn.probability - exact) < 5 * drawn.error
    assert sap([0, 5], 1).probability == 1.0
    with pytest.raises(ParameterError, match="known must be a whole number from 0 to 3"):
        sap([1, 2], 4)


def test_linked_tables_raise_the_probability() -> None:
    cells = np.array([[0, 0], [0, 1], [1, 1], [1, 1], [1, 1]])
    both = sap_linked(cells, 1, secret=as_secret(1), draws=4000)
    assert both.probability == pytest.approx(0.2, abs=0.04)  # only the one in a cell of its own (table 2)


def table_of(rows: list[tuple[str, str]]) -> Table:
    """A two-way count table."""
    schema = Schema((Variable("a", role=Role.KEY), Variable("b", role=Role.KEY)))
    frame = pl.DataFrame({"a": [r[0] for r in rows], "b": [r[1] for r in rows]})
    return tabulate(Microdata.of(frame, schema), TableSpec((DimensionSpec("a"), DimensionSpec("b"))))


def test_group_disclosure_finds_the_row_in_one_column() -> None:
    table = table_of([("x", "ill")] * 4 + [("y", "ill")] * 5 + [("y", "well")])
    found = {(table.cell_codes(g.group), table.cell_codes(g.inside), g.others) for g in group_disclosures(table)}
    assert (("x", "Total"), ("x", "ill"), 0) in found
    assert (("Total", "well"), ("y", "well"), 0) in found
    assert not any(group == ("y", "Total") for group, _, _ in found)
    wider = group_disclosures(table, coalition=1)
    assert any(table.cell_codes(g.group) == ("y", "Total") and g.others == 1 for g in wider)


def test_hyper_rows_of_a_table() -> None:
    rows = [("x", "1")] + [("x", "2")] * 3 + [("x", "3")] * 4 + [("x", "4"), ("x", "5")]
    rows += [("y", code) for code, n in zip("12345", (1, 30, 18, 9, 2), strict=True) for _ in range(n)]
    found = {g.row: g for g in table_granularity(table_of(rows)) if g.row in (("x",), ("y",))}
    assert found[("x",)].unsafe
    assert found[("x",)].index == 0.6
    assert not found[("y",)].unsafe
