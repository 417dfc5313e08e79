"""Unsafe cells that other tools report on their own example data (rows 18, 23, 32 and 42 of the reference list).

The data of row 42 (test-DominanceRule.R of GaussSuppression) is not among the shared files; its 18 figures stand here.
What that row says of the peer's default weights (they count in the total and not among the largest) has no counterpart
here, and the contributor variable behind its last figures (dominant2 by charVar) is not given with it.
"""

import csv
from pathlib import Path

import numpy as np
import polars as pl

from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import FinishedOptions
from reticent.io.finished import CellLayout, read_finished
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
    layout = CellLayout(["ACTIVITY", "SIZE"], [(tree,), ()], totals=["Total", "Total"], response="TOT")
    found = read_finished(folder / "rtauargus_turnover_act_size.csv", layout, options)
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


def test_weighted_dominance_of_gauss_suppression() -> None:
    """Row 42: with tau-ARGUS's weights n = 2, k = 90 the cells v1 and v2 are unsafe; without weights the first four.

    v5 has exactly 90 %: unsafe there (at least k), safe here as in tau-ARGUS (more than k).
    """
    sizes = [100, 90, 10, 80, 20, 70, 30, 80, 10, 10, 70, 10, 10, 10, 60, 20, 10, 10]
    cell = [f"v{1 + at}" for at, n in enumerate((1, 2, 2, 2, 3, 4, 4)) for _ in range(n)]
    weight = [2.0 if at and cell[at] != cell[at - 1] else 1.0 for at in range(18)]
    frame = pl.DataFrame({"v": cell, "num": [float(x) for x in sizes], "w": weight})
    schema = Schema(
        (
            Variable("v", role=Role.KEY),
            Variable("num", kind=Kind.NUMERIC),
            Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
        )
    )
    unsafe = {}
    for weighted in (True, False):
        spec = TableSpec((DimensionSpec("v"),), response="num", weighted=weighted, top=2)
        table = tabulate(Microdata.of(frame, schema), spec)
        places = [table.find((f"v{n}",)) for n in range(1, 8)]
        if weighted:
            assert table.values[places].tolist() == [100, 190, 180, 170, 180, 170, 160]
        unsafe[weighted] = judge_cells(table, [Dominance(n=2, k=90)]).primary[places].tolist()
    assert unsafe[True] == [True, True, False, False, False, False, False]
    assert unsafe[False] == [True, True, True, True, False, False, False]
