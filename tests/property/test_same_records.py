"""Cells with the same records, against sets of record numbers written out."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.tabulation.linked import link
from reticent.tabulation.same_records import record_marks, same_cells, with_same_cells
from reticent.tabulation.tabulate import tabulate


def made(seed: int, n: int) -> Microdata:
    """Records with three flat variables of few codes."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.choice(list("pqr"), n).tolist() for name in "abc"}
    frame = pl.DataFrame({**columns, "v": rng.integers(1, 9, n)})
    variables = [Variable(name) for name in "abc"]
    return Microdata.of(frame, Schema((*variables, Variable("v", kind=Kind.NUMERIC))))


def records_of(data: Microdata, table: Table, cell: int) -> frozenset[int]:
    """The numbers of the records of a cell."""
    keep = np.ones(data.n_records, dtype=bool)
    for dimension, code in zip(table.dimensions, table.cell_codes(cell), strict=True):
        if code != dimension.codes[0]:
            keep &= np.array(data.categories(dimension.name))[data.encoded(dimension.name).codes] == code
    return frozenset(np.flatnonzero(keep).tolist())


@given(seed=st.integers(0, 10_000), n=st.integers(1, 8))
def test_groups_are_the_equal_sets(seed: int, n: int) -> None:
    data = made(seed, n)
    specs = [tuple(DimensionSpec(name) for name in pair) for pair in ("ab", "bc")]
    tables = [tabulate(data, TableSpec(spec, response="v")) for spec in specs]
    system = link(tables)
    groups = same_cells(
        system, [record_marks(data, s, t, secret=as_secret(1)) for s, t in zip(specs, tables, strict=True)]
    )
    sets: dict[frozenset[int], set[int]] = {}
    for table, members in zip(tables, system.members, strict=True):
        for cell in range(table.n_cells):
            sets.setdefault(records_of(data, table, cell), set()).add(int(members[cell]))
    assert {frozenset(group) for group in groups} == {frozenset(cells) for cells in sets.values() if len(cells) > 1}
    joined = with_same_cells(system, groups)
    assert np.abs(joined.relations.residuals(joined.table.values)).max(initial=0.0) == 0
    assert joined.relations.n_rows == system.relations.n_rows + sum(len(group) - 1 for group in groups)
