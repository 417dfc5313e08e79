# SPDX-License-Identifier: Apache-2.0
"""Tabulation with the two largest contributions of each cell, against the same group-by in polars.

Ours also makes all totals and subtotals; the yardstick makes the inner cells only.
"""

from typing import Any

import numpy as np
import polars as pl

from benchmarks.harness import Entry
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tabulation.equations import relations_of
from reticent.tabulation.tabulate import tabulate

NAMES = ("industry", "region", "size")
SCHEMA = Schema((*(Variable(name, role=Role.KEY) for name in NAMES), Variable("turnover", kind=Kind.NUMERIC)))
SPEC = TableSpec(tuple(DimensionSpec(name) for name in NAMES), response="turnover")
FIRMS = Schema((*SCHEMA.variables, Variable("firm", role=Role.ENTITY)))


def _records(n: int) -> pl.DataFrame:
    stream = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "industry": stream.integers(0, 40, n),
            "region": stream.integers(0, 25, n),
            "size": stream.integers(0, 30, n),
            "turnover": np.rint(stream.lognormal(3, 2, n)),
            "firm": stream.integers(0, max(n // 3, 1), n),
        }
    )


def _ours(frame: pl.DataFrame) -> Any:
    return tabulate(Microdata.of(frame.drop("firm"), SCHEMA), SPEC)


def _polars(frame: pl.DataFrame) -> Any:
    value = pl.col("turnover")
    return frame.group_by(NAMES).agg(pl.len(), value.sum(), value.top_k(2).alias("top"))


def _ours_by_firm(frame: pl.DataFrame) -> Any:
    return tabulate(Microdata.of(frame, FIRMS), SPEC)


def _polars_by_firm(frame: pl.DataFrame) -> Any:
    value = pl.col("turnover")
    firms = frame.group_by([*NAMES, "firm"]).agg(value.sum())
    return firms.group_by(NAMES).agg(pl.len(), value.sum(), value.top_k(2).alias("top"))


def _relations(frame: pl.DataFrame) -> Any:
    return relations_of(_ours(frame))


def entries() -> list[Entry]:
    """What is measured."""
    return [
        Entry("tabulate 3 dimensions, top 2", (100_000, 1_000_000), _records, _ours, _polars, "polars group-by + top_k"),
        Entry(
            "the same by respondent (3 records each)", (100_000, 300_000), _records, _ours_by_firm, _polars_by_firm,
            "polars, inner cells only", notes="ours combines a respondent's records anew in every total",
        ),
        Entry("tabulate and all relations", (100_000, 1_000_000), _records, _relations),
    ]  # fmt: skip
