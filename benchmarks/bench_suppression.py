"""Suppression: the reference problems (JJ files) and generated business tables, always with the full audit.

The scale entries need the files of `benchdata.py` (mag_1k.csv, mag_10k.csv, mag_100k.csv) in RETICENT_BENCHDATA, the
reference problems the folder of real data in RETICENT_SHARED; entries without their data are left out.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Entry
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.jj import read_jj
from reticent.tables.attack import audit
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Heuristic, Optimal, Suppression
from reticent.tabulation.equations import relations_of
from reticent.tabulation.tabulate import tabulate

ROOT = Path(__file__).resolve().parents[1]
SIZES = {1_275: ("1k", 3.0), 9_982: ("10k", 20.0), 100_010: ("100k", 180.0)}
PROBLEMS = ("targus", "table8", "tau_simple2d", "rtau_turnover_act_size")
OPEN = ("table7", "table1", "hier13", "hier133a")


def _shared() -> Path | None:
    folder = Path(os.environ.get("RETICENT_SHARED", ROOT.parent / "shared")) / "data" / "csp"
    return folder if folder.is_dir() else None


def business_table(size: int, level: float) -> SuppressionProblem:
    """The generated table: cells of one or two respondents are unsafe, cost = value."""
    import polars as pl

    return business_problem(pl.read_csv(Path(os.environ["RETICENT_BENCHDATA"]) / f"mag_{SIZES[size][0]}.csv"), level)


def business_problem(frame: Any, level: float) -> SuppressionProblem:
    """Records of firms as a table by region, industry and size, to be protected."""
    keys = ("region", "industry", "size")
    schema = Schema((*(Variable(k, role=Role.KEY) for k in keys), Variable("value", kind=Kind.NUMERIC, decimals=1)))
    digits = {"region": (3, 2), "industry": (3, 2, 2)}
    dimensions = tuple(DimensionSpec(k, digits=digits[k]) if k in digits else DimensionSpec(k) for k in keys)
    table = tabulate(Microdata.of(frame.select(*keys, "value"), schema), TableSpec(dimensions, response="value"))
    counts = table.respondents.counts
    values = np.round(table.values, 1)
    return SuppressionProblem.from_values(
        values,
        relations_of(table),
        primary=(counts > 0) & (counts < 3),
        lower_protection=level * values,
        upper_protection=level * values,
    )


def _protect(item: tuple[SuppressionProblem, float]) -> Suppression:
    problem, limit = item
    return Heuristic(singletons=False).protect(problem, time_limit=limit)


def _prove(item: tuple[SuppressionProblem, float]) -> Suppression:
    return Optimal().protect(item[0], time_limit=item[1])


def _quality(item: tuple[SuppressionProblem, float], found: Suppression) -> str:
    problem = item[0]
    exposed = audit(problem, found.hidden, mode="certify").n_exposed
    gap = 100 * (found.cost - (found.bound or 0.0)) / max(found.cost, 1e-9)
    secondaries = int((found.hidden & ~problem.primary).sum())
    return f"{secondaries} secondaries, cost {found.cost:,.2f}, gap {gap:.2f} %, {exposed} exposed, {found.status}"


def entries() -> list[Entry]:
    """All comparisons for which there is data."""
    found: list[Entry] = []
    folder = _shared()
    for name in (*PROBLEMS, *OPEN) if folder else ():
        path: Path = folder / f"{name}.jj"  # type: ignore[operator]
        cells = read_jj(path).n_cells
        limit = 60.0 if name in PROBLEMS else 300.0

        def prepare(_: int, path: Path = path, limit: float = limit) -> Any:
            return read_jj(path), limit

        found.append(
            Entry(f"optimal on {name}", (cells,), prepare, _prove, size_unit="cells", repeat=1, quality=_quality)
        )
    if os.environ.get("RETICENT_BENCHDATA"):
        for level, words in ((0.0, "against exact disclosure"), (0.2, "with 20 % protection levels")):

            def table(size: int, level: float = level) -> Any:
                return business_table(size, level), SIZES[size][1]

            name = f"heuristic on business tables {words}"
            found.append(Entry(name, tuple(SIZES), table, _protect, size_unit="cells", repeat=1, quality=_quality))
    return found
