"""tau-ARGUS's own result for Size × Region of its demonstration data."""

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.io.jj import read_jj
from reticent.jobs.protect_table import run_table_plan
from reticent.tables.protection import judge_cells
from reticent.tables.rules import PPercent
from reticent.tabulation.equations import relations_of
from reticent.tabulation.tabulate import tabulate, with_empty_cells

REGIONS = {
    "Total": ["Nr", "Os", "Ws", "Zd"], "Nr": [" 1", " 2", " 3"], "Os": [" 4", " 5", " 6", " 7"],
    "Ws": [" 8", " 9", "10"], "Zd": ["11", "12"],
}  # fmt: skip


@pytest.fixture(scope="module")
def demo(shared_data: Path) -> Microdata:
    lines = [line for line in (shared_data / "argus_tau" / "tau_testW.asc").read_text().splitlines() if line.strip()]
    frame = pl.DataFrame(
        {
            "IndustryCode": [line[3:8] for line in lines],
            "Size": [line[8:10] for line in lines],
            "Region": [line[11:13] for line in lines],
            "Var2": [float(line[27:37]) for line in lines],
        }
    )
    schema = Schema(
        (
            Variable("IndustryCode", role=Role.KEY, missing=("99999",)),
            Variable("Size", role=Role.KEY, missing=("99",)),
            Variable("Region", role=Role.KEY, missing=("99",), hierarchy=Hierarchy.from_children(REGIONS)),
            Variable("Var2", role=Role.SENSITIVE, kind=Kind.NUMERIC, decimals=2),
        )
    )
    return Microdata.of(frame, schema)


@pytest.fixture(scope="module")
def size_region(demo: Microdata) -> Table:
    return tabulate(demo, TableSpec((DimensionSpec("Size"), DimensionSpec("Region")), response="Var2"))


def test_cells_and_values_are_those_of_tau_argus(size_region: Table, shared_data: Path) -> None:
    assert (size_region.n_possible, size_region.n_empty) == (162, 43)
    full = with_empty_cells(size_region)
    with (shared_data / "argus_tau/simple2d/expected/Simple2D.txt").open() as file:
        expected = list(csv.reader(file))
    assert [list(full.cell_codes(cell)) for cell in range(full.n_cells)] == [row[:2] for row in expected]
    for cell, (_, _, value, status) in enumerate(expected):
        assert (status == "14") == (full.respondents.counts[cell] == 0)
        if status != "14":
            assert full.values[cell] == float(value)


def test_relations_of_a_sparse_three_way_table(demo: Microdata) -> None:
    spec = TableSpec(
        (DimensionSpec("IndustryCode", digits=(3, 1, 1)), DimensionSpec("Size"), DimensionSpec("Region")),
        response="Var2",
    )
    table = tabulate(demo, spec)
    relations = relations_of(table)
    assert np.abs(relations.residuals(table.values)).max() < 1e-6
    assert table.values[0] == 16847646.84
    # every cell but the inner ones is a total of something
    assert set(relations.cells[relations.coefs < 0].tolist()) == set(np.flatnonzero(~table.is_inner).tolist())


PLAN = """
[data]
path = "{folder}/tau_testW.asc"
schema = "{folder}/tau_testw.rda"
[table]
dimensions = ["Size", "Region"]
response = "Var2"
rules = [{{ rule = "p-percent", p = 15 }}]
[protect]
method = "primary-only"
accept_exposed = true
[output]
path = "table.csv"
summary = "summary.json"
"""


def test_the_plan_finds_the_nine_unsafe_cells(shared_data: Path, tmp_path: Path) -> None:
    """Reference row 1: 162 cells, 9 unsafe, 43 empty."""
    (tmp_path / "plan.toml").write_text(PLAN.format(folder=shared_data / "argus_tau"))
    result = run_table_plan(tmp_path / "plan.toml")
    assert result.counts()["primary"] == 9
    assert result.counts()["empty"] == 43
    assert sum(result.counts().values()) == 162
    unsafe = {result.table.cell_codes(int(cell)) for cell in np.flatnonzero(result.problem.primary)}
    assert unsafe == {
        ("2", "1"), ("2", "4"), ("2", "6"), ("2", "Nr"), ("4", "1"), ("4", "6"), ("4", "Nr"), ("4", "Os"), ("9", "4"),
    }  # fmt: skip
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows].count("hidden") == 9
    assert [row["status"] for row in rows].count("empty") == 43
    assert json.loads((tmp_path / "summary.json").read_text())["cells"]["primary"] == 9


def test_protection_levels_are_those_of_tau_argus(size_region: Table, shared_data: Path) -> None:
    """The JJ file of the same table carries tau-ARGUS's own levels."""
    verdict = judge_cells(size_region, [PPercent(p=15)])
    problem = read_jj(shared_data / "csp" / "tau_simple2d.jj")
    ours = sorted(round(float(x), 2) for x in verdict.upper_protection[verdict.primary])
    theirs = sorted(round(float(x), 2) for x in problem.upper_protection[problem.primary])
    assert ours == theirs
