"""Known optima of controlled rounding and of controlled adjustment on real tables."""

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.jj import read_jj
from reticent.tables.perturb.adjustment import adjust
from reticent.tables.perturb.rounding import round_controlled
from reticent.tables.problem import SuppressionProblem
from reticent.tabulation.equations import relations_of
from reticent.tabulation.tabulate import tabulate
from table_makers import with_totals


def _tree(frame: pl.DataFrame, leaf: str, parent: str) -> Hierarchy:
    pairs = frame.select(leaf, parent).unique(maintain_order=True).rows()
    return Hierarchy.from_paths([(f"{parent}:{above}", below) for below, above in pairs])


def _table(path: Path, dimensions: dict[str, tuple[str, ...]]):
    frame = pl.read_csv(path, infer_schema_length=0)
    names = tuple(dimensions)
    schema = Schema((*(Variable(name, role=Role.KEY) for name in names), Variable("ant", kind=Kind.NUMERIC)))
    data = Microdata.of(frame.select(*names, "ant"), schema)
    spec = TableSpec(
        tuple(
            DimensionSpec(name, trees=tuple(_tree(frame, name, above) for above in dimensions[name])) for name in names
        ),
        response="ant",
    )
    table = tabulate(data, spec)
    return table.values, relations_of(table)


@pytest.mark.parametrize(
    ("name", "dimensions", "expected"),
    [
        ("ssbtools_z1", {"region": (), "hovedint": ()}, (34, 60)),
        ("ssbtools_z2", {"region": ("fylke", "kostragr"), "hovedint": ()}, (74, 140)),
        ("ssbtools_z3", {"region": ("fylke", "kostragr"), "hovedint": (), "mnd": ("mnd2",)}, (1080, 1888)),
    ],
)
def test_controlled_rounding_of_ssb_tables(shared_data: Path, name: str, dimensions, expected) -> None:
    values, relations = _table(shared_data / "tables" / f"{name}.csv", dimensions)
    for base, distance in zip((3, 5), expected, strict=True):
        rounded = round_controlled(values, relations, base, time_limit=60)
        assert (rounded.distance, rounded.status, rounded.steps) == (distance, "optimal", 0)
        assert np.abs(rounded.values - values).max() < base


def test_controlled_rounding_of_expsd(shared_data: Path) -> None:
    frame = pl.read_csv(shared_data / "tables" / "smallcount_exPSD.csv")
    inner = frame.pivot("cols", index="rows", values="freq").drop("rows").to_numpy()
    values, relations, _ = with_totals(inner)
    assert [round_controlled(values, relations, base).distance for base in (3, 5)] == [16, 32]


@pytest.mark.parametrize(("name", "optimum"), [("targus", 4.3938), ("table7", 20.3882), ("table8", 0.3410)])
def test_adjustment_optima(shared_data: Path, name: str, optimum: float) -> None:
    problem = read_jj(shared_data / "csp" / f"{name}.jj")
    adjusted = adjust(problem, secret=None, weights=1 / np.maximum(problem.values, 1))
    assert adjusted.status == "optimal"
    assert adjusted.distance == pytest.approx(optimum, abs=6e-5)


def test_quadratic_adjustment_all_up(shared_data: Path) -> None:
    problem = read_jj(shared_data / "csp" / "hier13.jj")
    adjusted = adjust(problem, secret=None, norm="l2", signs="up", weights=1 / np.maximum(problem.values, 1))
    assert adjusted.distance == pytest.approx(1033.3396, abs=1e-3)


def _sheet(book: zipfile.ZipFile, name: str) -> dict[str, str]:
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    texts = ["".join(t.text or "" for t in item.iter(f"{space}t"))
             for item in ElementTree.fromstring(book.read("xl/sharedStrings.xml")).iter(f"{space}si")]  # fmt: skip
    found = {}
    for cell in ElementTree.fromstring(book.read(f"xl/worksheets/{name}.xml")).iter(f"{space}c"):
        value = cell.find(f"{space}v")
        if value is not None and value.text is not None:
            found[str(cell.get("r"))] = texts[int(value.text)] if cell.get("t") == "s" else value.text
    return found


def test_three_dimensional_example_has_optimum_2420(shared_data: Path) -> None:
    """Empty cells stay 0, every cell (margins too) has weight one."""
    with zipfile.ZipFile(shared_data / "tables" / "cta.xlsx") as book:
        values_sheet, levels_sheet = _sheet(book, "sheet1"), _sheet(book, "sheet2")
    shape = (4, 6, 10)  # planes, rows and columns, the last of each a total
    values, levels = np.zeros(shape), np.zeros(shape)
    for plane, row, column in np.ndindex(shape):
        address = f"{'CDEFGHIJKL'[column]}{2 + plane * 6 + row}"
        values[plane, row, column] = float(values_sheet.get(address, 0))
        levels[plane, row, column] = float(levels_sheet.get(address, 0))
    full, relations, _ = with_totals(values[:-1, :-1, :-1])
    assert np.array_equal(full.reshape(shape), values)
    needed = levels.ravel()
    problem = SuppressionProblem.from_values(
        full, relations, primary=needed > 0, empty=full == 0, lower_protection=needed, upper_protection=needed
    )
    assert adjust(problem, secret=None).distance == pytest.approx(2420)
