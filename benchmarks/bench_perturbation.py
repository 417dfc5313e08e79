# SPDX-License-Identifier: Apache-2.0
"""Perturbation: noise, PRAM, rank swapping and shuffling against one stable sort; synthesis and record swapping."""

from typing import Any

import numpy as np
import polars as pl

from benchmarks.harness import Entry
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.rank_swap import RankSwap
from reticent.microdata.mask.record_swap import RecordSwap
from reticent.microdata.mask.shuffle import Shuffle
from reticent.microdata.mask.synthesize import Synthesize

SIZES = (100_000, 1_000_000, 10_000_000)
SORT = "numpy.argsort(kind='stable') of the column"


def _columns(n: int) -> Microdata:
    """An income, a related number, and a region of 20 codes."""
    rng = np.random.default_rng(1)
    score = rng.standard_normal(n)
    region = rng.choice(20, n, p=np.arange(1, 21) / 210).astype(np.int16)
    frame = pl.DataFrame({"income": np.exp(score), "age": 0.5 * score + rng.standard_normal(n), "region": region})
    schema = Schema(
        (
            Variable("income", kind=Kind.NUMERIC),
            Variable("age", kind=Kind.NUMERIC),
            Variable("region", kind=Kind.NOMINAL),
        )
    )
    return Microdata.of(frame, schema)


def _persons(n: int) -> Microdata:
    """Households of one to five persons in 8 counties of 12 towns."""
    rng = np.random.default_rng(2)
    size = rng.integers(1, 6, n)
    household = np.repeat(np.arange(n), size)[:n]
    size = np.bincount(household)
    town = rng.integers(0, 96, len(size))
    frame = pl.DataFrame(
        {
            "hh": household,
            "county": (town // 12)[household].astype(np.int16),
            "town": town[household].astype(np.int16),
            "size": size[household].astype(np.int16),
            "age": rng.integers(0, 18, n).astype(np.int16),
            "nation": np.minimum(rng.geometric(0.3, n), 30).astype(np.int16),
        }
    )
    roles = {"hh": Role.HOUSEHOLD_ID}
    return Microdata.of(
        frame, Schema(tuple(Variable(name, role=roles.get(name, Role.OTHER)) for name in frame.columns))
    )


def _survey(n: int) -> Microdata:
    """Fifteen variables, ten categorical and five numeric, each depending on the one before."""
    rng = np.random.default_rng(3)
    columns: dict[str, Any] = {}
    latent = rng.standard_normal(n)
    for j in range(10):
        latent = 0.6 * latent + 0.8 * rng.standard_normal(n)
        columns[f"c{j}"] = np.digitize(latent, np.linspace(-2, 2, 2 + j)).astype(np.int16)
    for j in range(5):
        latent = 0.6 * latent + 0.8 * rng.standard_normal(n)
        columns[f"x{j}"] = np.exp(latent)
    kinds = {name: Kind.NUMERIC if name.startswith("x") else Kind.NOMINAL for name in columns}
    schema = Schema(tuple(Variable(name, kind=kind) for name, kind in kinds.items()))
    return Microdata.of(pl.DataFrame(columns), schema)


def _apply(method: Any) -> Any:
    return lambda data: method.apply(data, secret=as_secret(1), progress=silent)


def _sort(data: Microdata) -> Any:
    return np.argsort(data.numbers(("income",))[:, 0], kind="stable")


def _against_sort(name: str, method: Any) -> Entry:
    return Entry(name, SIZES, _columns, _apply(method), _sort, SORT, repeat=2, notes="must be above 0.25×")


def entries() -> list[Entry]:
    """All comparisons of this area."""
    return [
        _against_sort("noise, linear", Noise(("income",))),
        _against_sort("PRAM, invariant, controlled", Pram(("region",))),
        _against_sort("rank swapping, 5 %", RankSwap(("income",))),
        _against_sort("shuffling, one predictor", Shuffle(("income",), predictors=("age",))),
        Entry(
            "record swapping of households",
            (100_000, 1_000_000),
            _persons,
            _apply(RecordSwap(("county", "town"), (("size",),), keys=("age", "nation"), k=3, rate=5.0)),
            size_unit="persons",
            repeat=2,
            quality=lambda data, applied: (
                f"{applied.facts['swapped']} households, {len(applied.facts['unmatched'])} unmatched"
            ),
        ),
        Entry(
            "tree synthesis of 15 variables",
            (10_000, 100_000),
            _survey,
            _apply(Synthesize(tuple(f"c{j}" for j in range(10)) + tuple(f"x{j}" for j in range(5)))),
            repeat=1,
        ),
    ]
