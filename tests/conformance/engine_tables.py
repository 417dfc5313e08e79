"""Generated business records for the batteries over engines: respondents in several cells, missing codes, Unicode, ties."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from conformance.engine_data import write_parts
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tabulation.large import tabulate_large
from reticent.tabulation.tabulate import tabulate

BUSINESS = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("firm", role=Role.ENTITY),
        Variable("region", missing=("?",)),
        Variable("branch", digits=(1, 1)),
        Variable("size", kind=Kind.NUMERIC),
        Variable("turnover", role=Role.SENSITIVE, kind=Kind.NUMERIC, decimals=2, missing=("-1",)),
        Variable("staff", kind=Kind.NUMERIC),
        Variable("asks"),
        Variable("agrees"),
        Variable("weight", role=Role.WEIGHT, kind=Kind.NUMERIC, decimals=1),
    )
)


def without_firms() -> Schema:
    """The schema where each record is a respondent of its own."""
    return BUSINESS.change("firm", role=Role.OTHER)


def business(n: int = 2500, seed: int = 11) -> pl.DataFrame:
    """Local units of firms in the order of their ids; some firms are in several cells, some units have none."""
    draw = np.random.default_rng(seed)
    firm = draw.integers(0, n // 2, n)
    home = draw.choice(["Åland", "北京", "o'Hara", "?", None], n // 2, p=[0.3, 0.3, 0.3, 0.05, 0.05])
    branch = draw.choice(["A1", "A2", "B1", "B2", "C1"], n // 2)
    moved = draw.random(n) < 0.2
    turnover = np.round(np.exp(draw.normal(6, 1.5, n)), 2)
    turnover[draw.random(n) < 0.05] = -1
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "firm": pl.Series([f"F{number:05d}" for number in firm]).set(pl.Series(draw.random(n) < 0.02), None),
            "region": [("Åland" if away else home[f]) for f, away in zip(firm, moved, strict=True)],
            "branch": [branch[f] for f in firm],
            "size": pl.Series(draw.integers(0, 4, n)).cast(pl.Int8),
            "turnover": turnover,
            "staff": draw.integers(0, 60, n).astype(float),
            "asks": [["0", "1", "2"][f % 7 % 3] if f % 11 == 0 else "0" for f in firm],
            "agrees": [("1" if f % 13 == 0 else "0") for f in firm],
            "weight": (10 + firm % 40) / 10,
        }
    )


ASKED: dict[str, dict[str, Any]] = {
    "counts": {},
    "weighted counts": {"weighted": True},
    "sums": {"response": "turnover"},
    "shadow and cost": {"response": "turnover", "shadow": "staff", "cost": "staff", "top": 3},
    "weighted sums": {"response": "turnover", "weighted": True},
    "requests and waivers": {"response": "turnover", "request": "asks", "waiver": "agrees"},
    "counts with requests": {"request": "asks", "waiver": "agrees"},
    "by record": {"response": "turnover", "by_record": True},
}
"""What tables of the battery ask for."""


def spec_of(**options: Any) -> TableSpec:
    """A table of three dimensions."""
    return TableSpec(tuple(DimensionSpec(name) for name in ("region", "branch", "size")), **options)


def shuffled_parts(folder: Path, table: pl.DataFrame | None = None) -> str:
    """The records in parts and in another order."""
    own = business() if table is None else table
    return write_parts(own.sample(fraction=1, shuffle=True, seed=3), folder)


def compare_tables(folder: Path, asked: Mapping[str, Any], schema: Schema, native: Any, **engine: Any) -> None:
    """Make one table in memory and in an engine; both are the same to the last bit."""
    spec = spec_of(**asked)
    true = tabulate(Microdata.of(native, schema), spec)
    with rt.load(shuffled_parts(folder), schema=schema, **engine) as large:
        found = tabulate_large(large.file, spec)
    for one, other in zip(true.dimensions, found.dimensions, strict=True):
        assert (one.codes, one.missing, one.from_records) == (other.codes, other.missing, other.from_records)
    for name in [field.name for field in fields(true) if field.name not in ("dimensions", "contributions")]:
        require_same(getattr(true, name), getattr(found, name), name)
    if schema.entity is None:  # ids are places here, so even the names of respondents are the same
        for name, measure in true.respondents.measures.items():
            np.testing.assert_array_equal(measure.top_units, found.respondents.measures[name].top_units, name)


def require_same(one: Any, other: Any, path: str) -> None:
    """Equal, array by array; respondents have numbers of their own in an engine, and equal contributions no order."""
    if path.endswith(("top_units", " records.top_weights")):
        return
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, path
        np.testing.assert_array_equal(one, other, err_msg=path)
    elif is_dataclass(one):
        for field in fields(one):
            require_same(getattr(one, field.name), getattr(other, field.name), f"{path}.{field.name}")
    elif isinstance(one, Mapping):
        assert one.keys() == other.keys(), path
        for key in one:
            require_same(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, tuple):
        assert len(one) == len(other), path
        for at, pair in enumerate(zip(one, other, strict=True)):
            require_same(*pair, f"{path}[{at}]")
    else:
        assert one == other, path
