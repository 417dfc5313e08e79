# SPDX-License-Identifier: Apache-2.0
"""Keys of a census-like file for the benchmarks: the shared generator where it is, else one of the same make.

Variables: region 20, sex 2, age 17, marital 5, educ 8, occ 30, nat 40, hhsize 8; skewed and partly dependent.
"""

import importlib.util
import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

KEYS = ("region", "sex", "age", "marital", "educ", "occ", "nat", "hhsize")
LARGEST = 1_000_000


def _shared_generator() -> Path | None:
    for folder in (os.environ.get("RETICENT_SHARED"), str(Path(__file__).resolve().parents[2] / "shared")):
        if folder and (Path(folder) / "tools" / "benchdata.py").is_file():
            return Path(folder) / "tools" / "benchdata.py"
    return None


def _zipf(m: int, s: float) -> np.ndarray:
    p = (np.arange(m) + 1.0) ** -s
    return p / p.sum()


def _own(n: int) -> np.ndarray:
    rng = np.random.default_rng(20240601)
    sizes = ((20, 0.7), (2, 0.0), (17, 0.2), (5, 1.0), (8, 0.6), (30, 0.9), (40, 1.6), (8, 0.8))
    codes = np.column_stack([rng.choice(m, n, p=_zipf(m, s)) for m, s in sizes])
    child = (codes[:, 2] < 4) & (rng.random(n) < 0.9)
    codes[child, 3] = 0
    skilled = rng.random(n) < 0.5
    codes[skilled, 5] = (codes[skilled, 4] * 4 + rng.integers(0, 4, int(skilled.sum()))) % 30
    return codes.astype(np.int32)


@lru_cache(maxsize=2)
def _file(n: int) -> np.ndarray:
    path = _shared_generator()
    if path is None:
        return _own(n)
    spec = importlib.util.spec_from_file_location("benchdata", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    frame = module.micro(n)
    return np.column_stack([frame[name].to_numpy() - 1 for name in KEYS]).astype(np.int32)


def census_keys(n: int, q: int) -> np.ndarray:
    """Codes of the first q keys of the first n records (files up to a million records are prefixes of one file)."""
    return np.ascontiguousarray(_file(max(n, LARGEST))[:n, :q])


def census_frame(n: int, q: int) -> pl.DataFrame:
    """The same as integer columns."""
    codes = census_keys(n, q)
    return pl.DataFrame({name: codes[:, j] for j, name in enumerate(KEYS[:q])})
