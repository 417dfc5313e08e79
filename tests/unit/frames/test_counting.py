"""Counting in the engine equals counting in memory, nulls and missing codes included."""

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.base.errors import DataError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.frames.counting import KeyCounts, count

ENGINES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda table: table,
    "polars-lazy": lambda table: table.lazy(),
    "pandas": lambda table: table.to_pandas(),
    "arrow": lambda table: table.to_arrow(),
    "duckdb": lambda table: duckdb.from_arrow(table.to_arrow()),
}
KEYS = ("sex", "age", "region")
SCHEMA = Schema(
    (
        Variable("sex", role=Role.KEY, missing=("9",)),
        Variable("age", role=Role.KEY, kind=Kind.NUMERIC),
        Variable("region", role=Role.KEY),
        Variable("weight", role=Role.WEIGHT, kind=Kind.NUMERIC),
    )
)


def records(n: int) -> pl.DataFrame:
    draw = np.random.default_rng(11)
    return pl.DataFrame(
        {
            "sex": draw.choice(["m", "f", "9", None], n).tolist(),
            "age": pl.Series(draw.integers(0, 5, n)).cast(pl.Int64).set(pl.Series(draw.random(n) < 0.1), None),
            "region": draw.choice(["01", "02", None], n).tolist(),
            "weight": draw.integers(1, 9, n).astype(float),
        }
    )


def in_memory(table: pl.DataFrame) -> dict[tuple[str | None, ...], tuple[int, float]]:
    data = Microdata.of(table, SCHEMA)
    found = data.patterns(KEYS)
    assert found.weights is not None
    names = [data.categories(key) for key in KEYS]
    return {
        tuple(None if c < 0 else names[q][c] for q, c in enumerate(row)): (int(n), float(w))
        for row, n, w in zip(found.codes, found.counts, found.weights, strict=True)
    }


def spelled(found: KeyCounts) -> dict[tuple[str | None, ...], tuple[int, float]]:
    assert found.weights is not None
    return {
        tuple(None if c < 0 else found.categories[q][c] for q, c in enumerate(row)): (int(n), float(w))
        for row, n, w in zip(found.codes, found.counts, found.weights, strict=True)
    }


@pytest.mark.parametrize("engine", list(ENGINES))
def test_engines_count_as_memory_does(engine: str) -> None:
    table = records(400)
    found = count(ENGINES[engine](table), KEYS, missing={"sex": ("9",)}, weight="weight")
    assert found.n_records == 400
    assert spelled(found) == in_memory(table)


@pytest.mark.parametrize("engine", list(ENGINES))
def test_microdata_takes_every_engine(engine: str) -> None:
    data = Microdata.of(ENGINES[engine](records(50)), SCHEMA)
    assert data.n_records == 50
    assert data.numbers(("weight",)).sum() == records(50)["weight"].sum()


@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None])), min_size=1, max_size=30))
def test_lazy_counts(rows: list[tuple[str | None, int | None]]) -> None:
    table = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.Int64}, orient="row")
    found = count(table.lazy(), ("x", "y"))
    expected: dict[tuple[str | None, int | None], int] = {}
    for row in rows:
        expected[row] = expected.get(row, 0) + 1
    assert sorted(found.counts.tolist()) == sorted(expected.values())
    for row, n in zip(found.codes, found.counts, strict=True):
        x = None if row[0] < 0 else found.categories[0][row[0]]
        y = None if row[1] < 0 else int(found.categories[1][row[1]])
        assert expected[x, y] == n


def test_bad_columns() -> None:
    with pytest.raises(DataError, match="Did you mean 'region'"):
        count(records(5), ("regoin",))
    with pytest.raises(DataError, match="a dataframe of pandas, polars, arrow or DuckDB is needed"):
        count([1, 2], ("x",))
