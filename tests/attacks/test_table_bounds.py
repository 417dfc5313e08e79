"""What everybody knows of the cells of one linked table counts wherever that table stands in the plan."""

import numpy as np
import polars as pl
import pytest

from attacks.bounds_families import attacked
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import BoundsOptions
from reticent.jobs.protect_table import protect_table
from reticent.tables.request import TableRequest, WantedTable
from reticent.tables.rules import Threshold

BROKEN = (1, 7)
"""Cases that gave unsafe sums away when only the bounds of the first table counted."""


@pytest.mark.parametrize("number", BROKEN)
def test_bounds_of_the_second_table_are_known_to_the_attacker(number: int) -> None:
    found = attacked(number, order=0)
    assert found["unsafe"] > 0
    assert found["closely"] == 0


def test_each_table_has_its_own_bounds() -> None:
    rows = [(a, b, t) for a in "xyz" for b in "pqr" for t in ((40, 30) if (a, b) == ("x", "p") else (50, 40, 30))]
    keys = (Variable(name, role=Role.KEY, codes=tuple(codes)) for name, codes in (("a", "xyz"), ("b", "pqr")))
    data = Microdata.of(
        pl.DataFrame(rows, schema=["a", "b", "t"], orient="row"), Schema((*keys, Variable("t", kind=Kind.NUMERIC)))
    )
    tables = tuple(
        WantedTable(
            TableSpec(tuple(map(DimensionSpec, names)), response="t"), (Threshold(3),), data, bounds=BoundsOptions(low)
        )
        for names, low in (("a", 100), ("ab", 30), ("b", None))
    )
    run = protect_table(TableRequest(tables))
    low = run.problem.lower_bound
    for members, least in zip(run.system.members, (100, 30, 0), strict=True):
        assert np.all(low[members] >= least)
    assert low.min() == 30
