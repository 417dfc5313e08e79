"""Generated records with missing keys, Unicode, duplicates and several parts, for the batteries over engines."""

from pathlib import Path

import numpy as np
import polars as pl

from reticent.data.schema import Kind, Role, Schema, Variable

KEYS = ("sex", "age", "place", "job")
SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("sex", role=Role.KEY, missing=("9",)),
        Variable("age", role=Role.KEY, kind=Kind.NUMERIC),
        Variable("place", role=Role.KEY),
        Variable("job", role=Role.KEY, codes=("30", "20", "10")),
        Variable("income", role=Role.SENSITIVE, kind=Kind.NUMERIC, decimals=2),
        Variable("hours", role=Role.OTHER, kind=Kind.NUMERIC),
        Variable("weight", role=Role.WEIGHT, kind=Kind.NUMERIC, decimals=1),
    )
)


def records(n: int = 3000, seed: int = 5) -> pl.DataFrame:
    """Records in no order of their ids; half of them stand twice but for the id."""
    draw = np.random.default_rng(seed)
    half = n // 2
    table = pl.DataFrame(
        {
            "sex": draw.choice(["m", "f", "9", None], half, p=[0.45, 0.45, 0.05, 0.05]).tolist(),
            "age": pl.Series(draw.integers(16, 70, half)).cast(pl.Int16).set(pl.Series(draw.random(half) < 0.03), None),
            "place": draw.choice(
                ["Åland", "Ελλάδα", "北京", 'o\'Hara "x"', "a"], half, p=[0.1, 0.2, 0.3, 0.2, 0.2]
            ).tolist(),
            "job": pl.Series(draw.choice([10, 20, 30], half)).cast(pl.Int32),
            "income": np.round(np.exp(draw.normal(7, 1, half)), 2),
            "hours": draw.integers(0, 60, half).astype(float),
            "weight": draw.integers(10, 400, half) / 10,
        }
    )
    ids = draw.permutation(10 * n)[: 2 * half].astype(np.int64) - 3 * n
    return pl.concat([table, table]).with_columns(pl.Series("id", ids)).select(SCHEMA.names)


def write_parts(table: pl.DataFrame, folder: Path, *, parts: int = 3) -> str:
    """The records in several Parquet files; gives their pattern."""
    for at in range(parts):
        table[at::parts].write_parquet(folder / f"part-{at}.parquet")
    return str(folder / "part-*.parquet")
