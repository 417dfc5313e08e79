"""Two releases of a large file with one secret: who lays them side by side, line by line, must not join them.

Until November 2026 the order of the parts was drawn by secret and identifier alone, so it was the same in every release, and
incomes under one noise stood beside the same people's hours under another.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from conformance.engine_data import SCHEMA, records, write_parts
from reticent.base.randomness import Secret
from reticent.data.plan import RiskSection

SECRET = Secret(hashlib.sha256(b"a key for tests").digest())
RISK = RiskSection(most=1.0, attacks=("recount",))
AGE = rt.mask.Recode("age", bands=(0, 25, 40, 60))


def _released(folder: Path, table: pl.DataFrame, steps: list[Any]) -> pl.DataFrame:
    (folder / "safe").mkdir(parents=True)
    with rt.load(write_parts(table, folder), schema=SCHEMA, engine="duckdb") as large:
        large.protect(steps, folder / "safe" / "part-*.parquet", risk=RISK, secret=SECRET)
    return pl.read_parquet(folder / "safe" / "part-*.parquet")


def _corrected(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(income=pl.when(pl.col("id") == pl.col("id").min()).then(1234).otherwise("income"))


OTHER: dict[str, tuple[Any, list[Any]]] = {
    "other steps": (lambda table: table, [rt.mask.Recode("age", bands=(0, 30, 60)), rt.mask.Noise(("income",), k=0.2)]),
    "other parameters": (lambda table: table, [AGE, rt.mask.Noise(("income",), k=0.4)]),
    "a subset": (lambda table: table[:-1], [AGE, rt.mask.Noise(("income",), k=0.2)]),
    "a corrected value": (_corrected, [AGE, rt.mask.Noise(("income",), k=0.2)]),
}


@pytest.mark.parametrize("name", OTHER)
def test_two_releases_are_not_joined_by_their_order(name: str, tmp_path: Path) -> None:
    table = records(600).unique("id", maintain_order=True)
    change, steps = OTHER[name]
    first = _released(tmp_path / "first", table, [AGE, rt.mask.Noise(("income",), k=0.2)])
    second = _released(tmp_path / "second", change(table), steps)
    n = min(first.height, second.height)
    left, right = first["job"].fill_null("?").to_numpy()[:n], second["job"].fill_null("?").to_numpy()[:n]
    assert (left == right).mean() < 0.5  # `job` is published as it is: all agree where the two are joined
    assert np.mean(np.sort(left) == np.sort(right)) > 0.98


def test_the_same_release_again_is_the_same(tmp_path: Path) -> None:
    table = records(600).unique("id", maintain_order=True)
    steps = [AGE, rt.mask.Noise(("income",), k=0.2)]
    again = _released(tmp_path / "again", table.sample(fraction=1.0, shuffle=True, seed=3), steps)
    assert _released(tmp_path / "first", table, steps).equals(again, null_equal=True)
