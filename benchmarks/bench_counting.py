# SPDX-License-Identifier: Apache-2.0
"""Counting: a frequency for each record from raw columns, all subsets of keys, counts with missing values."""

from itertools import combinations

import numpy as np
import polars as pl

from benchmarks.census_keys import KEYS, census_frame, census_keys
from benchmarks.harness import Entry
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.kernels.grouping import pattern_table
from reticent.microdata.risk.combinations import count_combinations
from reticent.microdata.risk.semantics import Semantics, count_codes

SEVEN = KEYS[:7]
SCHEMA = Schema(tuple(Variable(name, role=Role.KEY) for name in SEVEN))
SUBSETS = [(names, 2.0) for size in range(1, 5) for names in combinations(range(7), size)]


def _ours(frame: pl.DataFrame) -> np.ndarray:
    return Microdata.of(frame, SCHEMA).sample_counts(SEVEN)


def _polars(frame: pl.DataFrame) -> np.ndarray:
    return frame.select(pl.len().over(SEVEN)).to_series().to_numpy()


def _same(frame: pl.DataFrame, found: np.ndarray) -> str:
    return "equal" if (_polars(frame) == found).all() else "DIFFERENT"


def _subsets(codes: np.ndarray) -> list[tuple[int, int, int]]:
    first, counts, _, _ = pattern_table(codes, codes.max(axis=0) + 1)
    return count_combinations(codes[first], counts, counts.astype(np.float64), SUBSETS)[0]


def _polars_subsets(codes: np.ndarray) -> list[int]:
    frame = pl.DataFrame({name: codes[:, j] for j, name in enumerate(SEVEN)})
    return [
        int((frame.group_by([SEVEN[v] for v in names]).len()["len"] <= threshold).sum()) for names, threshold in SUBSETS
    ]


def _same_subsets(codes: np.ndarray, found: list[tuple[int, int, int]]) -> str:
    return "equal" if [row[1] for row in found] == _polars_subsets(codes) else "DIFFERENT"


def _holed(n: int) -> np.ndarray:
    codes = census_keys(n, 7).copy()
    codes[np.random.default_rng(2).random(codes.shape) < 0.01] = -1
    return codes


def _match_anything(codes: np.ndarray) -> np.ndarray:
    return count_codes(codes, codes, np.ones(len(codes), np.int64), Semantics.MATCH_ANYTHING)


def entries() -> list[Entry]:
    """Counting at growing sizes."""
    return [
        Entry(
            name="frequency per record, 7 keys, encoding included",
            sizes=(100_000, 1_000_000, 10_000_000),
            prepare=lambda n: census_frame(n, 7),
            ours=_ours,
            yardstick=_polars,
            yardstick_name="polars len().over(keys)",
            quality=_same,
        ),
        Entry(
            name="the same from string columns",
            sizes=(100_000, 1_000_000),
            prepare=lambda n: census_frame(n, 7).cast(pl.String),
            ours=_ours,
            yardstick=_polars,
            yardstick_name="polars len().over(keys)",
            quality=_same,
        ),
        Entry(
            name="all 98 subsets of up to 4 of 7 keys: unsafe cells",
            sizes=(100_000, 1_000_000),
            prepare=lambda n: census_keys(n, 7),
            ours=_subsets,
            yardstick=_polars_subsets,
            yardstick_name="polars group_by, one for each subset",
            quality=_same_subsets,
            repeat=1,
        ),
        Entry(
            name="missing matches anything, 7 keys, 1 % of values missing",
            sizes=(10_000, 100_000, 1_000_000),
            prepare=_holed,
            ours=_match_anything,
            repeat=1,
            notes="comparing all pairs would take n² steps",
        ),
    ]
