# SPDX-License-Identifier: Apache-2.0
"""Suppression of generated business tables of growing size, always with the full audit.

They need the files of `benchdata.py` (mag_1k.csv, mag_10k.csv, mag_100k.csv) in RETICENT_BENCHDATA; without them nothing
is measured.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_suppression import quality
from benchmarks.harness import Entry
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Heuristic, Suppression
from reticent.tabulation.equations import relations_of
from reticent.tabulation.tabulate import tabulate

SIZES = {1_275: ("1k", 3.0), 9_982: ("10k", 19.0), 100_010: ("100k", 170.0)}


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


def entries() -> list[Entry]:
    """Both kinds of protection, where there is data."""
    if not os.environ.get("RETICENT_BENCHDATA"):
        return []
    found: list[Entry] = []
    for level, words in ((0.0, "against exact disclosure"), (0.2, "with 20 % protection levels")):

        def table(size: int, level: float = level) -> Any:
            return business_table(size, level), SIZES[size][1]

        name = f"heuristic on business tables {words}"
        found.append(
            Entry(name, tuple(SIZES), table, _protect, size_unit="cells", repeat=1, quality=quality, warm_up=False)
        )
    return found
