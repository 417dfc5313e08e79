"""Unsafe cells that other tools report on their own example data (rows 18, 23 and 32 of the reference list)."""

import csv
from pathlib import Path

import numpy as np
import polars as pl

from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import FinishedOptions
from reticent.io.finished import read_finished
from reticent.tables.protection import judge_cells
from reticent.tables.rules import Dominance, Threshold
from reticent.tabulation.finished import finished_table
from reticent.tabulation.tabulate import tabulate


def test_turnover_by_activity_and_size(shared_data: Path) -> None:
    """rtauargus: 414 cells, 77 unsafe, 52 of them with fewer than three respondents."""
    folder = shared_data / "tables"
    with (folder / "rtauargus_activity_corr_table.csv").open() as file:
        paths = list(csv.reader(file))[1:]
    leaves = {row[-1] for row in paths}
    tree = Hierarchy.from_paths([[c for c in row if c not in leaves or c == row[-1]] for row in paths])
    options = FinishedOptions("TOT", count="N_OBS", top=("MAX",))
    found = read_finished(
        folder / "rtauargus_turnover_act_size.csv", ["ACTIVITY", "SIZE"], options, trees=[(tree,), ()],
        totals=["Total", "Total"], response="TOT",
    )  # fmt: skip
    table = finished_table(found.columns, tolerance=0.01)
    assert table.n_cells == 414
    verdict = judge_cells(table, [Threshold(minimum=3, protection=10), Dominance(n=1, k=85)])
    assert int(verdict.primary.sum()) == 77
    assert int((verdict.primary & (table.respondents.counts < 3)).sum()) == 52


def test_small_count_of_sdctable(shared_data: Path) -> None:
    """sdcTable: region × gender, at most two respondents: only (A, female)."""
    frame = pl.read_csv(shared_data / "tables" / "sdcTable_microdata1.csv")
    schema = Schema(
        (Variable("region", role=Role.KEY), Variable("gender", role=Role.KEY), Variable("val", kind=Kind.NUMERIC))
    )
    table = tabulate(Microdata.of(frame, schema), TableSpec((DimensionSpec("region"), DimensionSpec("gender"))))
    verdict = judge_cells(table, [Threshold(minimum=3)])
    assert [table.cell_codes(int(c)) for c in np.flatnonzero(verdict.primary)] == [("A", "female")]


def test_few_contributors_count_companies_not_records(shared_data: Path) -> None:
    """GaussSuppression: sector4 × geo, cells of one company: two, whatever the number of records."""
    frame = pl.read_csv(shared_data / "tables" / "ssbtools_magnitude1.csv")
    schema = Schema(
        (
            Variable("sector4", role=Role.KEY), Variable("sector2"), Variable("geo", role=Role.KEY), Variable("eu"),
            Variable("company", role=Role.ENTITY), Variable("value", kind=Kind.NUMERIC),
        )
    )  # fmt: skip
    spec = TableSpec((DimensionSpec("sector4"), DimensionSpec("geo")), response="value")
    table = tabulate(Microdata.of(frame, schema), spec)
    verdict = judge_cells(table, [Threshold(minimum=2)])
    assert int(verdict.primary.sum()) == 2
    assert set(table.respondents.counts[verdict.primary].tolist()) == {1}
