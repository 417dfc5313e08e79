# SPDX-License-Identifier: Apache-2.0
"""Cell keys: designing a p-table, keys of all cells of a table, and the noise of many cells."""

from typing import Any

import numpy as np
import polars as pl

from benchmarks.harness import Entry
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.tables.perturb.cell_key import KeyedValues, perturb_counts
from reticent.tables.perturb.ptable import PerturbationTable
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.perturb.record_keys import RecordKeys
from reticent.tabulation.key_sums import key_sums
from reticent.tabulation.tabulate import tabulate

SPEC = TableSpec(tuple(DimensionSpec(name) for name in ("a", "b", "c")))


def _design(largest: int) -> PerturbationTable:
    return design_ptable(Design(largest, 3.0, 2))


def _cells(n: int) -> tuple[Any, Any, PerturbationTable]:
    rng = np.random.default_rng(1)
    return rng.geometric(0.2, n) - 1, rng.random(n), _design(5)


def _noise(cells: tuple[Any, Any, PerturbationTable]) -> KeyedValues:
    return perturb_counts(*cells)


def _data(n: int) -> tuple[Microdata, Table, RecordKeys]:
    rng = np.random.default_rng(2)
    codes = tuple(str(code) for code in range(40))
    frame = pl.DataFrame({name: rng.integers(0, 40, n).astype(str) for name in ("a", "b", "c")})
    data = Microdata.of(frame, Schema(tuple(Variable(name, codes=codes) for name in ("a", "b", "c"))))
    return data, tabulate(data, SPEC), RecordKeys.drawn(as_secret(1), data.record_ids())


def _keys(made: tuple[Microdata, Table, RecordKeys]) -> Any:
    data, table, keys = made
    return keys.fraction(key_sums(data, SPEC, table, keys.parts))


def entries() -> list[Entry]:
    """Growing tables and files."""
    return [
        Entry("p-table of maximal entropy, V = 3, no 1 and 2", (5, 10, 20), int, _design, size_unit="D"),
        Entry("noise of counts", (100_000, 1_000_000, 10_000_000), _cells, _noise, size_unit="cells"),
        Entry("keys of all cells, 41³ possible", (100_000, 1_000_000), _data, _keys),
    ]
